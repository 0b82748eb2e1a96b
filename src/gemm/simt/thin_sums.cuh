// SPDX-License-Identifier: Apache-2.0
// Sums of a product with few rows: of the lanes of a warp, of the warps of a block, and of the
// blocks that share k.
#pragma once
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/part_sums.cuh"
#include "gemm/simt/sent_sums.cuh"

#include <cstdint>

namespace ladder {

// A block's k-split and columns.
struct ThinPlace {
  int part, tile, begin, end, column0;
  __device__ __forceinline__ ThinPlace(const PartJob& x, int columns) {
    part = static_cast<int>(blockIdx.x) % x.parts;
    tile = static_cast<int>(blockIdx.x) / x.parts;
    const std::int64_t steps = (x.k + kThinStep - 1) / kThinStep;
    begin = static_cast<int>(steps * part / x.parts) * kThinStep;
    end = min(x.k, static_cast<int>(steps * (part + 1) / x.parts) * kThinStep);
    column0 = tile * columns;
  }
};

// Adds each of `sums` over the lanes that differ in the bits from `far` down to `near`, and calls
// store(index, sum) once for each sum and each combination of the other bits. While there are
// several sums a lane keeps half of them and gives away the others.
template <int kCount, class Store>
__device__ __forceinline__ void add_lanes(float (&sums)[kCount], int far, int near, Store store,
                                          int index = 0) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (kCount > 1) {
    if (far < near) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) store(index + i, sums[i]);
      return;
    }
    constexpr int kHalf = kCount / 2;
    const bool upper = (lane & far) != 0;
    float kept[kHalf];
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float given = upper ? sums[i] : sums[i + kHalf];
      kept[i] = (upper ? sums[i + kHalf] : sums[i]) + __shfl_xor_sync(0xFFFFFFFFU, given, far);
    }
    add_lanes(kept, far / 2, near, store, index + (upper ? kHalf : 0));
  } else {
    const int same = far < near ? 0 : 2 * far - near;  // the lanes that get the same sum
    for (; far >= near; far /= 2) sums[0] += __shfl_xor_sync(0xFFFFFFFFU, sums[0], far);
    if ((lane & same) == 0) store(index, sums[0]);
  }
}

// Stores R x `columns` elements of C. sum_of(row, column) is this block's sum. The block of the
// last k-split waits for those of lower number and adds their sums.
template <int R, class SumOf>
__device__ __forceinline__ void store_thin(const PartJob& x, const ThinPlace& me, int log_columns,
                                           SumOf sum_of) {
  constexpr int kAtOnce = 8;
  const int sums = R << log_columns, tid = static_cast<int>(threadIdx.x), others = x.parts - 1;
  unsigned* const gTile = x.gSums + std::int64_t{me.tile} * others * sums;
  // Where there are fewer sums than threads, several threads share the k-splits of each, as many at
  // once as their loads overlap.
  const int threads =
      me.part < others ? 1 : max(1, min(kThinThreads / sums, (others + kAtOnce - 1) / kAtOnce));
  __shared__ float shares[kThinThreads];
  if (threads > 1) {
    float of_others = 0.0F;
    if (tid < threads * sums) {
      receive_sums<kAtOnce>(of_others, gTile + tid % sums, sums, others, tid / sums, threads);
      shares[tid] = of_others;
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int i = tid; i < sums; i += kThinThreads) {
    const int row = i >> log_columns, of_tile = i & ((1 << log_columns) - 1);
    float sum = sum_of(row, of_tile);
    if (me.part < others) {
      send_sum(gTile + std::int64_t{me.part} * sums + i, sum);
      continue;
    }
    if (threads > 1) {
      for (int other = 0; other < threads; ++other) sum += shares[other * sums + i];
    } else if (others > 0) {
      receive_sums<kAtOnce>(sum, gTile + i, sums, others);
    }
    store1(x, row, me.column0 + of_tile, sum);
  }
}

}  // namespace ladder
