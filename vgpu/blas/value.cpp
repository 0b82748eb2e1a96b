// SPDX-License-Identifier: Apache-2.0
#include "blas/value.hpp"

#include <array>

namespace vgpu::blas {
namespace {

template <class Bits, cudaDataType kType>
const float* numbers() {
  constexpr std::size_t kCount = std::size_t{1} << 8 * sizeof(Bits);
  static const auto all = [] {
    std::array<float, kCount> made{};
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto bits = static_cast<Bits>(i);
      made[i] = load<float>(kType, &bits, 0);
    }
    return made;
  }();
  return all.data();
}

}  // namespace

const float* numbers_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8F_E4M3: return numbers<std::uint8_t, CUDA_R_8F_E4M3>();
    case CUDA_R_8F_E5M2: return numbers<std::uint8_t, CUDA_R_8F_E5M2>();
    case CUDA_R_16F: return numbers<std::uint16_t, CUDA_R_16F>();
    default: return numbers<std::uint16_t, CUDA_R_16BF>();
  }
}

}  // namespace vgpu::blas
