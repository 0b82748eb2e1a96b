// SPDX-License-Identifier: Apache-2.0
#include "runtime/allocations.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace vgpu::runtime {
namespace {

// MADV_POPULATE_READ and MADV_POPULATE_WRITE, since Linux 5.14. Older headers lack the names, and
// older kernels refuse the calls.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

// Checks the range with the kernel's list of mappings. True if there is no such list.
bool mapped(std::uintptr_t begin, std::uintptr_t end, bool writing) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (maps == nullptr) return true;
  char line[512];
  bool whole = true;  // the previous fgets read a complete line
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    const bool first_part = whole;
    whole = std::strchr(line, '\n') != nullptr;
    if (!first_part) continue;
    std::uintptr_t low = 0, high = 0;  // "7f00-7f80 rw-p ..."
    const char* const line_end = line + std::strlen(line);
    const char* at = std::from_chars(line, line_end, low, 16).ptr;
    if (*at++ != '-') continue;
    at = std::from_chars(at, line_end, high, 16).ptr;
    if (line_end - at < 3) continue;
    const char* const rights = at + 1;
    if (high <= begin) continue;
    if (low > begin || rights[0] != 'r' || (writing && rights[1] != 'w')) return false;
    if (high >= end) return true;
    begin = high;
  }
  return false;
}

// Populates the pages, as the access itself would.
bool can_use(const void* pointer, std::size_t bytes, bool writing) {
  if (bytes == 0) return true;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t begin = address / page * page;
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(address, bytes, &end) || end > UINTPTR_MAX - page) return false;
  end = (end + page - 1) / page * page;
  void* const first = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
  if (::madvise(first, end - begin, writing ? kPopulateWrite : kPopulateRead) == 0) return true;
  return mapped(begin, end, writing);
}

}  // namespace

bool can_read(const void* pointer, std::size_t bytes) { return can_use(pointer, bytes, false); }
bool can_write(void* pointer, std::size_t bytes) { return can_use(pointer, bytes, true); }

}  // namespace vgpu::runtime
