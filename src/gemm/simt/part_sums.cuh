// SPDX-License-Identifier: Apache-2.0
// Sums of a tile of C whose k is split among blocks. The blocks of a cluster add their partial sums
// through distributed shared memory. Clusters send theirs to that of the last k-split. The order of
// additions is fixed by the shape.
#pragma once
#include "device/ptx/cluster.cuh"
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/vector.cuh"
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/sent_sums.cuh"
#include "gemm/simt/vector_copy.cuh"

#include <cuda_runtime.h>

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
  int lanes = 0;    // of a product of few rows: log2 of the threads that share its columns
};

// A block's tile, k-split and rank in the cluster.
struct PartPlace {
  int rank, part, tile;
  __device__ __forceinline__ PartPlace(const PartJob& x, int block) {
    const int rest = block / x.cluster;
    rank = block % x.cluster, part = rest % x.parts, tile = rest / x.parts;
  }
  // This block computes steps first() to first(.., 1) of `steps` along k.
  __device__ __forceinline__ int first(const PartJob& x, int steps, int more = 0) const {
    return static_cast<int>(std::int64_t{steps} * (part * x.cluster + rank + more) /
                            (x.parts * x.cluster));
  }
};

// Stores an element of C.
__device__ __forceinline__ void store1(const PartJob& x, int row, int col, float sum) {
  if (row >= x.m || col >= x.n) return;
  float* const g = x.gC + row * x.row_step + col * x.col_step;
  *g = x.beta == 0.0F ? x.alpha * sum : x.alpha * sum + x.beta * *g;
}

// Stores four consecutive elements of a row of C.
__device__ __forceinline__ void store4(const PartJob& x, int row, int col, float4 sum) {
  if (row >= x.m || col >= x.n) return;
  float* const g = x.gC + row * x.row_step + col * x.col_step;
  const auto scaled = [&](float of, float before) {
    return x.beta == 0.0F ? x.alpha * of : x.alpha * of + x.beta * before;
  };
  if (x.aligned && x.col_step == 1 && col + 4 <= x.n) {
    float4 c = make_float4(0, 0, 0, 0);
    if (x.beta != 0.0F) c = *reinterpret_cast<const float4*>(g);
    *reinterpret_cast<float4*>(g) =
        make_float4(scaled(sum.x, c.x), scaled(sum.y, c.y), scaled(sum.z, c.z), scaled(sum.w, c.w));
    return;
  }
  const float of[4]{sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) store1(x, row, col + j, of[j]);
}

// Adds `s` (kSlabs, BM, kStride) of this block and of all others of the tile at (row0, col0), and
// stores the tile. kSwapped: neighbours in a row are exchanged pairwise. Called by all threads,
// after they have written their sums.
template <int BM, int BN, int kStride, int kSlabs, int kThreads, bool kSwapped>
__device__ __forceinline__ void add_parts(const PartJob& x, const PartPlace& me, float* s, int row0,
                                          int col0) {
  constexpr int kFloat4s = BM * BN / 4, kSlab = BM * kStride;
  static_assert(BN % 4 == 0 && kStride % 4 == 0, "whole float4 per row");
  const int tid = static_cast<int>(threadIdx.x);
  struct Four {
    int row, col;
  };
  const auto four = [&](int i) -> Four {  // along C in memory
    if (x.col_step == 1) return {i / (BN / 4), i % (BN / 4) * 4};
    return {i % BM, i / BM * 4};
  };
  const auto of_slabs = [&](const float* at) {
    float4 sum = *reinterpret_cast<const float4*>(at);
#pragma unroll
    for (int i = 1; i < kSlabs; ++i) sum = sum + *reinterpret_cast<const float4*>(at + i * kSlab);
    return sum;
  };
  const auto in_order = [](float4 v) { return kSwapped ? make_float4(v.y, v.x, v.w, v.z) : v; };
  // Float4 that are not wholly beyond C, in the order of four(): those beyond C come last.
  const int inside =
      x.col_step == 1 ? min(BM, x.m - row0) * (BN / 4) : (min(BN, x.n - col0) + 3) / 4 * BM;
  __syncthreads();
  if (x.cluster == 1 && x.parts == 1) {
    if (x.col_step == 1 && !x.aligned) {
      // Neighbouring threads store neighbours: threads that stored four elements each, one by one,
      // would write every sector of C four times.
#pragma unroll 4
      for (int i = tid; i < 4 * inside; i += kThreads) {
        const float* const at = s + i / BN * kStride + (kSwapped ? i % BN ^ 1 : i % BN);
        float sum = *at;
#pragma unroll
        for (int slab = 1; slab < kSlabs; ++slab) sum += at[slab * kSlab];
        store1(x, row0 + i / BN, col0 + i % BN, sum);
      }
      return;
    }
#pragma unroll 4
    for (int i = tid; i < inside; i += kThreads) {
      const Four at = four(i);
      store4(x, row0 + at.row, col0 + at.col, in_order(of_slabs(s + at.row * kStride + at.col)));
    }
    return;
  }
  std::uint32_t of_block[kMostCluster];  // addresses of the blocks' sums
  if (x.cluster > 1) {
    if constexpr (kSlabs > 1) {
#pragma unroll 4
      for (int i = tid * 4; i < kSlab; i += kThreads * 4)
        *reinterpret_cast<float4*>(s + i) = of_slabs(s + i);
    }
    ptx::cluster_sync();
#pragma unroll
    for (int block = 0; block < kMostCluster; ++block)
      of_block[block] = ptx::shared_address_of(ptx::shared_address(s), min(block, x.cluster - 1));
  }
  const int share = (inside + x.cluster - 1) / x.cluster, first = share * me.rank,
            end = min(inside, first + share);
  const int others = x.parts - 1;
  uint4* const gTile =
      reinterpret_cast<uint4*>(x.gSums) + std::int64_t{me.tile} * others * kFloat4s;
#pragma unroll 2
  for (int i = first + tid; i < end; i += kThreads) {
    const Four at = four(i);
    const int offset = at.row * kStride + at.col;
    float4 sum = make_float4(0, 0, 0, 0);
    if (x.cluster == 1) {
      sum = of_slabs(s + offset);
    } else {
#pragma unroll
      for (int block = 0; block < kMostCluster; ++block) {
        if (block < x.cluster) sum = sum + ptx::load_cluster4(of_block[block] + 4 * offset);
      }
    }
    sum = in_order(sum);
    if (me.part < others) {
      send_sum(gTile + std::int64_t{me.part} * kFloat4s + i, sum);
    } else {
      constexpr int kAtOnce = 8;
      receive_sums<kAtOnce>(sum, gTile + i, kFloat4s, others);
      store4(x, row0 + at.row, col0 + at.col, sum);
    }
  }
  if (x.cluster > 1) ptx::cluster_sync();  // no block exits while others read
}

}  // namespace ladder
