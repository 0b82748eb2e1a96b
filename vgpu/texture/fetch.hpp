// SPDX-License-Identifier: Apache-2.0
// What one thread's fetch from a texture returns, and which texels it reads.
#pragma once
#include <array>
#include <cstdint>

#include "ir/texture.hpp"
#include "texture/texture.hpp"

namespace vgpu {

struct Coordinates {
  std::array<float, 3> at{};
  std::uint32_t layer = 0;
  ir::Lod lod = ir::Lod::kBase;
  float level = 0;
  std::array<float, 3> dx{}, dy{};  // Lod::kGradient
};

// The addresses that a fetch read, for the checks of memory: each of Image::format's size.
struct Taps {
  static constexpr std::size_t kMost = 16;
  std::array<std::uint64_t, kMost> addresses;
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  // of a texel
  void add(std::uint64_t address) {
    if (count < kMost) addresses[count++] = address;
  }
};

// Four channels: the bits of single-precision numbers, or integers. Missing channels are 0.
using Texel = std::array<std::uint32_t, 4>;

Texel fetch(const Texture& texture, ir::TextureShape shape, const Coordinates& at, Taps& taps);

// By indices, without filter: of level 0 or the given one.
struct Indices {
  std::array<std::int32_t, 3> at{};
  std::uint32_t layer = 0;
  std::int32_t level = 0;
};
Texel fetch(const Texture& texture, ir::TextureShape shape, const Indices& at, Taps& taps);

// One channel of the four texels that a linear filter would take, in the order of tld4: (0, 1),
// (1, 1), (1, 0), (0, 0) by x and y.
Texel gather(const Texture& texture, ir::TextureShape shape, const Coordinates& at,
             std::uint32_t component, Taps& taps);

}  // namespace vgpu
