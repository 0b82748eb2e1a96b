// SPDX-License-Identifier: Apache-2.0
// From coordinates to texels: along one dimension, on the faces of a cube, and among the levels of
// detail. CUDA C++ Programming Guide, "Texture Fetching":
// linear filtering takes the texels i and i + 1 with i + a = x - 0.5, where a has 8 bits of
// fraction.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "texture/fetch.hpp"

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

// The face that a direction points at and the normalised coordinates on it (CUDA C++ Programming
// Guide, "Cubemap Textures"). The largest component of the direction is 1 or -1.
struct CubePoint {
  std::uint32_t face = 0;
  double s = 0, t = 0;
};
CubePoint cube_point(const std::array<float, 3>& direction);

// A texel of a face, whose indices may be one beyond an edge: the one of the face across it. There
// is none beyond a corner. `size`: texels along an edge.
struct CubeTexel {
  std::uint32_t face = 0;
  std::int64_t x = 0, y = 0;
};
std::optional<CubeTexel> across_edge(const CubeTexel& texel, std::uint32_t size);

// The level that a fetch asks for, by its number or by derivatives, with the sampler's bias and
// bounds.
float level_of(const Texture& texture, const Coordinates& at);

}  // namespace vgpu
