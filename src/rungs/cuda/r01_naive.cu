// SPDX-License-Identifier: Apache-2.0
// r01_naive: one thread computes one element of C.
// NEW:     One thread per output.
// WHY:     C has M N independent elements; a GPU needs that many threads.
// PREDICT: The lanes of a warp are on 32 rows: a load of A touches 32 sectors of 32 bytes for 128
//          bytes used; a load of B is a broadcast. 1% of cuBLAS.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta.
// NEXT:    r02 turns the warp along a row.
#include "device/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r01_naive {

struct Tile {
  static constexpr int BM = 32,
                       BN = 4;  // outputs of a block: small blocks leave no SM idle at the end
  static constexpr int kThreads = BM * BN;
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(BM % 32 == 0, "a warp's lanes must stay on one column");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  // Who am I: threadIdx.x, along which a warp lies, counts rows.
  const BlockTile tile = block_tile();
  const int row = tile.m * T::BM + static_cast<int>(threadIdx.x);
  const int col = tile.n * T::BN + static_cast<int>(threadIdx.y);
  if (row >= p.m || col >= p.n) return;

  // Tensors and shapes
  const float* gA = o.a + row * p.lda;  // (k), stride 1
  const float* gB = o.b + col;          // (k), stride ldb

  // Main loop
  float acc = 0.0F;
  const int depth = static_cast<int>(p.k);
  for (int k = 0; k < depth; ++k) acc += gA[k] * gB[k * p.ldb];

  // Epilogue
  store_scaled(o.c + row * p.ldc + col, acc, p.alpha, p.beta);
}

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return launch_parts(p, o, Tile::BM, Tile::BN,
                      [&](const Problem& part, const Operands& at, dim3 grid) {
                        kernel<Tile><<<grid, dim3(Tile::BM, Tile::BN), 0, stream>>>(part, at);
                      });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r01_naive", "one thread per output, a warp along a column", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r01_naive
