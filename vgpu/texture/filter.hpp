// SPDX-License-Identifier: Apache-2.0
// From coordinates to texels: along one dimension, on the faces of a cube, and among the levels of
// detail. CUDA C++ Programming Guide, "Texture Fetching":
// linear filtering takes the texels i and i + 1 with i + a = x - 0.5, where a has 8 bits of
// fraction.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "texture/fetch.hpp"
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

// The arithmetic of linear filters, as an H100 has it: tests/vgpu/programs/texture_rules.cu shows
// it weight by weight and sum by sum.

// The part of a weight that a fraction of it has, both in 256ths. The rest is the other part.
std::int64_t part(std::int64_t weight, std::int64_t fraction);
// The weights of four texels that share `weight`, from those of the second texels along x and y.
// Bits 0 and 1 of a corner's number select the second texel along x and y.
std::array<std::int64_t, 4> corner_weights(std::int64_t weight, std::int64_t x, std::int64_t y);

// The weighted sum of one channel of the texels that a fetch takes.
class Blend {
 public:
  // `srgb`: a channel whose integers are decoded as sRGB.
  Blend(const TexelFormat& format, bool srgb) : format_(format), srgb_(srgb) {}
  // Adds a texel. `bits`: a single-precision number, to which half-precision texels and fractions
  // have been widened. The unit takes four texels at a time: those of one `quad`.
  void add(std::uint32_t bits, std::int64_t weight, std::size_t quad);
  std::uint32_t result() const;

 private:
  struct Term {
    double value;
    std::int64_t weight;
    std::size_t quad;
  };
  std::span<const Term> terms() const { return {terms_.data(), count_}; }
  std::uint32_t fraction() const;
  std::uint32_t floating() const;

  static constexpr std::size_t kQuads = 4;

  double largest_texel() const;

  TexelFormat format_;
  bool srgb_;
  std::array<Term, 4 * kQuads> terms_;  // the first count_
  std::size_t count_ = 0;
};

}  // namespace vgpu
