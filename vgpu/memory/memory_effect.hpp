// SPDX-License-Identifier: Apache-2.0
// What a launch did to device memory: the contents of each touched piece before and after it. If
// memory has the earlier contents again, the same launch would have the same effect, and copying
// the later contents replaces it.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "memory/touched_memory.hpp"

namespace vgpu {

class MemoryEffect {
 public:
  // Call after the launch, which began at `begin` (Changes::now). None if something else has
  // changed the memory meanwhile, or if the effect takes more than `most` bytes.
  static std::optional<MemoryEffect> of(TouchedMemory& touched, Memory& memory, Changes& changes,
                                        std::uint64_t begin, std::size_t most);

  // If memory has the contents from before the launch, stores those from after it and returns true;
  // the caller then adds sums(). Otherwise changes nothing and returns false.
  bool repeat(Memory& memory, Changes& changes);
  const Sums& sums() const { return sums_; }
  std::size_t bytes() const;  // host memory of this object

 private:
  struct Piece : MemoryPiece {
    std::uint64_t after = 0;
    std::size_t image = 0;  // where images_ has its contents and marks, if they were changed
  };
  bool holds(const Piece& piece, const Changes& changes, const Shadow* shadow) const;

  std::vector<Allocation> allocations_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> images_;
  Sums sums_;
  std::vector<MemoryPiece> summed_;  // pages with sums; `before` is the hash of their marks
  std::uint64_t moment_ = 0;         // when all pieces held what they held after the launch
  std::size_t suspect_ = 0;          // the piece that differed last: compared first
};

}  // namespace vgpu
