// SPDX-License-Identifier: Apache-2.0
// The last few rows and columns of C beyond whole tiles. One more tile in each direction would be
// nearly empty, and at m = n = 513 it would make two waves of one. Extra blocks, after those of the
// tiles, compute 32 elements of such a row or column each.
#pragma once
#include "device/ptx/dependent.cuh"
#include "gemm/simt/part_sums.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

constexpr int kEdgeVectors = 32;  // of the other operand, per block

// Blocks for the rows from edge_m on and the columns from edge_n on.
inline std::int64_t edge_blocks(const PartJob& x) {
  const auto chunks = [](std::int64_t vectors) {
    return (vectors + kEdgeVectors - 1) / kEdgeVectors;
  };
  return (x.m - x.edge_m) * chunks(x.n) + (x.n - x.edge_n) * chunks(x.edge_m);
}

// Whether this is an extra block, without a tile.
__device__ __forceinline__ bool is_edge(const PartJob& x) {
  return x.edge_at > 0 && static_cast<int>(blockIdx.x) >= x.edge_at;
}

namespace part_detail {

// Dot product of vector `one` of p and vector `first` + lane of q, returned in the first warp, for
// a q that is not K-major. Lanes read contiguous elements; the warps split k.
template <int kThreads>
__device__ __forceinline__ float sum_across(const PartOperand& p, int one, const PartOperand& q,
                                            int first, int k, float* s) {
  constexpr int kWarps = kThreads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const float* const gP = p.g + one * p.vector_step;
  const float* const gQ = q.g + min(first + lane, q.vectors - 1);
  float sum = 0;
#pragma unroll 16
  for (int at = warp; at < k; at += kWarps) sum += gP[at * p.k_step] * gQ[at * q.k_step];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (warp > 0) return 0;
  for (int i = 1; i < kWarps; ++i) sum += s[i * 32 + lane];
  return sum;
}

// The same for a K-major q, whose lanes split k. Lane i % (32 / warps) of warp i / (32 / warps)
// receives the result of vector `first` + i.
template <int kThreads>
__device__ __forceinline__ float sum_along(const PartOperand& p, int one, const PartOperand& q,
                                           int first, int k) {
  constexpr int kEach = kEdgeVectors / (kThreads / 32);  // vectors per warp
  const int lane = static_cast<int>(threadIdx.x) % 32,
            vector0 = first + static_cast<int>(threadIdx.x) / 32 * kEach;
  const float* const gP = p.g + one * p.vector_step;
  float sum[kEach]{};
#pragma unroll 2
  for (int at = lane; at < k; at += 32) {
    const float of_p = gP[at * p.k_step];
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      sum[i] += of_p * q.g[min(vector0 + i, q.vectors - 1) * q.vector_step + at];
  }
  float mine = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum[i] += __shfl_xor_sync(0xFFFFFFFFU, sum[i], distance);
    mine = lane == i ? sum[i] : mine;
  }
  return mine;
}

}  // namespace part_detail

// Computes this block's 32 elements of a row or a column. s: (kThreads).
template <int kThreads>
__device__ __forceinline__ void multiply_edge(const PartJob& x, float* s) {
  constexpr int kEach = kEdgeVectors / (kThreads / 32);
  int block = static_cast<int>(blockIdx.x) - x.edge_at;
  const int chunks_n = (x.n + kEdgeVectors - 1) / kEdgeVectors,
            of_rows = (x.m - x.edge_m) * chunks_n;
  const bool is_row = block < of_rows;
  if (!is_row) block -= of_rows;
  const int many = is_row ? x.n : x.edge_m, chunks = (many + kEdgeVectors - 1) / kEdgeVectors;
  const int one = (is_row ? x.edge_m : x.edge_n) + block / chunks,
            first = block % chunks * kEdgeVectors;
  if (one >= (is_row ? x.m : x.n)) return;  // surplus blocks of the last cluster
  const PartOperand p = is_row ? x.a : x.b, q = is_row ? x.b : x.a;
  ptx::wait_for_prerequisites();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const bool across = q.vector_step == 1;
  const float sum = across ? part_detail::sum_across<kThreads>(p, one, q, first, x.k, s)
                           : part_detail::sum_along<kThreads>(p, one, q, first, x.k);
  const int vector = first + (across ? lane : warp * kEach + lane);
  if (vector >= many || (across ? warp > 0 : lane >= kEach)) return;
  store1(x, is_row ? one : vector, is_row ? vector : one, sum);
}

}  // namespace ladder
