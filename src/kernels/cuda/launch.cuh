// SPDX-License-Identifier: Apache-2.0
// What every CUDA rung's launcher does the same way, so that the rung's file holds only its idea.
#pragma once
#include <ladder/kernel.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace ladder {

constexpr int kMinCc = 80;  // CUDA-core rungs are built as PTX for Ampere and later
constexpr int kMaxGridY =
    65'535;  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Calls `launch_band(problem, operands, blocks)` for each part of C that one grid can cover, with blocks =
// tiles of block_rows x block_cols as dim3(tiles along n, tiles along m). One call unless C is taller or
// wider than 65,535 tiles. Where A and B must not be read (k = 0, alpha = 0), the band has k = 0 and alpha =
// 0. `block_rows` and `block_cols` are elements of C. Errors: kLaunchFailed with the runtime's words.
template <class LaunchBand>
Status launch_bands(const Problem& p, const Operands& o, int block_rows, int block_cols,
                    LaunchBand launch_band) {
  const std::int64_t rows = std::int64_t{kMaxGridY} * block_rows;
  const std::int64_t cols = std::int64_t{kMaxGridY} * block_cols;
  for (std::int64_t i = 0; i < p.m; i += rows) {
    for (std::int64_t j = 0; j < p.n; j += cols) {
      Problem band = p;
      band.m = std::min(rows, p.m - i);
      band.n = std::min(cols, p.n - j);
      if (!reads_ab(p)) band.k = 0, band.alpha = 0.0F;
      const Operands at{o.a + i * p.lda, o.b + j, o.c + i * p.ldc + j};
      launch_band(band, at,
                  dim3(static_cast<unsigned>(ceil_div(band.n, block_cols)),
                       static_cast<unsigned>(ceil_div(band.m, block_rows))));
      if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
        return {Code::kLaunchFailed, cudaGetErrorString(error)};
      }
    }
  }
  return Status::ok();
}

// alpha acc + beta C, where beta = 0 does not read C.
__device__ __forceinline__ void store_scaled(float* gC, float acc, float alpha, float beta) {
  *gC = beta == 0.0F ? alpha * acc : alpha * acc + beta * *gC;
}

}  // namespace ladder
