// SPDX-License-Identifier: Apache-2.0
// A snapshot of device memory, to restore it and to find what has changed since.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/memory.hpp"

namespace vgpu {

class MemoryImage {
 public:
  // Takes a snapshot of the map's live allocations. Pieces that are all zero take no memory.
  explicit MemoryImage(const AllocationMap& map);
  // Writes only the bytes that differ. The allocations must still exist.
  void restore() const;
  // The ranges of bytes that differ now, in order of address.
  std::vector<Memory::Range> differences() const;

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> held;  // null: zeros
  };
  std::vector<Piece> pieces_;
};

}  // namespace vgpu
