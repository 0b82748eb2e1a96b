// SPDX-License-Identifier: Apache-2.0
// r10_warp_tile: each warp owns a WM x WN part of the tile.
// NEW:     A tiling level for the warp.
// WHY:     In r07 a warp's lanes are 16 per row, so it reads 2 x TM and 16 x TN elements per step
//          of k: far from square. Lanes in 8 x 4 read 8 x TM and 4 x TN, in adjacent pieces of 16
//          bytes.
// PREDICT: sB is read without conflicts and without a swizzle; fewer distinct elements per warp;
//          with BK = 32 a quarter of the barriers. A tenth faster than r07.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta; 128-bit accesses where alignment allows,
//          else 32-bit.
// NEXT:    r11 copies the next tiles during the products.
#include <ladder/search.hpp>

#include "device/launch.cuh"
#include "device/vector.cuh"
#include "problem/accept.hpp"
#include "rungs/cuda/tuned.cuh"

#include <array>
#include <span>

namespace ladder::r10_warp_tile {

// A point of the search space, and its rules.
struct Values {
  int BM, BN, BK, WM, WN, TM, TN, kBlocks;
  constexpr int lanes() const { return WM / TM * (WN / TN); }
  constexpr int threads() const { return BM / WM * (BN / WN) * 32; }
  constexpr int rows_a() const {
    return threads() / (BK / 4);
  }  // rows of A that one pass of the block loads
  constexpr int rows_b() const { return threads() / (BN / 4); }  // rows of B

  constexpr bool warp_tiles_fit() const { return BM % WM == 0 && BN % WN == 0; }
  constexpr bool lanes_cover() const { return WM % TM == 0 && WN % TN == 0 && lanes() == 32; }
  constexpr bool in_fours() const { return (TM | TN | BK | BN) % 4 == 0; }
  constexpr bool block_fits() const { return threads() >= 32 && threads() <= 1024; }
  constexpr bool passes_cover_a() const {
    return threads() % (BK / 4) == 0 && rows_a() > 0 && BM % rows_a() == 0;
  }
  constexpr bool passes_cover_b() const {
    return threads() % (BN / 4) == 0 && rows_b() > 0 && BK % rows_b() == 0;
  }
  constexpr bool swizzle_stays_in_rows() const { return BM % 32 == 0 && BK <= 32; }
  constexpr bool shared_memory_fits() const {
    return (BM + BN) * BK * int{sizeof(float)} <= 48 * 1024;
  }
  // Live at once: the accumulators, and the larger of one step's operands and the loads in flight.
  // An SM has 65,536 registers.
  constexpr bool registers_fit() const {
    const int in_flight = (BM / rows_a() + BK / rows_b()) * 4;
    const int live = TM * TN + (TM + TN > in_flight ? TM + TN : in_flight);
    return live <= 255 && live * threads() * kBlocks <= 64 * 1024;
  }
  constexpr bool allowed() const {
    return warp_tiles_fit() && lanes_cover() && in_fours() && block_fits() && passes_cover_a() &&
           passes_cover_b() && swizzle_stays_in_rows() && shared_memory_fits() && registers_fit();
  }
};

constexpr std::array kBM{64, 128, 256}, kBN{64, 128, 256};
constexpr std::array kBK{8, 16, 32};
constexpr std::array kWM{16, 32, 64, 128}, kWN{16, 32, 64, 128};
constexpr std::array kTM{4, 8, 16}, kTN{4, 8, 16};
constexpr std::array kBlocks{1, 2, 3,
                             4};  // least blocks of an SM: bounds the registers of a thread
constexpr Parameter kParameters[] = {{"BM", kBM}, {"BN", kBN}, {"BK", kBK}, {"WM", kWM},
                                     {"WN", kWN}, {"TM", kTM}, {"TN", kTN}, {"blocks", kBlocks}};

template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int kBlocks_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int WM = WM_, WN = WN_;  // outputs of a warp
  static constexpr int TM = TM_, TN = TN_;  // outputs of a thread, in pieces of 4 x 4
  static constexpr int kLanesM = WM / TM, kLanesN = WN / TN;  // lanes of a warp, kLanesM x kLanesN
  static constexpr Values kValues{BM, BN, BK, WM, WN, TM, TN, kBlocks_};
  static constexpr int kThreads = kValues.threads(), kBlocksPerSm = kBlocks_;
  static constexpr int kRowsA = kValues.rows_a(), kRowsB = kValues.rows_b();
  static_assert(kValues.warp_tiles_fit(), "warp tiles must divide the block tile");
  static_assert(kValues.lanes_cover(), "a warp's 32 lanes must cover the warp tile");
  static_assert(kValues.in_fours(), "operands are loaded, read and stored four elements at a time");
  static_assert(kValues.block_fits(), "a block has at most 1,024 threads");
  static_assert(kValues.passes_cover_a(), "passes must cover A's tile in whole rows");
  static_assert(kValues.passes_cover_b(), "passes must cover B's tile in whole rows");
  static_assert(kValues.swizzle_stays_in_rows(),
                "r07's swizzle of sA must stay within the row, in steps of 4");
  static_assert(kValues.shared_memory_fits(), "static shared memory ends at 48 KB");
  static_assert(kValues.registers_fit(), "what a thread holds must fit its share of the registers");

