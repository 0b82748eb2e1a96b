// SPDX-License-Identifier: Apache-2.0
// Levels of detail.
#pragma once
#include "texture/fetch.hpp"

namespace vgpu {

// The level that a fetch asks for, by its number or by derivatives, with the sampler's bias and
// bounds.
float level_of(const Texture& texture, const Coordinates& at);

}  // namespace vgpu
