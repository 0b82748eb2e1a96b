// SPDX-License-Identifier: Apache-2.0
// The arithmetic of linear filters, as an H100 has it: tests/vgpu/programs/texture_rules.cu shows
// it weight by weight and sum by sum.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "texture/address.hpp"
#include "texture/texture.hpp"

namespace vgpu {

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
