// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace vgpu::blas {

// Converts fp16 as __half2float does.
void to_floats(const std::uint16_t* halves, std::int64_t count, float* to);

}  // namespace vgpu::blas
