// SPDX-License-Identifier: Apache-2.0
// r09_autotuned: the tile parameters are searched.
// NEW:     A search space beside its constraints.
// WHY:     r07's tile was set by hand. Blocks per SM and the depth of a tile trade latency against
//          shared memory and registers, differently on every GPU.
// PREDICT: Deeper tiles (BK) and two blocks per SM, since barriers and exposed loads bind r07; some
//          per cent.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta; 128-bit accesses where alignment allows,
//          else 32-bit.
// NEXT:    r10 gives each warp a tile.
#include <ladder/search.hpp>

#include "device/launch.cuh"
#include "device/vector.cuh"
#include "problem/accept.hpp"
#include "rungs/cuda/tuned.cuh"

#include <array>
#include <span>

namespace ladder::r09_autotuned {

// A point of the search space, and its rules.
struct Values {
  int BM, BN, BK, TM, TN, kBlocks;
  constexpr int threads() const { return BM / TM * (BN / TN); }
  constexpr int rows_a() const {
    return threads() / (BK / 4);
  }  // rows of A that one pass of the block loads
  constexpr int rows_b() const { return threads() / (BN / 4); }  // rows of B

  constexpr bool thread_tiles_fit() const { return BM % TM == 0 && BN % TN == 0; }
  constexpr bool in_fours() const { return (TM | TN | BK | BN) % 4 == 0; }
  constexpr bool block_fits() const {
    return threads() >= 32 && threads() <= 1024 && threads() % 32 == 0;
  }
  constexpr bool passes_cover_a() const {
    return threads() % (BK / 4) == 0 && rows_a() > 0 && BM % rows_a() == 0;
  }
  constexpr bool passes_cover_b() const {
    return threads() % (BN / 4) == 0 && rows_b() > 0 && BK % rows_b() == 0;
  }
  constexpr bool swizzle_stays_in_rows() const { return BM % 32 == 0 && BN % 32 == 0 && BK <= 32; }
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
    return thread_tiles_fit() && in_fours() && block_fits() && passes_cover_a() &&
           passes_cover_b() && swizzle_stays_in_rows() && shared_memory_fits() && registers_fit();
  }
};

constexpr std::array kBM{32, 64, 128, 256}, kBN{32, 64, 128, 256};
constexpr std::array kBK{8, 16, 32};
constexpr std::array kTM{4, 8, 16}, kTN{4, 8, 16};
constexpr std::array kBlocks{1, 2, 3,
                             4};  // least blocks of an SM: bounds the registers of a thread
constexpr Parameter kParameters[] = {{"BM", kBM}, {"BN", kBN}, {"BK", kBK},
                                     {"TM", kTM}, {"TN", kTN}, {"blocks", kBlocks}};

template <int BM_, int BN_, int BK_, int TM_, int TN_, int kBlocks_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int TM = TM_, TN = TN_;  // outputs of a thread
  static constexpr Values kValues{BM, BN, BK, TM, TN, kBlocks_};
  static constexpr int kThreads = kValues.threads(), kBlocksPerSm = kBlocks_;
  static constexpr int kRowsA = kValues.rows_a(), kRowsB = kValues.rows_b();
  static_assert(kValues.thread_tiles_fit(), "thread tiles must divide the block tile");
  static_assert(kValues.in_fours(), "operands are loaded, read and stored four elements at a time");
  static_assert(kValues.block_fits(), "a block has whole warps and at most 1,024 threads");
  static_assert(kValues.passes_cover_a(), "passes must cover A's tile in whole rows");
  static_assert(kValues.passes_cover_b(), "passes must cover B's tile in whole rows");
  static_assert(kValues.swizzle_stays_in_rows(), "the swizzle must stay in the row, in steps of 4");
  static_assert(kValues.shared_memory_fits(), "static shared memory ends at 48 KB");
  static_assert(kValues.registers_fit(), "what a thread holds must fit its share of the registers");

  // Where element (k, row) of A and (k, col) of B lie in their rows, as in r07. Threads that read
  // sB TN floats apart would conflict in one bank every 32 floats: each group of 32 floats starts
  // with another of its TN / 4 vectors.
  static constexpr int kFlip = 32 / (BK / 4);
  __device__ static constexpr int swizzle_a(int k, int row) {
    return row ^ (k / 4 % (BK / 4) * kFlip);
  }
  __device__ static constexpr int swizzle_b(int col) { return col ^ (col / 32 % (TN / 4) * 4); }
};

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  __shared__ alignas(16) float sA[T::BK][T::BM];  // transposed
  __shared__ alignas(16) float sB[T::BK][T::BN];

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
      sA[a_col + 0][T::swizzle_a(a_col, a_row + i)] = a.x;
      sA[a_col + 1][T::swizzle_a(a_col, a_row + i)] = a.y;
      sA[a_col + 2][T::swizzle_a(a_col, a_row + i)] = a.z;
      sA[a_col + 3][T::swizzle_a(a_col, a_row + i)] = a.w;
    }
#pragma unroll
    for (int i = 0; i < T::BK; i += T::kRowsB) {
      store4(&sB[b_row + i][T::swizzle_b(b_col)],
             load4<kAligned>(gB + i * p.ldb, b_row + i < k ? cols_left : 0));
    }
    gA += T::BK;
    gB += T::BK * p.ldb;
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < T::BK; ++kk) {
      float rA[T::TM], rB[T::TN];
#pragma unroll
      for (int i = 0; i < T::TM; i += 4)
        store4(&rA[i], load4(&sA[kk][T::swizzle_a(kk, c_row + i)]));
#pragma unroll
      for (int j = 0; j < T::TN; j += 4) store4(&rB[j], load4(&sB[kk][T::swizzle_b(c_col + j)]));
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

template <class T>
static Status launch_tile(const Problem& p, const Operands& o, Stream stream) {
  const auto chosen = aligned_by_4(p, o) ? kernel<T, true> : kernel<T, false>;
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    chosen<<<grid, T::kThreads, 0, stream>>>(part, at);
  });
}

// By hand: r07's, held to the registers of two blocks an SM. The others come from
// src/registry/tuned/<gpu>.json, or from the tuner, one at a time.
constexpr std::array kByHand{128, 128, 8, 8, 8, 2};
using TileByHand = Tile<kByHand[0], kByHand[1], kByHand[2], kByHand[3], kByHand[4], kByHand[5]>;
static constexpr TunedTile kTiles[] = {
#include "tuned/r09_autotuned.inc"
};

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return tile_for_device(kTiles).launch(p, o, stream);
}

extern const SearchSpace kSpace{"r09_autotuned", kParameters, kByHand, [](std::span<const int> v) {
                                  return v.size() == std::size(kParameters) &&
                                         Values{v[0], v[1], v[2], v[3], v[4], v[5]}.allowed();
                                }};

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r09_autotuned", "tile parameters searched under constraints", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r09_autotuned
