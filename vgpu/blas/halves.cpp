// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "blas/value.hpp"

namespace vgpu::blas {

#if defined(__x86_64__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void to_floats(const std::uint16_t* halves, std::int64_t count, float* to) {
  constexpr std::uint32_t kInfinity = 0x7c00;
  constexpr float kScale = 0x1p112F;  // of the exponents' biases
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = halves[i] & 0x7fffu, sign = (halves[i] & 0x8000u) << 16;
    const auto finite =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * kScale);
    const std::uint32_t special = magnitude == kInfinity ? sign | 0x7f800000u : 0x7fffffffu;
    to[i] = std::bit_cast<float>(magnitude < kInfinity ? sign | finite : special);
  }
}

}  // namespace vgpu::blas
