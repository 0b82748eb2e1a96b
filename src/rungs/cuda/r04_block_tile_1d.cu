// SPDX-License-Identifier: Apache-2.0
// r04_block_tile_1d: a thread computes a column of TM outputs.
// NEW:     Several outputs per thread.
// WHY:     r03 reads shared memory twice per multiply-add; an element of sB can serve TM of them.
// PREDICT: Shared loads per multiply-add fall from 2 to 1 + 1/TM, before ptxas merges four loads of
//          sA into one; global loads per output fall to K/32. About twice r03's rate.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta.
// NEXT:    r05 gives a thread a square of outputs.
#include "device/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r04_block_tile_1d {

template <int BM_, int BN_, int BK_, int TM_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int TM = TM_;  // outputs of a thread, one under the other
  static constexpr int kThreads = BM / TM * BN;
  static_assert(BM % TM == 0, "thread columns must divide the block tile");
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(kThreads == BM * BK && kThreads == BK * BN,
                "each thread loads one element of sA and one of sB");
  static_assert(BN % 32 == 0, "a warp's lanes must stay on one row of sB and C");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  __shared__ float sA[T::BM][T::BK];
  __shared__ float sB[T::BK][T::BN];

  // Who am I: one element of each tile to load, one column of TM outputs to compute
  const int tid = static_cast<int>(threadIdx.x);
  const BlockTile tile = block_tile();
  const int row0 = tile.m * T::BM, col0 = tile.n * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int a_row = tid / T::BK, a_col = tid % T::BK;
  const int b_row = tid / T::BN, b_col = tid % T::BN;
  const int c_row = tid / T::BN * T::TM, c_col = tid % T::BN;

  // Tensors and shapes: this thread's element of the first tile of each operand. Rows of A and
  // columns of B beyond the edge are read from within it: their products land in outputs that
  // nobody stores.
  const float* gA = o.a + (row0 + a_row < p.m ? row0 + a_row : 0) * p.lda + a_col;  // (BM,BK,k/BK)
  const float* gB = o.b + b_row * p.ldb + (col0 + b_col < p.n ? col0 + b_col : 0);  // (BK,BN,k/BK)
  float rC[T::TM] = {};                                                             // (TM)

  // Main loop
  for (int k = static_cast<int>(p.k); k > 0; k -= T::BK) {  // k: what is left
    sA[a_row][a_col] = a_col < k ? *gA : 0.0F;
    sB[b_row][b_col] = b_row < k ? *gB : 0.0F;
    __syncthreads();
    gA += T::BK;
    gB += T::BK * p.ldb;
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) {
      const float rB = sB[kk][c_col];
#pragma unroll
      for (int i = 0; i < T::TM; ++i) rC[i] += sA[c_row + i][kk] * rB;
    }
    __syncthreads();
  }

  // Epilogue
  if (col0 + c_col >= p.n) return;
  float* gC = o.c + (row0 + c_row) * p.ldc + col0 + c_col;
#pragma unroll
  for (int i = 0; i < T::TM; ++i, gC += p.ldc) {
    if (row0 + c_row + i < p.m) store_scaled(gC, rC[i], p.alpha, p.beta);
  }
}

using DefaultTile = Tile<64, 64, 8, 8>;

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  using T = DefaultTile;
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    kernel<T><<<grid, T::kThreads, 0, stream>>>(part, at);
  });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r04_block_tile_1d", "a column of 8 outputs per thread", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r04_block_tile_1d
