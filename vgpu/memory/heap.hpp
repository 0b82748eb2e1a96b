// SPDX-License-Identifier: Apache-2.0
// The heap of malloc and free in kernels. It uses a Memory of its own, so its blocks have red
// zones, are filled, and are quarantined when freed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "memory/memory.hpp"

namespace vgpu {

// Thread-safe. Blocks live until they are freed, over any number of launches.
class DeviceHeap {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{8} << 20;

  std::size_t bytes() const;
  // False if a kernel has used the heap already; nothing changes then.
  bool set_bytes(std::size_t bytes);

  // 0 if the heap is full, or for 0 bytes.
  std::uint64_t allocate(std::uint64_t bytes);
  bool free(std::uint64_t address);  // false: not the start of a live block

  // The block, live or freed, that contains the address; null if none. Valid until the next
  // allocate or free.
  const Allocation* find(std::uint64_t address) const;
  // As Memory::describe; none if the address is not near the heap's blocks.
  std::optional<std::string> describe(std::uint64_t address) const;
  std::size_t live_blocks() const;
  std::size_t live_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::size_t bytes_ = kDefaultBytes;
  std::size_t taken_ = 0;  // bytes of live blocks, with each block's overhead
  std::size_t live_ = 0;
  std::uint64_t lowest_ = ~std::uint64_t{0}, highest_ = 0;  // over all blocks ever allocated
  std::unique_ptr<Memory> memory_;                          // created on first use
};

}  // namespace vgpu
