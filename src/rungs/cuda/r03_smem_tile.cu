// SPDX-License-Identifier: Apache-2.0
// r03_smem_tile: a block shares tiles of A and B.
// NEW:     Shared memory, two barriers.
// WHY:     r02 reads each element of A and B from global memory once per thread that needs it.
// PREDICT: Global loads per output fall from 2 K to 2 K / BK; two shared loads per step of k
//          replace them. The rate rises by half, then shared memory is the bound.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta.
// NEXT:    r04 gives a thread a column of outputs.
#include "device/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r03_smem_tile {

template <int B>
struct Tile {
  static constexpr int BM = B, BN = B,
                       BK = B;  // a square block of threads loads a square tile of each operand
  static constexpr int kThreads = BM * BN;
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(BM == BK && BN == BK, "each thread loads one element of sA and one of sB");
  static_assert((BM * BK + BK * BN) * sizeof(float) <= 48 * 1024,
                "static shared memory ends at 48 KB");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  __shared__ float sA[T::BM][T::BK];
  __shared__ float sB[T::BK][T::BN];

  // Who am I
  const int ty = static_cast<int>(threadIdx.y), tx = static_cast<int>(threadIdx.x);
  const BlockTile tile = block_tile();
  const int row = tile.m * T::BM + ty, col = tile.n * T::BN + tx;
  if (tile.n * T::BN >= p.n) return;  // a surplus block, as a whole

  // Tensors and shapes: this thread's element of the first tile of each operand. Rows of A and
  // columns of B beyond the edge are read from within it: their products land in outputs that
  // nobody stores.
  const float* gA = o.a + (row < p.m ? row : 0) * p.lda + tx;  // (BM,BK,k/BK)
  const float* gB = o.b + ty * p.ldb + (col < p.n ? col : 0);  // (BK,BN,k/BK)

  // Main loop
  float acc = 0.0F;
  for (int k = static_cast<int>(p.k); k > 0; k -= T::BK) {  // k: what is left
    sA[ty][tx] = tx < k ? *gA : 0.0F;
    sB[ty][tx] = ty < k ? *gB : 0.0F;
    __syncthreads();  // the tiles are whole before anyone reads them
    gA += T::BK;
    gB += T::BK * p.ldb;
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) acc += sA[ty][kk] * sB[kk][tx];
    __syncthreads();  // everyone has read the tiles before they are overwritten
  }

  // Epilogue
  if (row < p.m && col < p.n) store_scaled(o.c + row * p.ldc + col, acc, p.alpha, p.beta);
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    kernel<T><<<grid, dim3(T::BN, T::BM), 0, stream>>>(part, at);
  });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r03_smem_tile_16", "16 x 16 tiles in shared memory", launch<Tile<16>>,
                       "r03_smem_tile"),
    plain_rung<kMinCc>("r03_smem_tile_32", "32 x 32 tiles in shared memory", launch<Tile<32>>,
                       "r03_smem_tile")};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r03_smem_tile
