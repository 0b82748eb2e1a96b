// SPDX-License-Identifier: Apache-2.0
// Host code common to the launchers of all CUDA rungs.
#pragma once
#include "device/extents.cuh"

#include <ladder/kernel.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace ladder {

// Stores alpha acc + beta C to one element of C. beta = 0 does not read C.
__device__ __forceinline__ void store_scaled(float* gC, float acc, float alpha, float beta) {
  *gC = beta == 0.0F ? alpha * acc : alpha * acc + beta * *gC;
}

// Blocks start in the order x, y, z. If x spanned all tile columns of a wide C, every few rows of A
// would stream all of B through L2. At most this many tiles in x keep the concurrently used part of
// B small enough for L2.
constexpr int kTilesInX = 32;

// The grid over tiles_m x tiles_n tiles of C, in groups of tile columns of nearly equal width.
inline dim3 grid_of_tiles(std::int64_t tiles_m, std::int64_t tiles_n) {
  const std::int64_t groups = ceil_div(tiles_n, kTilesInX);
  return {static_cast<unsigned>(ceil_div(tiles_n, groups)), static_cast<unsigned>(tiles_m),
          static_cast<unsigned>(groups)};
}

// This block's tile in such a grid. The last group may be narrower; its surplus blocks are beyond
// C.
struct BlockTile {
  int m, n;
};
__device__ __forceinline__ BlockTile block_tile() {
  return {static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z * gridDim.x + blockIdx.x)};
}

// Calls `launch_part(problem, operands, grid)` for each part that one grid and ints can cover: one
// call unless C has more than 65,535 tiles in a direction or a size exceeds 2^30. Parts in k
// accumulate onto C in order. For row-major problems. Where A and B must not be read (k = 0, alpha
// = 0), the part has k = 0 and alpha = 0. `block_rows` and `block_cols` are elements of C. Errors:
// kLaunchFailed with the runtime's words.
template <class LaunchPart>
Status launch_parts(const Problem& p, const Operands& o, int block_rows, int block_cols,
                    LaunchPart launch_part) {
  const auto whole_tiles = [](std::int64_t most_tiles, int block) {
    return std::min(most_tiles, kMaxExtent / block) * block;
  };
  const std::int64_t rows = whole_tiles(kMaxGridYZ, block_rows);
  const std::int64_t cols = whole_tiles(std::int64_t{kMaxGridYZ} * kTilesInX, block_cols);
  const std::int64_t depth = reads_ab(p) ? p.k : 0;
  for (std::int64_t i = 0; i < p.m; i += rows) {
    for (std::int64_t j = 0; j < p.n; j += cols) {
      std::int64_t k = 0;
      do {
        Problem part = p;
        part.m = std::min(rows, p.m - i);
        part.n = std::min(cols, p.n - j);
        part.k = std::min(kMaxExtent, depth - k);
        if (depth == 0) part.alpha = 0.0F;
        if (k > 0) part.beta = 1.0F;
        const Operands at{o.a + (p.op_a == Op::kNone ? i * p.lda + k : k * p.lda + i),
                          o.b + (p.op_b == Op::kNone ? k * p.ldb + j : j * p.ldb + k),
                          o.c + i * p.ldc + j};
        // An error that another library's call left is neither reported nor cleared.
        const cudaError_t before = cudaPeekAtLastError();
        launch_part(part, at,
                    grid_of_tiles(ceil_div(part.m, block_rows), ceil_div(part.n, block_cols)));
        if (const cudaError_t error = cudaPeekAtLastError(); error != before)
          return {Code::kLaunchFailed, cudaGetErrorString(cudaGetLastError())};
        k += part.k;
      } while (k < depth);
    }
  }
  return Status::ok();
}

}  // namespace ladder
