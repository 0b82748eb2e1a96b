// SPDX-License-Identifier: Apache-2.0
// What a copy by tensor map moves: the box at given coordinates, line by line, between a tensor in
// device memory and its place in shared memory. PTX ISA, "Tensors: Tiled mode, Swizzling modes".
#pragma once
#include <cstring>

#include "engine/tensor/tensor_map.hpp"

namespace vgpu {

// A line of the box: elements that are neighbours.
struct BoxLine {
  std::uint64_t global = 0;   // address of its first byte that lies inside the tensor
  std::uint32_t shared = 0;   // offset of its first byte from the box's
  std::uint32_t bytes = 0;    // whole
  std::uint32_t skipped = 0;  // at its beginning, outside the tensor
  std::uint32_t inside = 0;   // behind those; what follows is outside again
};

// Calls f(BoxLine) for every line of the box at `at`, those that lie outside included. `stores`: a
// store cuts lines at the end of the tensor's line only where 16 bytes end, as seen on an H200.
template <class F>
void for_each_line(const TensorMap& map, const std::int32_t* at, bool stores, F f) {
  const std::uint64_t element = map.strides[0];
  const std::uint32_t pitch = map.line_pitch();
  BoxLine line;
  line.bytes = static_cast<std::uint32_t>(map.count(0) * element);
  const std::int64_t first = at[0], end = first + map.count(0);
  const std::int64_t inside_first = first < 0 ? 0 : first;
  const std::int64_t size = static_cast<std::int64_t>(map.sizes[0]);
  const std::int64_t inside_end = end < size ? end : size;
  std::uint32_t skipped = 0, inside = 0;
  if (inside_first < inside_end) {
    skipped =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(inside_first - first) * element);
    inside =
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(inside_end - inside_first) * element);
  }
  std::uint32_t index[TensorMap::kMostRank] = {};
  for (;;) {
    std::uint64_t address = map.address + static_cast<std::uint64_t>(inside_first) * element;
    bool is_inside = inside != 0;
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      const std::int64_t coordinate = at[d] + static_cast<std::int64_t>(index[d]) * map.steps[d];
      is_inside &= coordinate >= 0 && coordinate < static_cast<std::int64_t>(map.sizes[d]);
      address += static_cast<std::uint64_t>(coordinate) * map.strides[d];
    }
    line.global = address;
    line.skipped = is_inside ? skipped : line.bytes;
    line.inside = is_inside ? inside : 0;
    if (stores && is_inside) {
      constexpr std::uint64_t kGrain = 16;
      const std::uint64_t to = (address + inside + kGrain - 1) / kGrain * kGrain - address;
      const std::uint64_t most = line.bytes - skipped;
      line.inside = static_cast<std::uint32_t>(to < most ? to : most);
    }
    f(line);
    line.shared += pitch;
    std::uint32_t d = 1;
    while (d < map.rank && ++index[d] == map.count(d)) index[d++] = 0;
    if (d >= map.rank) return;
  }
}

// Where 16 bytes that would lie at a shared address lie in a swizzle: their number among the chunks
// of their span is XORed with that of the 128-byte line, modulo the chunks of a span.
std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t address);

// The bytes of one line, to or from shared memory at `shared + address + line.shared`.
void put_line(const TensorMap& map, const BoxLine& line, const std::byte* from, std::byte* shared,
              std::uint32_t address);
void get_line(const TensorMap& map, const BoxLine& line, std::byte* to, const std::byte* shared,
              std::uint32_t address);

// What loads change of elements inside the tensor: .tf32 ones are rounded to the nearest, ties to
// even (seen on an H200).
void convert_inside(const TensorMap& map, const BoxLine& line, std::byte* bytes);

// Elements outside the tensor, as loads write them.
void fill_outside(const TensorMap& map, const BoxLine& line, std::byte* bytes);

// The longest line that a box can have.
inline constexpr std::uint32_t kMostLineBytes = 256 * 8;

}  // namespace vgpu
