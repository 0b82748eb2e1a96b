// SPDX-License-Identifier: Apache-2.0
#include "redirect/patch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace vgpu {
namespace {

using Address = std::uintptr_t;

constexpr std::array<unsigned char, 4> kEndbr64 = {0xF3, 0x0F, 0x1E, 0xFA};
constexpr std::size_t kJump = 5;         // jmp, relative, 32 bits
constexpr std::size_t kTrampoline = 16;  // mov $index, %r11d; jmp *enter(%rip)
constexpr Address kReach = INT32_MAX;
// Trampolines are looked for in steps, down from the file and then up.
constexpr Address kStep = Address{1} << 16, kLowest = Address{1} << 16;

Address page_size() { return static_cast<Address>(::sysconf(_SC_PAGESIZE)); }

// What memory for trampolines begins with.
struct Room {
  void (*enter)();
  std::size_t bytes;  // of all of it
};

// endbr64 must stay where a function begins with it: an indirect call may have to land there.
Address jump_place(const EntryPoint& entry, Address base) {
  const bool marked = std::equal(kEndbr64.begin(), kEndbr64.end(), entry.head.begin());
  return base + entry.address + (marked ? kEndbr64.size() : 0);
}

// The functions that can be redirected, or why not all can.
std::vector<EntryPoint> choose(const CudaFile& file, Address base, std::string& error) {
  std::vector<EntryPoint> chosen;
  const EntryPoint* former = nullptr;
  for (const EntryPoint& entry : file.entry_points) {
    const std::string_view name = runtime_names()[entry.name].name;
    const Address end = base + entry.address + entry.size;
    if (former != nullptr && former->name == entry.name && former->address == entry.address)
      continue;
    if (former != nullptr && entry.address < former->address + former->size) {
      error = std::string(name) + " shares its code with " + runtime_names()[former->name].name;
    } else if (std::memcmp(reinterpret_cast<const void*>(base + entry.address), entry.head.data(),
                           std::min<std::size_t>(entry.size, entry.head.size())) != 0) {
      error = std::string(name) + " is not loaded as the file has it";
    } else if (jump_place(entry, base) + kJump <= end) {
      chosen.push_back(entry);
    } else if (!name.starts_with("__")) {  // others are not called by programs
      error = std::string(name) + " is shorter than a jump";
    }
    former = &entry;
  }
  return chosen;
}

void* map_at(Address place, std::size_t bytes) {
  void* const hint = reinterpret_cast<void*>(place);
  void* const room = ::mmap(hint, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (room == MAP_FAILED || room == hint) return room;
  ::munmap(room, bytes);  // a kernel that does not know MAP_FIXED_NOREPLACE
  return MAP_FAILED;
}

// Memory that a jump from anywhere in [begin, end) reaches; null if there is none.
void* map_near(Address begin, Address end, std::size_t bytes) {
  const Address page = page_size();
  const Address size = (bytes + page - 1) / page * page;
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  for (Address place = begin - size; place > kLowest && end - place < kReach; place -= kStep) {
    if (void* const room = map_at(place, bytes); room != MAP_FAILED) return room;
  }
  for (Address place = end; place + size - begin < kReach; place += kStep) {
    if (void* const room = map_at(place, bytes); room != MAP_FAILED) return room;
  }
  return nullptr;
}

// Changes the protection of the pages of a code segment.
bool protect(const CodeSegment& code, Address base, int protection) {
  const Address first = (base + code.address) & ~(page_size() - 1);
  return ::mprotect(reinterpret_cast<void*>(first), base + code.address + code.size - first,
                    protection) == 0;
}

void write_jump(Address from, Address to) {
  auto* const code = reinterpret_cast<unsigned char*>(from);
  const auto distance = static_cast<std::int32_t>(to - (from + kJump));
  code[0] = 0xE9;
  std::memcpy(code + 1, &distance, sizeof distance);
}

// `enter_at` holds the address of `enter`.
void write_trampoline(Address at, std::uint32_t index, Address enter_at) {
  auto* const code = reinterpret_cast<unsigned char*>(at);
  const auto distance = static_cast<std::int32_t>(enter_at - (at + 12));
  code[0] = 0x41, code[1] = 0xBB;  // mov $index, %r11d
  std::memcpy(code + 2, &index, sizeof index);
  code[6] = 0xFF, code[7] = 0x25;  // jmp *distance(%rip)
  std::memcpy(code + 8, &distance, sizeof distance);
}

}  // namespace

Redirection redirect(const CudaFile& file, std::uintptr_t base, void (*enter)()) {
  Redirection made;
  const std::vector<EntryPoint> entries = choose(file, base, made.error);
  if (!made.error.empty() || entries.empty()) return made;
  const auto failed = [&](const char* what) {
    made.error = std::string(what) + ": " + std::strerror(errno);
    return made;
  };
  const Room room{enter, kTrampoline * entries.size() + sizeof(Room)};
  void* const place = map_near(base + file.code.front().address,
                               base + file.code.back().address + file.code.back().size, room.bytes);
  if (place == nullptr) return failed("no memory within 2 GB of its code");
  std::memcpy(place, &room, sizeof room);
  const auto first = reinterpret_cast<Address>(place);
  const auto trampoline = [&](std::size_t i) { return first + sizeof room + kTrampoline * i; };
  for (std::size_t i = 0; i < entries.size(); ++i)
    write_trampoline(trampoline(i), entries[i].name, first);
  if (::mprotect(place, room.bytes, PROT_READ | PROT_EXEC) != 0)
    return failed("memory cannot be made executable");
  for (const CodeSegment& code : file.code) {
    if (!protect(code, base, PROT_READ | PROT_WRITE)) return failed("its code cannot be written");
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    write_jump(jump_place(entries[i], base), trampoline(i));
  for (const CodeSegment& code : file.code) {
    if (!protect(code, base, PROT_READ | PROT_EXEC | (code.writable ? PROT_WRITE : 0)))
      return failed("its code cannot be made executable again");
  }
  made.count = entries.size();
  made.trampolines = place;
  return made;
}

void release(void* trampolines) {
  if (trampolines != nullptr) ::munmap(trampolines, static_cast<Room*>(trampolines)->bytes);
}

}  // namespace vgpu
