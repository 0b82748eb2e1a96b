// SPDX-License-Identifier: Apache-2.0
// What device memory holds at one moment, to go back to it and to see what has changed since.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/memory/memory.hpp"

namespace vgpu {

class MemoryImage {
 public:
  // Of the map's live allocations. Pieces that are all zero take no memory.
  explicit MemoryImage(const AllocationMap& map);
  // Touches only what is different. The allocations must still be there.
  void restore() const;
  // The bytes that are different now, in order of address.
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
