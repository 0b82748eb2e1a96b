// SPDX-License-Identifier: Apache-2.0
// An element of C.
#pragma once
#include <cuda_runtime.h>

namespace ladder {

// alpha acc + beta C, where beta = 0 does not read C.
__device__ __forceinline__ void store_scaled(float* gC, float acc, float alpha, float beta) {
  *gC = beta == 0.0F ? alpha * acc : alpha * acc + beta * *gC;
}

}  // namespace ladder