  // Where element (k, row) of A lies in its row of sA, as in r07.
  static constexpr int kFlip = 32 / (BK / 4);
  __device__ static constexpr int swizzle_a(int k, int row) {
    return row ^ (k / 4 % (BK / 4) * kFlip);
  }
};

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  __shared__ alignas(16) float sA[T::BK][T::BM];  // transposed
  __shared__ alignas(16) float sB[T::BK][T::BN];

  // Who am I: four elements of a row of each tile to load, TM x TN of a warp's outputs to compute
  const int tid = static_cast<int>(threadIdx.x);
  const BlockTile tile = block_tile();
  const int row0 = tile.m * T::BM, col0 = tile.n * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int a_row = tid / (T::BK / 4), a_col = tid % (T::BK / 4) * 4;
  const int b_row = tid / (T::BN / 4), b_col = tid % (T::BN / 4) * 4;
  const int warp = tid / 32, lane = tid % 32;
  const int c_row = warp / (T::BN / T::WN) * T::WM + lane / T::kLanesN * 4;
  const int c_col = warp % (T::BN / T::WN) * T::WN + lane % T::kLanesN * 4;

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
      sA[a_col + 0][T::swizzle_a(a_col, a_row + i)] = a.x;
      sA[a_col + 1][T::swizzle_a(a_col, a_row + i)] = a.y;
      sA[a_col + 2][T::swizzle_a(a_col, a_row + i)] = a.z;
      sA[a_col + 3][T::swizzle_a(a_col, a_row + i)] = a.w;
    }
#pragma unroll
    for (int i = 0; i < T::BK; i += T::kRowsB) {
      store4(&sB[b_row + i][b_col], load4<kAligned>(gB + i * p.ldb, b_row + i < k ? cols_left : 0));
    }
    gA += T::BK;
    gB += T::BK * p.ldb;
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) {
      float rA[T::TM], rB[T::TN];
#pragma unroll
      for (int i = 0; i < T::TM; i += 4)
        store4(&rA[i], load4(&sA[kk][T::swizzle_a(kk, c_row + i * T::kLanesM)]));
#pragma unroll
      for (int j = 0; j < T::TN; j += 4) store4(&rB[j], load4(&sB[kk][c_col + j * T::kLanesN]));
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

template <class T>
static Status launch_tile(const Problem& p, const Operands& o, Stream stream) {
  const auto chosen = aligned_by_4(p, o) ? kernel<T, true> : kernel<T, false>;
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    chosen<<<grid, T::kThreads, 0, stream>>>(part, at);
  });
}

// By hand: two blocks an SM, so that one computes while the other waits at its barrier; 128
// registers per thread.
constexpr std::array kByHand{128, 128, 32, 64, 32, 8, 8, 2};
using TileByHand = Tile<kByHand[0], kByHand[1], kByHand[2], kByHand[3], kByHand[4], kByHand[5],
                        kByHand[6], kByHand[7]>;
static constexpr TunedTile kTiles[] = {
#include "tuned/r10_warp_tile.inc"
};

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return tile_for_device(kTiles).launch(p, o, stream);
}

extern const SearchSpace kSpace{
    "r10_warp_tile", kParameters, kByHand, [](std::span<const int> v) {
      return v.size() == std::size(kParameters) &&
             Values{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]}.allowed();
    }};

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r10_warp_tile", "a tile for each warp", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r10_warp_tile
