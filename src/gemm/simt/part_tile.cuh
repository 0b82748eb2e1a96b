// SPDX-License-Identifier: Apache-2.0
// The product of a small tile of C over one k-split, on CUDA cores.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/shared_memory.cuh"
#include "gemm/simt/part_sums.cuh"
#include "gemm/simt/vector_copy.cuh"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

namespace ladder {

// A warp has kLanesM x kLanesN lanes with TM x TN sums each. WM x WN warps cover the tile, and WK
// groups of them split k.
template <bool kAlongK_, int TM_, int TN_, int kLanesM_, int kLanesN_, int WM_, int WN_, int WK_,
          int BK_, int STAGES_, int kBlocksOfSm_>
struct PartTile {
  static constexpr int TM = TM_, TN = TN_, kLanesM = kLanesM_, kLanesN = kLanesN_, WM = WM_,
                       WN = WN_, WK = WK_, STAGES = STAGES_;
  static constexpr bool kAlongK =
      kAlongK_;  // A is K-major; B is not, or is transposed as it is copied
  static constexpr int BM = TM * kLanesM * WM, BN = TN * kLanesN * WN, BK = BK_;
  static constexpr int kThreads = 32 * WM * WN * WK, kBlocksOfSm = kBlocksOfSm_,
                       kStepsOfWarp = BK / WK;
  static_assert(kLanesM * kLanesN == 32 && kLanesM > 1 && TM % 4 == 0 && TN % 4 == 0,
                "all lanes, float4 of sums");
  static_assert(kStepsOfWarp % (kAlongK ? 4 : 2) == 0, "fragments alternate");
  template <Copies kCopies>
  using CopierA = std::conditional_t<kAlongK, KMajorCopier<BM, BK, kThreads, kCopies>,
                                     VectorCopier<BM, BK, kThreads, kCopies>>;
  template <Copies kCopies>
  using CopierB = VectorCopier<BN, BK, kThreads, kCopies>;
  static constexpr int kStageFloats =
      CopierA<Copies::kWide>::kFloats + CopierB<Copies::kWide>::kFloats;
  static constexpr int kFloats = std::max(STAGES * kStageFloats, WK* PartOfC<BM, BN>::kSlab);
  // Of a block, and of one in a cluster.
  static constexpr int kBytes = kFloats * 4, kClusterBytes = kBytes + BM * BN * 4;
  static constexpr int bytes(int cluster) { return cluster > 1 ? kClusterBytes : kBytes; }
  // Lanes i and i ^ 1 share rows of A, and lanes i and i ^ 2 share columns of B: a warp's 16-byte
  // shared loads then take two wavefronts instead of four.
  static __device__ __forceinline__ int lane_m(int lane) {
    return lane / 2 % 2 + lane / (2 * kLanesN) * 2;
  }
  static __device__ __forceinline__ int lane_n(int lane) {
    return lane % 2 + lane / 4 % (kLanesN / 2) * 2;
  }
};

// The share of block number `block` in a product.
template <class T, Copies kCopiesA, Copies kCopiesB>
__device__ __forceinline__ void multiply_part(const PartJob& x, int block) {
  using CopierA = typename T::template CopierA<kCopiesA>;
  using CopierB = typename T::template CopierB<kCopiesB>;
  extern __shared__ __align__(16) float s[];
  // Indices of this warp and lane
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const PartPlace me(x, block);
  const int row0 = me.tile % x.tiles_m * T::BM, col0 = me.tile / x.tiles_m * T::BN;
  const int turn = warp % T::WK, of_tile = warp / T::WK;
  const int lane_m = T::lane_m(lane), lane_n = T::lane_n(lane);
  const int row = of_tile % T::WM * (T::TM * T::kLanesM),
            col = of_tile / T::WM * (T::TN * T::kLanesN);
  const int steps = (x.k + T::BK - 1) / T::BK;
  const int begin = me.first(x, steps), end = me.first(x, steps, 1);

  __shared__ std::uint64_t received;
  const ClusterSums sums{s + T::kFloats, ptx::shared_address(&received)};
  if (x.cluster > 1) sums.init();
  CopierA copier_a(x.a, row0, begin * T::BK);
  CopierB copier_b(x.b, col0, begin * T::BK);
  ptx::wait_for_prerequisites();
  if (x.early) ptx::launch_dependents();
  const std::uint32_t shared = ptx::shared_address(s);
  const auto load = [&](std::uint32_t into, int step) {
    if (step < end) {
      copier_a.copy(into, x.k - step * T::BK);
      copier_b.copy(into + CopierA::kFloats * 4, x.k - step * T::BK);
    }
    ptx::cp_async_commit();
  };
  // A warp multiplies one step of k per turn. b holds the columns of B of this turn and the next; a
  // holds the rows of A of both, or, if A is K-major, of four turns.
  float a[T::kAlongK ? T::TM : 2][T::kAlongK ? 4 : T::TM], b[2][T::TN];
  constexpr int kFour = T::kAlongK ? 4 : 1;
  const std::uint32_t from_a = (T::kAlongK ? (row + lane_m * 4) * CopierA::kStride + turn * 4
                                           : turn * CopierA::kStride + row + lane_m * 4) *
                               4;
  const std::uint32_t from_b =
      (CopierA::kFloats + turn * kFour * CopierB::kStride + col + lane_n * 4) * 4;
  const auto read_b = [&](std::uint32_t stage, int i, int to) {
    const int k = i / kFour * kFour * T::WK + i % kFour;
#pragma unroll
    for (int j = 0; j < T::TN; j += 4)
      ptx::load_shared4(&b[to][j], stage + from_b + (k * CopierB::kStride + j * T::kLanesN) * 4);
  };
  const auto read_a = [&](std::uint32_t stage, int i, int to) {
    if constexpr (T::kAlongK) {  // `to` is a vector
      ptx::load_shared4(
          a[to], stage + from_a + (index_of<T::kLanesM>(0, to) * CopierA::kStride + i * T::WK) * 4);
    } else {
#pragma unroll
      for (int j = 0; j < T::TM; j += 4)
        ptx::load_shared4(&a[to][j],
                          stage + from_a + (i * T::WK * CopierA::kStride + j * T::kLanesM) * 4);
    }
  };
  float acc[T::TM][T::TN]{};
#pragma unroll 1
  for (int i = 0; i < T::STAGES - 1; ++i) load(shared + i * (T::kStageFloats * 4), begin + i);
  ptx::cp_async_wait<T::STAGES - 2>();
  __syncthreads();
  if (begin < end) {
    read_b(shared, 0, 0);
#pragma unroll
    for (int i = 0; i < (T::kAlongK ? T::TM : 1); ++i) read_a(shared, 0, i);
  }
  // Main loop
  std::uint32_t stage = shared, before = shared + (T::STAGES - 1) * (T::kStageFloats * 4);
#pragma unroll 1
  for (int step = begin; step < end; ++step) {
    load(before, step + T::STAGES - 1);
    const std::uint32_t next = stage == shared + (T::STAGES - 1) * (T::kStageFloats * 4)
                                   ? shared
                                   : stage + T::kStageFloats * 4;
#pragma unroll
    for (int turns = 0; turns < T::kStepsOfWarp; ++turns) {
      if (turns == T::kStepsOfWarp - 1) {
        ptx::cp_async_wait<T::STAGES - 2>();
        __syncthreads();
      }
      const bool rest = turns < T::kStepsOfWarp - 1;
      const std::uint32_t from = rest ? stage : next;
      const int i_next = rest ? turns + 1 : 0, now = turns % 2;
      read_b(from, i_next, 1 - now);
      if constexpr (!T::kAlongK) read_a(from, i_next, 1 - now);
#pragma unroll
      for (int i = 0; i < T::TM; ++i) {
        const float of_a = T::kAlongK ? a[i][turns % 4] : a[now][i];
#pragma unroll
        for (int j = 0; j < T::TN;
             ++j) {  // alternating direction, which reuses an operand register at once
          const int jj = i % 2 == 0 ? j : T::TN - 1 - j;
          acc[i][jj] += of_a * b[now][jj];
        }
        if (T::kAlongK && turns % 4 == 3) read_a(from, i_next, i);
      }
    }
    before = stage;
    stage = next;
  }

  // Epilogue
  ptx::launch_dependents();
  __syncthreads();
  const PartOfC<T::BM, T::BN> c(x, row0, col0);
  const std::uint32_t slab = shared + turn * (c.kSlab * 4);
  const auto store = [&](int line, int at, float4 sums) {
    ptx::store_shared4(slab + (line * c.stride + at) * 4, sums.y, sums.x, sums.w, sums.z);
  };
  const int first_row = row + lane_m * 4, first_col = col + lane_n * 4;
  if (c.by_row) {
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
#pragma unroll
      for (int j = 0; j < T::TN; j += 4)
        store(first_row + index_of<T::kLanesM>(0, i), first_col + index_of<T::kLanesN>(0, j),
              float4_of(&acc[i][j]));
    }
  } else {
    // The sums of one 128-bit store are neighbouring registers throughout the main loop. With both
    // forms of the store, more multiply-adds would have operands in one register bank. ptxas does
    // not know that `zero` is 0, so that this form stores other values.
    const unsigned zero = min(x.m, 0);
    const auto copy = [&](float sum) { return __uint_as_float(__float_as_uint(sum) ^ zero); };
#pragma unroll
    for (int j = 0; j < T::TN; ++j) {
#pragma unroll
      for (int i = 0; i < T::TM; i += 4)
        store(first_col + index_of<T::kLanesN>(0, j), first_row + index_of<T::kLanesM>(0, i),
              {copy(acc[i][j]), copy(acc[i + 1][j]), copy(acc[i + 2][j]), copy(acc[i + 3][j])});
    }
  }
  add_parts<T::BM, T::BN, T::WK, T::kThreads>(x, me, c, s, sums);
}

