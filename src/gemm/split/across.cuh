// SPDX-License-Identifier: Apache-2.0
// Splits an M- or N-major operand into terms along k: tiles are transposed in shared memory.
#pragma once
#include "gemm/split/store_terms.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::split_detail {

// A block of kThreads threads writes the terms of kLines lines, in tiles of kEdge along k. Each
// thread counts its own elements.
template <int kLines, int kThreads>
struct AcrossTile {
  static constexpr int kQuadsOfLine = kEdge / 4, kLinesOfThread = kLines * kQuadsOfLine / kThreads;
  using Counts = StripCensus<kLinesOfThread>;

  // Writes the terms of the tile at (k, line) = (first, line0) from `s` (k, line). The padding
  // keeps columns free of bank conflicts.
  template <class F, bool kCount>
  __device__ __forceinline__ static void write(const SplitOperand& x,
                                               const float (&s)[kEdge][kLines + 1],
                                               const int (&sScale)[kLines], int line0, int first,
                                               int slabs, Counts& census) {
    const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < kLinesOfThread; ++i) {
      const int l = (tid + i * kThreads) / kQuadsOfLine, q = 4 * (tid % kQuadsOfLine),
                k = first + q;
      if (line0 + l >= x.lines || k >= slabs * F::BK) continue;
      const float four[4] = {s[q][l], s[q + 1][l], s[q + 2][l], s[q + 3][l]};
      store_quad<F, kCount>(words_of_line<F>(x, line0 + l, slabs), k, four, sScale[l],
                            [&](bool nonzero, float scaled, std::uint32_t second) {
                              census.template count<F>(i, nonzero, scaled, second);
                            });
    }
  }

  // Adds the counts to the lines' censuses, after all tiles.
  __device__ __forceinline__ static void add_counts(const SplitOperand& x,
                                                    Census (&sCensus)[kLines], int line0,
                                                    Counts& census) {
    const int tid = static_cast<int>(threadIdx.x);
    census.template add_lanes<kQuadsOfLine>();
#pragma unroll
    for (int i = 0; i < kLinesOfThread; ++i) {
      if (tid % kQuadsOfLine == 0) sCensus[(tid + i * kThreads) / kQuadsOfLine] = census.of_line(i);
    }
    __syncthreads();
    const int lane = tid % kLines, line = line0 + lane;
    if (tid / kLines == 0 && line < x.lines) x.gCensus[line].add_atomically(sCensus[lane]);
  }
};

}  // namespace ladder::split_detail
