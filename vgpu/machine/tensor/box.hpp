// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map: the box (in im2col mode the column of pixels) at given coordinates, line by
// line, between a tensor in device memory and shared memory. PTX ISA, "Tensors: Tiled mode, Im2col
// mode, Swizzling modes".
#pragma once
#include <array>
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

// Where a copy begins, and what im2col mode adds to the coordinates of each of its pixels.
struct BoxPlace {
  std::array<std::int32_t, TensorMap::kMostRank> at{};
  std::array<std::int32_t, TensorMap::kMostImageRank> offsets{};
};

// The rule that a copy at this place breaks, which hardware reports as an illegal instruction (an
// H100's rules); "" if none.
std::string broken_place(const TensorMap& map, const BoxPlace& place, bool stores);

// The coordinates of the box's lines, one after another; [0] is not used.
class BoxLines {
 public:
  BoxLines(const TensorMap& map, const BoxPlace& place) : map_(map), place_(place) {
    for (std::uint32_t d = 1; d < map.rank; ++d) position_[d] = place.at[d];
  }
  std::int64_t coordinate(std::uint32_t d) const {
    return position_[d] + (map_.im2col && d + 1 < map_.rank ? place_.offsets[d - 1] : 0);
  }
  bool next() { return map_.im2col ? next_pixel() : next_in_box(); }

 private:
  bool next_in_box() {
    for (std::uint32_t d = 1; d < map_.rank; ++d) {
      position_[d] += map_.steps[d];
      if (++passed_[d] < map_.count(d)) return true;
      position_[d] = place_.at[d];
      passed_[d] = 0;
    }
    return false;
  }
  // From image to image, each within its corners.
  bool next_pixel() {
    if (++passed_[1] == map_.count(1)) return false;
    const std::uint32_t images = map_.rank - 1;
    for (std::uint32_t d = 1; d < images; ++d) {
      position_[d] += map_.steps[d];
      if (position_[d] < static_cast<std::int64_t>(map_.sizes[d]) + map_.upper[d - 1]) return true;
      position_[d] = map_.lower[d - 1];
    }
    position_[images] += map_.steps[images];
    return true;
  }

  const TensorMap& map_;
  const BoxPlace& place_;
  std::array<std::int64_t, TensorMap::kMostRank> position_{};
  std::array<std::uint32_t, TensorMap::kMostRank> passed_{};
};

// Calls f(BoxLine) for every line of the box at `place`, including lines outside the tensor.
// `stores`: a store clips a line at the end of the tensor's line only at a 16-byte boundary
// (measured on an H200).
template <class F>
void for_each_line(const TensorMap& map, const BoxPlace& place, bool stores, F f) {
  const std::uint64_t element = map.strides[0];
  const std::uint32_t pitch = map.line_pitch();
  BoxLine line;
  line.bytes = static_cast<std::uint32_t>(map.count(0) * element);
  const std::int64_t first = place.at[0], end = first + map.count(0);
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
  BoxLines lines(map, place);
  do {
    std::uint64_t address = map.address + static_cast<std::uint64_t>(inside_first) * element;
    bool is_inside = inside != 0;
    for (std::uint32_t d = 1; d < map.rank; ++d) {
      const std::int64_t coordinate = lines.coordinate(d);
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
  } while (lines.next());
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
