// SPDX-License-Identifier: Apache-2.0
// Splits an M- or N-major operand into terms along k: tiles are transposed in shared memory.
#pragma once
#include "gemm/split/store_terms.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::split_detail {

// A block of kThreads threads writes the terms of kVectors vectors, in tiles of kEdge along k. Each
// thread counts its own elements.
template <int kVectors, int kThreads>
struct AcrossTile {
  static constexpr int kFloat4sOfVector = kEdge / 4,
                       kVectorsOfThread = kVectors * kFloat4sOfVector / kThreads;
  using Counts = StripCensus<kVectorsOfThread>;

  // Writes the terms of the tile at (k, vector) = (first, vector0) from `s` (k, vector). The
  // padding keeps columns free of bank conflicts.
  template <class F, bool kCount>
  __device__ __forceinline__ static void write(const SplitOperand& x,
                                               const float (&s)[kEdge][kVectors + 1],
                                               const int (&sScale)[kVectors], int vector0,
                                               int first, int slabs, Counts& census) {
    const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < kVectorsOfThread; ++i) {
      const int l = (tid + i * kThreads) / kFloat4sOfVector, q = 4 * (tid % kFloat4sOfVector),
                k = first + q;
      if (vector0 + l >= x.vectors || k >= slabs * F::BK) continue;
      const float four[4] = {s[q][l], s[q + 1][l], s[q + 2][l], s[q + 3][l]};
      store_terms<F, kCount>(terms_of<F>(x, vector0 + l, slabs), k, four, sScale[l],
                             [&](bool nonzero, float scaled, std::uint32_t second) {
                               census.template count<F>(i, nonzero, scaled, second);
                             });
    }
  }

  // Adds the counts to the vectors' censuses, after all tiles.
  __device__ __forceinline__ static void add_counts(const SplitOperand& x,
                                                    Census (&sCensus)[kVectors], int vector0,
                                                    Counts& census) {
    const int tid = static_cast<int>(threadIdx.x);
    census.template add_lanes<kFloat4sOfVector>();
#pragma unroll
    for (int i = 0; i < kVectorsOfThread; ++i) {
      if (tid % kFloat4sOfVector == 0)
        sCensus[(tid + i * kThreads) / kFloat4sOfVector] = census.of_vector(i);
    }
    __syncthreads();
    const int lane = tid % kVectors, vector = vector0 + lane;
    if (tid / kVectors == 0 && vector < x.vectors) x.gCensus[vector].add_atomically(sCensus[lane]);
  }
};

}  // namespace ladder::split_detail
