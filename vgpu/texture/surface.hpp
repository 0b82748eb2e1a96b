// SPDX-License-Identifier: Apache-2.0
// The element of a surface that one thread accesses.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "ir/texture.hpp"
#include "texture/texture.hpp"

namespace vgpu {

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
