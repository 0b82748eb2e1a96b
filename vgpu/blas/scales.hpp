// SPDX-License-Identifier: Apache-2.0
// Where the scales of parts of an fp8 matrix are (cuBLAS, "Scaling Factors Layouts"). `outer`: a
// row of op(A) or a column of op(B), of which there are `outers`; `inner`: a place along k.
#pragma once
#include <algorithm>
#include <cstdint>

#include "blas/product.hpp"

namespace vgpu::blas {

inline constexpr std::int64_t kScaled = 128;  // elements with one scale
inline std::int64_t scaled_blocks(std::int64_t elements) {
  return (elements + kScaled - 1) / kScaled;
}
// From the scales of 128 rows to those of the next.
inline std::int64_t scale_stride(std::int64_t k) { return (scaled_blocks(k) + 3) / 4 * 4; }

inline std::int64_t scale_at(const Operand& operand, std::int64_t outers, std::int64_t k,
                             std::int64_t outer, std::int64_t inner) {
  switch (operand.scales) {
    case Scales::kOuter: return outer;
    case Scales::kOf128: return inner / kScaled * outers + outer;
    case Scales::kOf128x128: return outer / kScaled * scale_stride(k) + inner / kScaled;
    case Scales::kOne: break;
  }
  return 0;
}

inline std::int64_t scale_count(const Operand& operand, std::int64_t outer, std::int64_t k) {
  return scale_at(operand, outer, k, std::max<std::int64_t>(outer, 1) - 1,
                  std::max<std::int64_t>(k, 1) - 1) +
         1;
}

}  // namespace vgpu::blas