template <class T, Copies kA, Copies kB>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm)
    part_tile(const __grid_constant__ PartJob x) {
  multiply_part<T, kA, kB>(x, static_cast<int>(blockIdx.x));
}

// Elements between the products of a batch, and blocks of each.
struct PartStrides {
  std::int64_t a, b, c;
  int blocks;
};

// The products of a batch, one after another. Their k is not split among clusters.
template <class T, Copies kA, Copies kB>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm)
    part_tile_of_batch(const __grid_constant__ PartJob first,
                       const __grid_constant__ PartStrides stride) {
  const auto block = static_cast<int>(blockIdx.x), number = block / stride.blocks;
  PartJob x = first;
  x.a.g += number * stride.a;
  x.b.g += number * stride.b;
  x.gC += number * stride.c;
  x.parts = 1;
  multiply_part<T, kA, kB>(x, block % stride.blocks);
}

// The result of visit.operator()<kA, kB>() with the copies of the job's operands.
template <class T, class Visit>
auto with_copies(const PartJob& x, Visit visit) {
  using enum Copies;
  const auto of_vectors = [](const PartOperand& side) {
    if (side.vector_step == 1 && side.aligned && side.vectors % 4 == 0) return kWide;
    return side.k_step == 1 ? kAlongK : kAcrossK;
  };
  const Copies a = !T::kAlongK ? of_vectors(x.a) : x.a.aligned && x.k % 4 == 0 ? kWide : kAlongK;
  const Copies b = of_vectors(x.b);
  const auto with_b = [&]<Copies kA>() {
    return b == kWide     ? visit.template operator()<kA, kWide>()
           : b == kAlongK ? visit.template operator()<kA, kAlongK>()
                          : visit.template operator()<kA, kAcrossK>();
  };
  if (a == kWide) return with_b.template operator()<kWide>();
  if constexpr (!T::kAlongK) {
    if (a == kAcrossK) return with_b.template operator()<kAcrossK>();
  }
  return with_b.template operator()<kAlongK>();
}

// The results of `visit(std::type_identity<Tile>, of_batch)`, one per tile of kPartTiles, with
// of_batch as a constant.
template <class Visit>
constexpr auto part_tiles(Visit visit) {
  return std::array{
#define LADDER_PART_TILE(k_major, TM, TN, lanes_m, lanes_n, WM, WN, WK, BK, STAGES, blocks, \
                         of_clusters, of_batch, ...)                                        \
  visit(std::type_identity<                                                                 \
            PartTile<k_major, TM, TN, lanes_m, lanes_n, WM, WN, WK, BK, STAGES, blocks>>{}, \
        std::bool_constant<of_batch>{}),
#include "gemm/plan/part_tiles.inc"
#undef LADDER_PART_TILE
  };
}

}  // namespace ladder
