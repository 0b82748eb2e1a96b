// SPDX-License-Identifier: Apache-2.0
// r13_mma_sync: products on tensor cores, one warp at a time.
// NEW:     mma.sync in tf32, ldmatrix.
// WHY:     r12 is at the FP32 pipe's peak. A tensor core does 2,048 operations where that pipe does
//          64, if 11 significant bits of the operands are enough.
// PREDICT: Three to four times r12; copies and fragments are now the bound, not products.
// LIMITS:  Hopper, for the conversion to tf32 alone. Operands are rounded to nearest; any M, N, K,
//          leading dimensions, alpha, beta; copies by 128 bits where alignment allows, else by 32.
// NEXT:    r14 multiplies straight from shared memory.
#include "device/launch.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mma.cuh"
#include "device/vector.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r13_mma_sync {

template <int BM_, int BN_, int BK_, int WM_, int WN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int WM = WM_, WN = WN_;  // outputs of a warp
  static constexpr int STAGES = STAGES_;    // tiles in shared memory
  static constexpr int kThreads = BM / WM * (BN / WN) * 32;
  // Rows of A lie 16 bytes apart modulo 32: the eight rows of a piece for ldmatrix lie in banks of
  // their own. Rows of B lie 8 elements apart modulo 32: so do the four rows that a quarter of a
  // warp reads.
  static constexpr int kLineA = BK + 4, kLineB = BN + 8;
  static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles must divide the block tile");
  static_assert(WM % 16 == 0 && WN % 32 == 0, "an mma has 16 rows; B is read 32 columns at a time");
  static_assert(BK % 16 == 0, "fragments change places twice a tile");
  static_assert(BK % 8 == 0 && BK * sizeof(float) / 16 % 2 == 0,
                "an mma is 8 deep; ldmatrix needs lines 16 bytes apart");
  static_assert(BN % 32 == 0, "rows of B lie 8 elements apart modulo 32");
  static_assert(STAGES >= 2, "one tile is read while another is written");

  struct Shared {
    alignas(16) float a[STAGES][BM][kLineA];
    alignas(16) float b[STAGES][BK][kLineB];
  };
  static_assert(sizeof(Shared) <= 227 * 1024, "a block's shared memory on Hopper");
};

constexpr int kBlocksPerSm = 1;

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, kBlocksPerSm)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  constexpr int kWidth = kAligned ? 4 : 1;  // elements in one copy
  constexpr int kRowsA = T::kThreads / (T::BK / kWidth), kRowsB = T::kThreads / (T::BN / kWidth);
  static_assert(T::BM % kRowsA == 0, "passes must cover A's tile in whole rows");
  static_assert(kRowsB >= 1 && T::BK % kRowsB == 0, "passes must cover B's tile in whole rows");
  extern __shared__ float4 shared[];  // on 16 bytes
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);

  // Who am I: elements of A and B to copy, WM x WN outputs of a warp; in an mma, row or column g
  // and lane t of four.
  const int tid = static_cast<int>(threadIdx.x), warp = tid / 32, lane = tid % 32, g = lane / 4,
            t = lane % 4;
  const BlockTile tile = block_tile();
  const int row0 = tile.m * T::BM, col0 = tile.n * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int a_row = tid / (T::BK / kWidth), a_col = tid % (T::BK / kWidth) * kWidth;
  const int b_row = tid / (T::BN / kWidth), b_col = tid % (T::BN / kWidth) * kWidth;
  const int c_row = warp / (T::BN / T::WN) * T::WM, c_col = warp % (T::BN / T::WN) * T::WN;

  // Tensors and shapes. Rows of A and columns of B beyond the edge are copied from within it: their
  // products only enter outputs that are not stored.
  const float* gA[T::BM / kRowsA];
