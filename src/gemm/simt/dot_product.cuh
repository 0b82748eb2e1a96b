// SPDX-License-Identifier: Apache-2.0
// Products with few elements of C: the threads of a block share the k of one tile, read both
// operands directly to registers, all of them at once where k permits, and add their sums by
// shuffles and through shared memory. The time is that of a launch, one round of loads and the
// additions.
#pragma once
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/lane_sums.cuh"
#include "gemm/simt/part_sums.cuh"

namespace ladder {

// How a thread reads four k of an operand.
enum class DotLoads {
  kAlongK,   // 16 bytes along k, which is a multiple of four
  kAcrossK,  // 16 bytes across the tile's four vectors, which all exist
  kSingle,   // 4 bytes
};

// Reads kVectors vectors, `first` and those that follow, at k = k0, k0 + step, ... Elements from
// `end` on are zero; vectors beyond the last one are copies of it.
template <DotLoads kLoads, int kVectors>
__device__ __forceinline__ void load_dots(float (&to)[kVectors][4], const PartOperand& x, int first,
                                          int k0, int step, int end) {
  if constexpr (kLoads == DotLoads::kAcrossK) {
    static_assert(kVectors == 4);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int k = k0 + j * step;
      float of_k[4];
      set4(of_k, k < end ? load4(x.g + k * x.k_step + first) : float4{});
#pragma unroll
      for (int i = 0; i < kVectors; ++i) to[i][j] = of_k[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const float* const g = x.g + min(first + i, x.vectors - 1) * x.vector_step;
      if constexpr (kLoads == DotLoads::kAlongK) {
        set4(to[i], k0 < end ? load4(g + k0) : float4{});
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          to[i][j] = k0 + j * step < end ? g[(k0 + j * step) * x.k_step] : 0.0F;
      }
    }
  }
}

// M x N: the tile of a block. kAtOnce: groups of four k whose loads overlap. The four k are
// neighbours if an operand is read along k; else neighbouring threads read neighbours. The
// minimum of resident blocks lets ptxas use enough registers to issue a step's loads together.
template <int M, int N, int kAtOnce, DotLoads kLoadsA, DotLoads kLoadsB>
__global__ void __launch_bounds__(kMostDotThreads, 1)
    dot_product(const __grid_constant__ PartJob x) {
  constexpr bool kAlong = kLoadsA == DotLoads::kAlongK || kLoadsB == DotLoads::kAlongK;
  constexpr int kMostWarps = kMostDotThreads / 32;
  __shared__ float sums[kMostWarps][M * N];
  const int threads = static_cast<int>(blockDim.x), tid = static_cast<int>(threadIdx.x),
            tile = static_cast<int>(blockIdx.x), row0 = tile % x.tiles_m * M,
            col0 = tile / x.tiles_m * N, step = kAlong ? 1 : threads;
  wait_for_operands(x);
  float rC[M * N]{};
#pragma unroll 1
  for (int k = kAlong ? 4 * tid : tid; k < x.k; k += 4 * threads * kAtOnce) {
    float rA[kAtOnce][M][4], rB[kAtOnce][N][4];  // (group, vector, k)
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      load_dots<kLoadsA>(rA[u], x.a, row0, k + 4 * threads * u, step, x.k);
      load_dots<kLoadsB>(rB[u], x.b, col0, k + 4 * threads * u, step, x.k);
    }
#pragma unroll
    for (int j = 0; j < 4 * kAtOnce; ++j) {
#pragma unroll
      for (int i = 0; i < M * N; ++i)
        rC[i] = __fmaf_rn(rA[j / 4][i / N][j % 4], rB[j / 4][i % N][j % 4], rC[i]);
    }
  }
  add_lanes(rC, 16, 1, [&](int i, float sum) { sums[tid / 32][i] = sum; });
  __syncthreads();
  if (tid >= M * N) return;
  float sum = 0.0F;
#pragma unroll
  for (int warp = 0; warp < kMostWarps; ++warp) sum += warp < threads / 32 ? sums[warp][tid] : 0.0F;
  store1(x, row0 + tid / N, col0 + tid % N, sum);
}

}  // namespace ladder
