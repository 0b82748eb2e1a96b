// SPDX-License-Identifier: Apache-2.0
// r11_async_copy: copies to shared memory overlap the products.
// NEW:     cp.async, STAGES tiles in flight.
// WHY:     r10 loads a tile, waits, computes, waits; two blocks per SM hide only a part of that.
// PREDICT: Loads in flight take no registers and no store instructions, so fragments of the next
//          step fit into registers; one barrier per tile, not two. A tenth faster than r10.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta; B by 128 bits where alignment allows, else
//          by 32.
// NEXT:    r12 gives the copies warps of their own.
#include "device/launch.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/vector.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r11_async_copy {

template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int WM = WM_, WN = WN_;  // outputs of a warp
  static constexpr int TM = TM_, TN = TN_;  // outputs of a thread, in pieces of 4 x 4
  static constexpr int STAGES = STAGES_;    // tiles in shared memory
  static constexpr int kLanesM = WM / TM, kLanesN = WN / TN;  // lanes of a warp, kLanesM x kLanesN
  static constexpr int kThreads = BM / WM * (BN / WN) * 32;
  static constexpr int kRowsA =
      kThreads / 8;  // rows of A that one pass of the block copies, 32 bytes each
  static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles must divide the block tile");
  static_assert(kLanesM * kLanesN == 32, "a warp's 32 lanes must cover the warp tile");
  static_assert((kLanesM == 4 && kLanesN == 8) || (kLanesM == 8 && kLanesN == 4),
                "lane_m and lane_n below split five bits into two and three");
  static_assert(TM % 4 == 0 && TN % 4 == 0,
                "a thread reads its operands and stores its outputs four at a time");
  static_assert(BK % 8 == 0, "A is copied eight columns at a time");
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(BM % kRowsA == 0, "passes must cover A's tile");
  static_assert(STAGES >= 2, "one tile is read while another is written");
  static_assert((BM + 4 + BN) * BK * STAGES * sizeof(float) <= 99 * 1024,
                "a block's shared memory on 8.6 and 8.9");

  // A warp copies 8 columns x 4 rows of A at once and transposes them: with rows of sA 4 elements
  // longer, element (k, row) lies in bank 4 k + row, each in its own.
  struct Shared {
    alignas(16) float a[STAGES][BK][BM + 4];  // transposed
    alignas(16) float b[STAGES][BK][BN];
  };
};

constexpr int kBlocksPerSm = 2;  // 128 registers per thread

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, kBlocksPerSm)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  constexpr int kWidth = kAligned ? 4 : 1;  // elements of B in one copy
  constexpr int kRowsB =
      T::kThreads / (T::BN / kWidth);  // rows of B that one pass of the block copies
  static_assert(kRowsB >= 1 && T::BK % kRowsB == 0, "passes must cover B's tile in whole rows");
  extern __shared__ float4 shared[];  // on 16 bytes
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: one column of A and one place in the rows of B to copy, TM x TN of a warp's outputs
  // to compute. Lanes that share a row or a column of outputs neighbour each other, so that of each
  // 128-bit shared load two wavefronts suffice.
  const int tid = static_cast<int>(threadIdx.x);
  const BlockTile tile = block_tile();
  const int row0 = tile.m * T::BM, col0 = tile.n * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int a_row = tid / 8, a_col = tid % 8;
  const int b_row = tid / (T::BN / kWidth), b_col = tid % (T::BN / kWidth) * kWidth;
  const int warp = tid / 32, lane = tid % 32;
  const int of8 = lane % 2 + lane / 8 * 2, of4 = lane / 2 % 4;
  const int c_row = warp / (T::BN / T::WN) * T::WM + (T::kLanesM == 8 ? of8 : of4) * 4;
  const int c_col = warp % (T::BN / T::WN) * T::WN + (T::kLanesN == 8 ? of8 : of4) * 4;

  // Tensors and shapes. Rows of A and columns of B beyond the edge are copied from within it: their
  // products land in outputs that nobody stores.
  const float* gA[T::BM / T::kRowsA];