#pragma unroll
  for (int i = 0; i < T::BM / kRowsA; ++i) {
    gA[i] = o.a + min(row0 + a_row + i * kRowsA, static_cast<int>(p.m) - 1) * p.lda + a_col;
  }
  const float* gB = o.b + b_row * p.ldb + min(col0 + b_col, static_cast<int>(p.n) - kWidth);
  float rC[T::WM / 16][T::WN / 8][4] = {};  // (WM,WN): fragments

  // Copies `depth` columns of A and rows of B into a stage, zeros for the rest of it.
  const auto copy_tile = [&](int stage, int depth) {
#pragma unroll
    for (int i = 0; i < T::BM / kRowsA; ++i) {
      ptx::cp_async<4 * kWidth>(&s.a[stage][a_row + i * kRowsA][a_col], gA[i], a_col < depth);
      gA[i] += depth;
    }
#pragma unroll
    for (int i = 0; i < T::BK; i += kRowsB) {
      ptx::cp_async<4 * kWidth>(&s.b[stage][b_row + i][b_col], gB + i * p.ldb, b_row + i < depth);
    }
    gB += depth * p.ldb;
  };
  std::uint32_t rA[2][T::WM / 16][4],
      rB[2][2][T::WN / 8];  // fragments of this step of k and of the next
  // Column 32 h + 4 n + j of the warp's tile is column n of fragment 4 h + j: one load brings four
  // fragments' columns.
  const auto read_fragments = [&](int stage, int k, int to) {
#pragma unroll
    for (int i = 0; i < T::WM / 16; ++i) {
      const float* row = s.a[stage][c_row + 16 * i + lane % 16];
      ptx::load_matrix4(rA[to][i], ptx::shared_address(row + k + lane / 16 * 4));
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < T::WN / 8; j += 4) {
        const float4 four = load4(&s.b[stage][k + t + 4 * half][c_col + 8 * j + 4 * g]);
        rB[to][half][j] = __float_as_uint(four.x);
        rB[to][half][j + 1] = __float_as_uint(four.y);
        rB[to][half][j + 2] = __float_as_uint(four.z);
        rB[to][half][j + 3] = __float_as_uint(four.w);
      }
    }
  };
  const auto multiply = [&](int from) {
#pragma unroll
    for (int j = 0; j < T::WN / 8; ++j) {
      rB[from][0][j] = ptx::to_tf32(rB[from][0][j]);
      rB[from][1][j] = ptx::to_tf32(rB[from][1][j]);
    }
#pragma unroll
    for (int i = 0; i < T::WM / 16; ++i) {
#pragma unroll
      for (std::uint32_t& a : rA[from][i]) a = ptx::to_tf32(a);
#pragma unroll
      for (int j = 0; j < T::WN / 8; ++j) {
        ptx::mma_tf32(rC[i][j], rA[from][i], rB[from][0][j], rB[from][1][j]);
      }
    }
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
  if (tiles > 0) read_fragments(0, 0, 0);
  int stage = 0, free_stage = T::STAGES - 1;
#pragma unroll 1
  for (int step = tiles; step > 0; --step) {
#pragma unroll
    for (int k = 0; k < T::BK; k += 8) {
      const int now = k / 8 % 2;
      if (k + 8 < T::BK) {
        read_fragments(stage, k + 8, 1 - now);
      } else {  // every thread has read this stage; the next one's copies have landed
        free_stage = stage;
        stage = stage + 1 == T::STAGES ? 0 : stage + 1;
        ptx::cp_async_wait<T::STAGES - 2>();
        __syncthreads();
        read_fragments(stage, 0, 1 - now);  // after the last tile nothing uses it
      }
      if (k == 0) {
        if (left > 0) copy_tile(free_stage, T::BK);
        ptx::cp_async_commit();
        --left;
      }
      multiply(now);
    }
  }

  // Epilogue. Columns 2 t and 2 t + 1 of four neighbouring fragments are eight neighbours in C.
#pragma unroll
  for (int i = 0; i < T::WM / 16; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + c_row + 16 * i + g + 8 * half;
      if (row >= p.m) break;
#pragma unroll
      for (int j = 0; j < T::WN / 8; j += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int col = col0 + c_col + 8 * j + 8 * t + 4 * e;
          const float r[4] = {rC[i][j][2 * half + e], rC[i][j + 1][2 * half + e],
                              rC[i][j + 2][2 * half + e], rC[i][j + 3][2 * half + e]};
          store4_scaled<kAligned>(o.c + row * p.ldc + col, r, static_cast<int>(p.n) - col, p.alpha,
                                  p.beta);
        }
      }
    }
  }
}

using DefaultTile = Tile<128, 256, 16, 64, 64, 4>;

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
    plain_rung<kHopper>("r13_mma_sync", "products on tensor cores, a warp at a time", launch,
                        "r13_mma_sync", Precision::kTf32)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r13_mma_sync
