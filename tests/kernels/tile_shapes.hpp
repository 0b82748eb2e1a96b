// SPDX-License-Identifier: Apache-2.0
// The tiles that r17 chooses from for 16-bit operands.
#pragma once
#include "gemm/tensor/tensor_plan.cuh"

namespace ladder {

constexpr TileShape kShapes[] = {{128, 256, 64, 1}, {128, 128, 64, 1},      {64, 128, 64, 1},
                                 {64, 64, 64, 1},   {256, 256, 64, 2, 232}, {256, 256, 64, 2, 192},
                                 {128, 128, 64, 2}, {128, 512, 64, 4},      {64, 64, 64, 2, 0, 2},
                                 {256, 256, 64, 2}};

}  // namespace ladder
