// SPDX-License-Identifier: Apache-2.0
// Sums of a tile of C whose k is split among blocks. The blocks of a cluster send partial sums to
// each other's shared memory; each adds a share of the tile. Clusters send theirs to that of the
// last k-split. The order of additions is fixed by the shape.
#pragma once
#include "device/launch.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/vector.cuh"
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/sent_sums.cuh"
#include "gemm/simt/vector_copy.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace ladder {

// C (m, n), from m vectors of A and n vectors of B. Every tile is computed by `parts` clusters of
// `cluster` blocks, one k-split each.
struct PartJob {
  PartOperand a, b;
  float* gC;
  std::int64_t row_step, col_step;  // of C; one of them is 1
  bool aligned;  // aligned groups of four contiguous elements of C permit 128-bit stores
  int m, n, k;
  float alpha, beta;
  int tiles_m, cluster, parts;
  unsigned* gSums;  // (tiles, parts - 1, tile), for sums on their way (sent_sums.cuh)
  // Whether the dependent kernel is released at the start (releases_early()): every SM then has the
  // same number of its blocks. Those of a larger kernel would be placed where most room is, several
  // per SM, so that it is released after the main loop.
  bool early = false;
  int lanes = 0;  // of a product of few rows: log2 of the threads that share its columns
};

// Waits for the preceding kernel and releases the next one; if x.early, the next one first, so that
// several launches overlap.
__device__ __forceinline__ void wait_for_operands(const PartJob& x) {
  if (x.early) ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  ptx::launch_dependents();
}

// A block's tile, k-split and rank in the cluster.
struct PartPlace {
  int rank, part, tile;
  __device__ __forceinline__ PartPlace(const PartJob& x, int block) {
    const int rest = block / x.cluster;
    rank = block % x.cluster, part = rest % x.parts, tile = rest / x.parts;
  }
  // Of `steps` steps along k, this block computes those from first(x, steps) to first(x, steps, 1).
  __device__ __forceinline__ int first(const PartJob& x, int steps, int more = 0) const {
    return static_cast<int>(std::int64_t{steps} * (part * x.cluster + rank + more) /
                            (x.parts * x.cluster));
  }
};

// Stores an element of C.
__device__ __forceinline__ void store1(const PartJob& x, int row, int col, float sum) {
  if (row >= x.m || col >= x.n) return;
  store_scaled(x.gC + row * x.row_step + col * x.col_step, sum, x.alpha, x.beta);
}

// Stores four elements that are neighbours in memory, of which `left` are inside C.
__device__ __forceinline__ void store_four(const PartJob& x, float* g, int left, float4 sum) {
  float sums[4];
  set4(sums, sum);
  if (x.aligned && left >= 4) {
    store4_scaled<true>(g, sums, 4, x.alpha, x.beta);
  } else {
    store4_scaled<false>(g, sums, left, x.alpha, x.beta);
  }
}

// Stores four consecutive elements of a row of C.
__device__ __forceinline__ void store4(const PartJob& x, int row, int col, float4 sum) {
  if (row >= x.m || col >= x.n) return;
  float* const g = x.gC + row * x.row_step + col * x.col_step;
  if (x.col_step == 1) {
    store_four(x, g, x.n - col, sum);
    return;
  }
  const float of[4]{sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) store1(x, row, col + j, of[j]);
}

// A block's tile of C in memory: `lines` rows of C of at most `width` elements each, or columns if
// C is column-major. In shared memory, neighbours of a line are exchanged pairwise.
template <int BM, int BN>
struct PartOfC {
  static constexpr int kPadding = 4;  // between lines: neighbouring lanes' float4 differ in banks
  static constexpr int kSlab = std::max(BM * (BN + kPadding), BN*(BM + kPadding));  // floats
  static constexpr int kLogM = std::countr_zero(unsigned{BM}),
                       kLogN = std::countr_zero(unsigned{BN});
  static_assert(1 << kLogM == BM && 1 << kLogN == BN, "powers of two");
  bool by_row;
  int log_width, stride, lines, width;  // the last two without what is beyond C
  float* g;
  std::int64_t step;  // elements between lines
  __device__ __forceinline__ PartOfC(const PartJob& x, int row0, int col0)
      : by_row(x.col_step == 1),
        log_width(by_row ? kLogN : kLogM),
        stride((1 << log_width) + kPadding),
        lines(by_row ? min(BM, x.m - row0) : min(BN, x.n - col0)),
        width(by_row ? x.n - col0 : x.m - row0),
        g(x.gC + row0 * x.row_step + col0 * x.col_step),
        step(by_row ? x.row_step : x.col_step) {}
};

template <int kSlabs, int kSlab>
__device__ __forceinline__ float4 sum_of_slabs(const float* at) {
  float4 sum = load4(at);
#pragma unroll
  for (int i = 1; i < kSlabs; ++i) sum = sum + load4(at + i * kSlab);
  return make_float4(sum.y, sum.x, sum.w, sum.z);
}

