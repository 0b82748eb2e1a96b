// SPDX-License-Identifier: Apache-2.0
// Texels as they are in memory, and as kernels receive them.
#pragma once
#include <array>
#include <cstdint>

#include "texture/fetch.hpp"

namespace vgpu {

float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);

// Whether texels of the texture are numbers that can be filtered, not integers.
bool is_floating(const Texture& texture);

// The value of the texel at `address` before any filter.
Texel texel_at(const Texture& texture, std::uint64_t address);
// What fetches beside a texture with border receive.
Texel border_of(const Texture& texture);

}  // namespace vgpu
