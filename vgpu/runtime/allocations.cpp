// SPDX-License-Identifier: Apache-2.0
#include "runtime/allocations.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/kernel.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

const char* kind(Origin origin) {
  switch (origin) {
    case Origin::kDevice: return "device";
    case Origin::kManaged: return "managed";
    case Origin::kPinnedHost: return "pinned host";
    case Origin::kRegisteredHost: return "registered host";
    case Origin::kMapped: return "mapped device";
  }
  return "";
}

// Describes a code address with what the dynamic linker knows: "main+0x1a4 in ./program".
std::string place(const void* code) {
  Dl_info info{};
  if (code == nullptr || ::dladdr(code, &info) == 0) return "an unknown place";
  const auto distance = [&](const void* from) {
    return reinterpret_cast<std::uintptr_t>(code) - reinterpret_cast<std::uintptr_t>(from);
  };
  return info.dli_sname != nullptr
             ? fmt::format("{}+{:#x} in {}", demangle(info.dli_sname), distance(info.dli_saddr),
                           info.dli_fname)
             : fmt::format("{}+{:#x}", info.dli_fname, distance(info.dli_fbase));
}

std::string heap_leaks(const Runtime& runtime) {
  return fmt::format(
      "leak: {} bytes in {} blocks of the device's heap, from malloc in kernels, were never freed",
      runtime.heap.live_bytes(), runtime.heap.live_blocks());
}

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

void allocate(Runtime& runtime, void** pointer, std::size_t bytes, Origin origin, unsigned flags,
              const void* caller) {
  if (pointer == nullptr) refuse();
  *pointer = nullptr;
  if (bytes == 0) return;
  if (origin != Origin::kPinnedHost) {
    const std::size_t used = runtime.pointers.bytes_on(Runtime::ordinal());
    if (bytes > runtime.device().memory_bytes - used) refuse(cudaErrorMemoryAllocation);
  }
  void* block = runtime.memory.allocate(bytes);
  if (block == nullptr && !runtime.queue.pending().empty()) {  // which may free memory
    await(runtime, all_tasks(runtime));
    block = runtime.memory.allocate(bytes);
  }
  if (block == nullptr) refuse(out_of_memory(runtime));
  // The host may write host-accessible memory at any time, and the runtime cannot detect it.
  if (origin != Origin::kDevice) runtime.memory.share(block);
  Block& added = runtime.pointers.add(block, bytes, origin, Runtime::ordinal(), flags);
  added.caller = caller;
  added.context = &owning_context(runtime);
  *pointer = block;
}

// Checks the call and forgets the block. Returns whether a graph allocated it.
static bool forget(Runtime& runtime, const char* function, void* pointer, bool host) {
  const Block* block = runtime.pointers.starting_at(pointer);
  if (block == nullptr || (block->origin == Origin::kPinnedHost) != host ||
      block->origin == Origin::kRegisteredHost || block->origin == Origin::kMapped ||
      runtime.interprocess.has_opened(pointer)) {
    if (!runtime.settings.checks.memory) refuse();
    const Failure failure{
        cudaErrorInvalidValue,
        fmt::format("{}: {} is not the start of a live allocation of this kind ({})", function,
                    fmt::ptr(pointer),
                    runtime.memory.describe(reinterpret_cast<std::uintptr_t>(pointer)))};
    report_check(runtime, {"invalid free", "", failure.message, "", 0});
    throw failure;
  }
  const bool of_graph = block->of_graph;
  runtime.pointers.remove(pointer);
  return of_graph;
}

static void give_back(Runtime& runtime, void* pointer, bool of_graph) {
  runtime.interprocess.forget(pointer);
  const bool freed = of_graph ? runtime.memory.suspend(pointer) : runtime.memory.free(pointer);
  if (!freed) refuse();
}

void release(Runtime& runtime, const char* function, void* pointer, bool host) {
  if (pointer == nullptr) return;
  give_back(runtime, pointer, forget(runtime, function, pointer, host));
}

void submit_release(Runtime& runtime, Stream& stream, const char* function, void* pointer) {
  if (pointer == nullptr) return;
  const bool of_graph = forget(runtime, function, pointer, false);
  run_in_order(
      runtime, stream, [] {},
      [&runtime, pointer, of_graph] { give_back(runtime, pointer, of_graph); });
}

std::string leaks(const Runtime& runtime) {
  constexpr std::size_t kShown = 20;
  std::vector<Block> left;
  std::size_t bytes = 0;
  for (const auto& [begin, block] : runtime.pointers.all()) {
    if (block.origin == Origin::kRegisteredHost || block.origin == Origin::kMapped) continue;
    left.push_back(block);
    bytes += block.bytes;
  }
  if (left.empty() && runtime.heap.live_blocks() == 0) return "";
  if (left.empty()) return heap_leaks(runtime);
  std::ranges::sort(left, {}, &Block::number);
  std::string report =
      fmt::format("leak: {} bytes in {} allocations were never freed", bytes, left.size());
  for (std::size_t i = 0; i < std::min(left.size(), kShown); ++i) {
    report += fmt::format("\n  {} bytes of {} memory at {:#x}, allocation {} of the program, by {}",
                          left[i].bytes, kind(left[i].origin), left[i].begin, left[i].number,
                          place(left[i].caller));
  }
  if (left.size() > kShown) report += fmt::format("\n  and {} more", left.size() - kShown);
  if (runtime.heap.live_blocks() != 0) report += "\n" + heap_leaks(runtime);
  return report;
}

bool can_read(const void* pointer, std::size_t bytes) { return can_use(pointer, bytes, false); }
bool can_write(void* pointer, std::size_t bytes) { return can_use(pointer, bytes, true); }

}  // namespace vgpu::runtime
