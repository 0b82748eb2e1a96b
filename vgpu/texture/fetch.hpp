// SPDX-License-Identifier: Apache-2.0
// What one thread's fetch from a texture returns, and which texels it reads; the element of a
// surface that it accesses.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

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

// Texels as they are in memory, and as kernels receive them.

// The exponent with which a decoded sRGB number is filtered, as std::frexp has it. The decoder's
// table has one for each eight neighbours, that of their largest.
int srgb_exponent(double decoded);

// Whether texels of the texture are numbers that can be filtered, not integers.
bool is_floating(const Texture& texture);

// A signed integer as kernels receive it as a fraction: both of the two least integers are -1.
std::uint32_t at_least_minus_one(std::uint32_t bits);

// The value of the texel at `address` before any filter; the least signed integer is below -1.
Texel texel_at(const Texture& texture, std::uint64_t address);
// What fetches beside a texture with border receive.
Texel border_of(const Texture& texture);

struct SurfacePoint {
  std::array<std::int32_t, 3> at{};  // x in bytes, or in texels where `texels`
  std::uint32_t layer = 0;           // of a cube: its face
};

// The address of `bytes` bytes. Nothing if it is outside the surface and the bounds do not clamp.
std::optional<std::uint64_t> address_in(const Surface& surface, ir::TextureShape shape,
                                        const SurfacePoint& point, ir::SurfaceBounds bounds,
                                        std::uint32_t bytes, bool texels);

// The bits of a texel that holds these four channels, each clamped to its format's range, as
// sust.p stores it.
std::array<std::uint8_t, 16> formatted(const TexelFormat& format,
                                       const std::array<std::uint32_t, 4>& channels);

}  // namespace vgpu
