// SPDX-License-Identifier: Apache-2.0
// Device memory: host memory with a map of its allocations. A device pointer is a host pointer, so that the
// runtime's copies are memmove; kernels go through `find`, which knows bounds and freed blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace vgpu {

struct Allocation {
  std::uint64_t begin = 0, end = 0;   // bytes; end is one past the last byte asked for (no padding counted)
  std::string name;                   // of a module variable; "" for cudaMalloc
  bool freed = false;
};

// Thread-safe: kernels look up from several host threads; allocation never happens during a launch.
class Memory {
 public:
  // `capacity` bytes of device memory may be allocated at once (the virtual device's size).
  explicit Memory(std::size_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // 512-byte aligned, filled with 0xCD, red zones between neighbours (at least 512 bytes). Null if it does not
  // fit. A freed block is kept back (quarantine, a bounded number of bytes) so that a use after free is found.
  void* allocate(std::size_t bytes, std::string name = "");
  bool free(void* pointer);                    // false: not the start of a live allocation
  bool contains(const void* pointer, std::size_t bytes) const;  // wholly inside one live allocation
  const Allocation* find(std::uint64_t address) const;  // live or freed, the one that covers it; null if none
  std::string describe(std::uint64_t address) const;    // "4 bytes past the end of the 1024-byte allocation at 0x..."
  std::size_t allocated_bytes() const;
  std::size_t capacity() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace vgpu
