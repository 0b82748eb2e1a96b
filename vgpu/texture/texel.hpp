// SPDX-License-Identifier: Apache-2.0
// Texels as they are in memory, and as kernels receive them.
#pragma once
#include <cstdint>

#include "texture/fetch.hpp"

namespace vgpu {

float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);

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

}  // namespace vgpu
