// SPDX-License-Identifier: Apache-2.0
// r08_padded: shared memory without bank conflicts, by padding.
// NEW:     Gaps in the rows of sA and sB.
// WHY:     r06's lanes read sB 32 bytes apart, so two of eight share a bank; its stores of A's two
//          column groups fall into the same banks.
// PREDICT: r07's wavefronts, with simpler indices and some per cent more shared memory; as fast as
//          r07.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta; 128-bit accesses where alignment allows,
//          else 32-bit.
// NEXT:    r09 searches the tile parameters.
#include "device/launch.cuh"
#include "device/vector.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r08_padded {

template <int BM_, int BN_, int BK_, int TM_, int TN_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int TM = TM_, TN = TN_;  // outputs of a thread
  static constexpr int kThreads = BM / TM * (BN / TN);
  static constexpr int kRowsA = kThreads / (BK / 4);  // rows of A that one pass of the block loads
  static constexpr int kRowsB = kThreads / (BN / 4);  // rows of B
  static_assert(BM % TM == 0 && BN % TN == 0, "thread tiles must divide the block tile");
  static_assert(TM % 4 == 0 && TN % 4 == 0,
                "a thread reads its operands and stores its outputs four at a time");
  static_assert(BK % 4 == 0 && BN % 4 == 0, "rows of a tile are loaded four elements at a time");
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(kThreads % (BK / 4) == 0 && BM % kRowsA == 0,
                "passes must cover A's tile in whole rows");
  static_assert(kThreads % (BN / 4) == 0 && BK % kRowsB == 0,
                "passes must cover B's tile in whole rows");

  // Column groups of A four apart are rows of sA four apart: 4 x 4 floats of padding put them 16
  // banks apart. In a row of sB, 16 bytes after every 128 move the fifth to eighth thread off the
  // banks of the first four.
  static constexpr int kPad = 4;
  static constexpr int kRowA = BM + kPad;            // floats of a row of sA
  static constexpr int kRowB = BN + BN / 32 * kPad;  // floats of a row of sB
  __device__ static constexpr int padded(int col) { return col + col / 32 * kPad; }
};

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  __shared__ alignas(16) float sA[T::BK][T::kRowA];  // transposed
  __shared__ alignas(16) float sB[T::BK][T::kRowB];

  // Who am I: four elements of a row of each tile to load, TM x TN outputs to compute
  const int tid = static_cast<int>(threadIdx.x);
  const BlockTile tile = block_tile();
  const int row0 = tile.m * T::BM, col0 = tile.n * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int a_row = tid / (T::BK / 4), a_col = tid % (T::BK / 4) * 4;
  const int b_row = tid / (T::BN / 4), b_col = tid % (T::BN / 4) * 4;
  const int c_row = tid / (T::BN / T::TN) * T::TM, c_col = tid % (T::BN / T::TN) * T::TN;

  // Tensors and shapes: this thread's elements of the first tile of each operand
  const float* gA = o.a + (row0 + a_row) * p.lda + a_col;  // (BM,BK,k/BK)
  const float* gB = o.b + b_row * p.ldb + col0 + b_col;    // (BK,BN,k/BK)
  const int rows_left = static_cast<int>(p.m) - row0 - a_row;
  const int cols_left = static_cast<int>(p.n) - col0 - b_col;
  float rC[T::TM][T::TN] = {};  // (TM,TN)

  // Main loop
  for (int k = static_cast<int>(p.k); k > 0; k -= T::BK) {  // k: what is left
#pragma unroll
    for (int i = 0; i < T::BM; i += T::kRowsA) {
      const float4 a = load4<kAligned>(gA + i * p.lda, i < rows_left ? k - a_col : 0);
      sA[a_col + 0][a_row + i] = a.x;
      sA[a_col + 1][a_row + i] = a.y;
      sA[a_col + 2][a_row + i] = a.z;
      sA[a_col + 3][a_row + i] = a.w;
    }
#pragma unroll
    for (int i = 0; i < T::BK; i += T::kRowsB) {
      store4(&sB[b_row + i][T::padded(b_col)],
             load4<kAligned>(gB + i * p.ldb, b_row + i < k ? cols_left : 0));
    }
    gA += T::BK;
    gB += T::BK * p.ldb;
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) {
      float rA[T::TM], rB[T::TN];
#pragma unroll
      for (int i = 0; i < T::TM; i += 4) store4(&rA[i], load4(&sA[kk][c_row + i]));
#pragma unroll
      for (int j = 0; j < T::TN; j += 4) store4(&rB[j], load4(&sB[kk][T::padded(c_col + j)]));
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
    if (row >= p.m) break;
#pragma unroll
    for (int j = 0; j < T::TN; j += 4) {
      const int col = col0 + c_col + j;
      store4_scaled<kAligned>(o.c + row * p.ldc + col, &rC[i][j], static_cast<int>(p.n) - col,
                              p.alpha, p.beta);
    }
  }
}

using DefaultTile = Tile<128, 128, 8, 8, 8>;

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  using T = DefaultTile;
  const auto chosen = aligned_by_4(p, o) ? kernel<T, true> : kernel<T, false>;
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    chosen<<<grid, T::kThreads, 0, stream>>>(part, at);
  });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r08_padded", "no bank conflicts, by padding", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r08_padded
