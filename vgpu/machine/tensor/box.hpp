// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map: the box at given coordinates, line by line, between a tensor in device
// memory and shared memory. PTX ISA, "Tensors: Tiled mode, Swizzling modes".
#pragma once
#include <cstring>

#include "machine/tensor/tensor_map.hpp"

namespace vgpu {

// A line of the box: contiguous elements along the innermost dimension.
struct BoxLine {
  std::uint64_t global = 0;   // address of its first byte inside the tensor
  std::uint32_t shared = 0;   // offset of its first byte from the box's start
  std::uint32_t bytes = 0;    // length of the whole line
  std::uint32_t skipped = 0;  // bytes at its beginning outside the tensor
  std::uint32_t inside = 0;   // bytes after these inside the tensor; the rest is outside
};

// Calls f(BoxLine) for every line of the box at coordinates `at`, including lines outside the
// tensor. `stores`: a store clips a line at the end of the tensor's line only at a 16-byte boundary
// (measured on an H200).
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

// The swizzled address of the 16-byte chunk at a shared address: the chunk's index within the
// swizzle span is XORed with the index of the 128-byte line, modulo the chunks per span.
std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t address);

// Copy the bytes of one line to or from shared memory at `shared + address + line.shared`.
void put_line(const TensorMap& map, const BoxLine& line, const std::byte* from, std::byte* shared,
              std::uint32_t address);
void get_line(const TensorMap& map, const BoxLine& line, std::byte* to, const std::byte* shared,
              std::uint32_t address);

// Conversion of elements inside the tensor by loads: .tf32 elements are rounded to nearest, ties to
// even (measured on an H200).
void convert_inside(const TensorMap& map, const BoxLine& line, std::byte* bytes);

// Writes the fill values for elements outside the tensor, as loads do.
void fill_outside(const TensorMap& map, const BoxLine& line, std::byte* bytes);

// The longest line that a box can have.
inline constexpr std::uint32_t kMostLineBytes = 256 * 8;

}  // namespace vgpu
