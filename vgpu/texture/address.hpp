// SPDX-License-Identifier: Apache-2.0
// From coordinates to texels, along one dimension. CUDA C++ Programming Guide, "Texture Fetching":
// linear filtering takes the texels i and i + 1 with i + a = x - 0.5, where a has 8 bits of
// fraction.
#pragma once
#include <cstdint>

#include "texture/texture.hpp"

namespace vgpu {

inline constexpr std::int64_t kFractions = 256;  // positions within a texel

// The texel that contains a coordinate, or the two that a filter takes and the weight of the second
// one in 256ths. An index of kOutside is the border.
struct Taken {
  static constexpr std::int64_t kOutside = -1;
  std::int64_t first = 0, second = 0;
  std::int64_t weight = 0;
};

// `size`: texels along this dimension.
Taken nearest(double coordinate, std::uint32_t size, AddressMode mode, bool normalized);
Taken neighbours(double coordinate, std::uint32_t size, AddressMode mode, bool normalized);
// The same without an address mode: the texels may be outside.
Taken neighbours(double coordinate, std::uint32_t size, bool normalized);

// The texel that an address mode puts in the place of any index.
std::int64_t resolve(std::int64_t index, std::uint32_t size, AddressMode mode);

// Layers are clamped as unsigned numbers.
std::uint32_t layer_of(std::uint32_t layer, std::uint32_t layers);

}  // namespace vgpu
