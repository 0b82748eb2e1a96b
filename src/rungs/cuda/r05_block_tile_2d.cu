// SPDX-License-Identifier: Apache-2.0
// r05_block_tile_2d: a thread computes TM x TN outputs.
// NEW:     An outer product in registers.
// WHY:     r04 still reads shared memory at least once per multiply-add.
// PREDICT: Shared loads per multiply-add fall from 1 + 1/TM to 1/TM + 1/TN; global loads per output
//          fall to K/64. Half again as fast as r04.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta.
// NEXT:    r06 loads four elements at a time.
#include "device/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r05_block_tile_2d {

template <int BM_, int BN_, int BK_, int TM_, int TN_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int TM = TM_, TN = TN_;  // outputs of a thread
  static constexpr int kThreads = BM / TM * (BN / TN);
  static constexpr int kRowsA = kThreads / BK;  // rows of sA that one pass of the block loads
  static constexpr int kRowsB = kThreads / BN;  // rows of sB
  static_assert(BM % TM == 0 && BN % TN == 0, "thread tiles must divide the block tile");
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(kThreads % BK == 0 && BM % kRowsA == 0, "passes must cover sA in whole rows");
  static_assert(kThreads % BN == 0 && BK % kRowsB == 0, "passes must cover sB in whole rows");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  __shared__ float sA[T::BM][T::BK];
  __shared__ float sB[T::BK][T::BN];

  // Who am I: elements of each tile to load, TM x TN outputs to compute
  const int tid = static_cast<int>(threadIdx.x);
  const BlockTile tile = block_tile();
  const int row0 = tile.m * T::BM, col0 = tile.n * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int a_row = tid / T::BK, a_col = tid % T::BK;
  const int b_row = tid / T::BN, b_col = tid % T::BN;
  const int c_row = tid / (T::BN / T::TN) * T::TM, c_col = tid % (T::BN / T::TN) * T::TN;

  // Tensors and shapes: this thread's elements of the first tile of each operand. Rows of A and
  // columns of B beyond the edge are read from within it: their products land in outputs that
  // nobody stores.
  const float* gA = o.a + (row0 + a_row) * p.lda + a_col;                           // (BM,BK,k/BK)
  const float* gB = o.b + b_row * p.ldb + (col0 + b_col < p.n ? col0 + b_col : 0);  // (BK,BN,k/BK)
  const int rows_left = p.m - row0 - a_row;
  float rC[T::TM][T::TN] = {};  // (TM,TN)

  // Main loop
  for (int k = static_cast<int>(p.k); k > 0; k -= T::BK) {  // k: what is left
#pragma unroll
    for (int i = 0; i < T::BM; i += T::kRowsA) {
      sA[a_row + i][a_col] = i < rows_left && a_col < k ? gA[i * p.lda] : 0.0F;
    }
    gA += T::BK;
#pragma unroll
    for (int i = 0; i < T::BK; i += T::kRowsB)
      sB[b_row + i][b_col] = b_row + i < k ? gB[i * p.ldb] : 0.0F;
    gB += T::BK * p.ldb;
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) {
      float rA[T::TM], rB[T::TN];
#pragma unroll
      for (int i = 0; i < T::TM; ++i) rA[i] = sA[c_row + i][kk];
#pragma unroll
      for (int j = 0; j < T::TN; ++j) rB[j] = sB[kk][c_col + j];
#pragma unroll
      for (int i = 0; i < T::TM; ++i) {
#pragma unroll
        for (int j = 0; j < T::TN; ++j) rC[i][j] += rA[i] * rB[j];
      }
    }
    __syncthreads();
  }

  // Epilogue
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
    const int row = row0 + c_row + i;
    float* gC = o.c + row * p.ldc + col0 + c_col;  // (TN)
#pragma unroll
    for (int j = 0; j < T::TN; ++j) {
      if (row < p.m && col0 + c_col + j < p.n) store_scaled(gC + j, rC[i][j], p.alpha, p.beta);
    }
  }
}

using DefaultTile = Tile<128, 128, 8, 8, 8>;

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  using T = DefaultTile;
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    kernel<T><<<grid, T::kThreads, 0, stream>>>(part, at);
  });
}

static constexpr KernelInfo kKernels[] = {plain_rung<kMinCc>(
    "r05_block_tile_2d", "8 x 8 outputs per thread, an outer product in registers", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r05_block_tile_2d