#pragma unroll
  for (int i = 0; i < T::BM / T::kRowsA; ++i) {
    const int row = min(row0 + a_row + i * T::kRowsA, static_cast<int>(p.m) - 1);
    gA[i] = o.a + row * p.lda + a_col;
  }
  const float* gB = o.b + b_row * p.ldb + min(col0 + b_col, static_cast<int>(p.n) - kWidth);
  float rC[T::TM][T::TN] = {};       // (TM,TN)
  float rA[2][T::TM], rB[2][T::TN];  // this step of k and the next

  // Copies `depth` columns of A and rows of B into a stage, zeros for the rest of it.
  const auto copy_tile = [&](int stage, int depth) {
#pragma unroll
    for (int i = 0; i < T::BM / T::kRowsA; ++i) {
#pragma unroll
      for (int j = 0; j < T::BK; j += 8) {
        ptx::cp_async<4>(&s.a[stage][a_col + j][a_row + i * T::kRowsA], gA[i] + j,
                         a_col + j < depth);
      }
      gA[i] += depth;
    }
#pragma unroll
    for (int i = 0; i < T::BK; i += kRowsB) {
      ptx::cp_async<4 * kWidth>(&s.b[stage][b_row + i][b_col], gB + i * p.ldb, b_row + i < depth);
    }
    gB += depth * p.ldb;
  };
  const auto read_fragments = [&](int stage, int kk) {
#pragma unroll
    for (int j = 0; j < T::TN; j += 4)
      store4(&rB[kk % 2][j], load4(&s.b[stage][kk][c_col + j * T::kLanesN]));
#pragma unroll
    for (int i = 0; i < T::TM; i += 4)
      store4(&rA[kk % 2][i], load4(&s.a[stage][kk][c_row + i * T::kLanesM]));
  };

  // Main loop. The first tile is the ragged one, so that the loop needs no test for the end of k.
  const int tiles = static_cast<int>((p.k + T::BK - 1) / T::BK);
  int left = tiles;  // to copy
#pragma unroll
  for (int stage = 0; stage < T::STAGES - 1; ++stage) {
    if (left > 0)
      copy_tile(stage, stage == 0 ? static_cast<int>(p.k) - (tiles - 1) * T::BK : T::BK);
    ptx::cp_async_commit();
    --left;
  }
  ptx::cp_async_wait<T::STAGES - 2>();
  __syncthreads();
  if (tiles > 0) read_fragments(0, 0);
  int stage = 0, free_stage = T::STAGES - 1;
#pragma unroll 1
  for (int t = tiles; t > 0; --t) {
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) {
      if (kk + 1 < T::BK) {
        read_fragments(stage, kk + 1);
      } else {  // every thread has read this stage; the next one's copies have landed
        free_stage = stage;
        stage = stage + 1 == T::STAGES ? 0 : stage + 1;
        ptx::cp_async_wait<T::STAGES - 2>();
        __syncthreads();
        read_fragments(stage, 0);  // after the last tile nothing uses it
      }
      if (kk == 0) {
        if (left > 0) copy_tile(free_stage, T::BK);
        ptx::cp_async_commit();
        --left;
      }
#pragma unroll
      for (int i = 0; i < T::TM; ++i) {
#pragma unroll
        for (int j = 0; j < T::TN; ++j) rC[i][j] += rA[kk % 2][i] * rB[kk % 2][j];
      }
    }
  }

  // Epilogue
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
    const int row = row0 + c_row + i / 4 * 4 * T::kLanesM + i % 4;
    if (row >= p.m) break;
#pragma unroll
    for (int j = 0; j < T::TN; j += 4) {
      const int col = col0 + c_col + j * T::kLanesN;
      store4_scaled<kAligned>(o.c + row * p.ldc + col, &rC[i][j], static_cast<int>(p.n) - col,
                              p.alpha, p.beta);
    }
  }
}

using DefaultTile = Tile<128, 128, 24, 64, 32, 8, 8, 3>;

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  using T = DefaultTile;
  const auto chosen = aligned_by_4(p, o) ? kernel<T, true> : kernel<T, false>;
  constexpr int kShared = sizeof(T::Shared);
  const cudaError_t error =
      cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  if (error != cudaSuccess) return {Code::kLaunchFailed, cudaGetErrorString(error)};
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    chosen<<<grid, T::kThreads, kShared, stream>>>(part, at);
  });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kAmpere>("r11_async_copy", "copies to shared memory overlap the products", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r11_async_copy