// Stores the sums of `s` (kSlabs, lines, stride). Neighbouring threads store neighbours, V elements
// each: if every thread stored four elements of an unaligned C, every sector would be written four
// times.
template <int V, int BM, int BN, int kSlabs, int kThreads>
__device__ __forceinline__ void store_part(const PartJob& x, const PartOfC<BM, BN>& c,
                                           const float* s) {
  constexpr int kSlab = PartOfC<BM, BN>::kSlab;
  static_assert(kThreads >= BM && kThreads >= BN, "whole lines at once");
  const int tid = static_cast<int>(threadIdx.x), log_threads = c.log_width - (V == 4 ? 2 : 0);
  const int at = (tid & ((1 << log_threads) - 1)) * V, more = kThreads >> log_threads;
  if (at >= c.width) return;
  int line = tid >> log_threads;
  const float alpha = x.alpha, beta = x.beta;
  const float* from = s + line * c.stride + (V == 1 ? at ^ 1 : at);
  float* to = c.g + line * c.step + at;
  const int stride = more * c.stride;
  const std::int64_t step = more * c.step;
#pragma unroll 4
  for (; line < c.lines; line += more, from += stride, to += step) {
    if constexpr (V == 4) {
      float sums[4];
      set4(sums, sum_of_slabs<kSlabs, kSlab>(from));
      store4_scaled<true>(to, sums, 4, alpha, beta);
    } else {
      float sum = *from;
#pragma unroll
      for (int i = 1; i < kSlabs; ++i) sum += from[i * kSlab];
      store_scaled(to, sum, alpha, beta);
    }
  }
}

// The partial sums that a block receives from the others of its cluster. The memory has no other
// use, so that a block sends without waiting for the receiver.
struct ClusterSums {
  float* s;            // (blocks, share) float4
  std::uint32_t full;  // mbarrier

  // Precedes send() by any block.
  __device__ __forceinline__ void init() const {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(full, 1);
      ptx::fence_mbarrier_init();
    }
    __syncwarp();
    ptx::cluster_arrive_relaxed();
  }
  // Sends a vector to place `at` of block `rank`.
  __device__ __forceinline__ void send(int at, float4 sum, int rank) const {
    ptx::send4(ptx::shared_address_of(ptx::shared_address(s + at * 4), rank),
               {__float_as_uint(sum.x), __float_as_uint(sum.y), __float_as_uint(sum.z),
                __float_as_uint(sum.w)},
               ptx::shared_address_of(full, rank));
  }
};

// Adds `s` (kSlabs, lines, stride) of this block and of all others of the tile, and stores the
// tile. Called by all threads, after they have written their sums.
template <int BM, int BN, int kSlabs, int kThreads>
__device__ __forceinline__ void add_parts(const PartJob& x, const PartPlace& me,
                                          const PartOfC<BM, BN>& c, const float* s,
                                          const ClusterSums& received) {
  constexpr int kFloat4s = BM * BN / 4, kSlab = PartOfC<BM, BN>::kSlab;
  const int tid = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (x.cluster == 1 && x.parts == 1) {
    if (x.aligned && (c.by_row ? x.n : x.m) % 4 == 0) {
      store_part<4, BM, BN, kSlabs, kThreads>(x, c, s);
    } else {
      store_part<1, BM, BN, kSlabs, kThreads>(x, c, s);
    }
    return;
  }
  const int log_float4s = c.log_width - 2, inside = c.lines << log_float4s;
  constexpr int kLogFloat4s = PartOfC<BM, BN>::kLogM + PartOfC<BM, BN>::kLogN - 2;
  const int log_share = kLogFloat4s - __ffs(x.cluster) + 1, share = 1 << log_share,
            first = share * me.rank, end = min(inside, first + share);
  const auto of_block = [&](int i) {
    const int line = i >> log_float4s, at = (i & ((1 << log_float4s) - 1)) * 4;
    return sum_of_slabs<kSlabs, kSlab>(s + line * c.stride + at);
  };
  if (x.cluster > 1) {
    ptx::cluster_wait();
    if (tid == 0)
      ptx::mbarrier_arrive_expect(received.full, max(0, end - first) * (x.cluster - 1) * 16);
#pragma unroll 2
    for (int i = tid; i < inside; i += kThreads) {
      const int rank = i >> log_share;
      if (rank != me.rank) received.send(me.rank * share + (i & (share - 1)), of_block(i), rank);
    }
    ptx::mbarrier_wait(received.full, 0);
  }
  const int others = x.parts - 1;
  uint4* const gTile =
      reinterpret_cast<uint4*>(x.gSums) + std::int64_t{me.tile} * others * kFloat4s;
  constexpr int kUnrolled = kFloat4s > 2 * kThreads ? 2 : 1;
#pragma unroll kUnrolled
  for (int i = first + tid; i < end; i += kThreads) {
    const int line = i >> log_float4s, at = (i & ((1 << log_float4s) - 1)) * 4;
    float4 sum{};
    const float4 own = of_block(i);
    if (x.cluster == 1) {
      sum = own;
    } else {
#pragma unroll
      for (int block = 0; block < kMostCluster; ++block) {
        if (block < x.cluster)
          sum =
              sum + (block == me.rank ? own : load4(received.s + (block * share + i - first) * 4));
      }
    }
    if (me.part < others) {
      send_sum(gTile + std::int64_t{me.part} * kFloat4s + i, sum);
    } else {
      constexpr int kAtOnce = 8;
      receive_sums<kAtOnce>(sum, gTile + i, kFloat4s, others);
      store_four(x, c.g + line * c.step + at, c.width - at, sum);
    }
  }
}

}  // namespace ladder
