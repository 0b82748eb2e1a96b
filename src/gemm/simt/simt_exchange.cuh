// SPDX-License-Identifier: Apache-2.0
// Partial sums of a warp of simt_tiles: forwarded to the next block through device memory, or kept
// in shared memory between two chains of additions.
#pragma once
#include "gemm/partial_sums.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// A warp accumulates the sums of the same warp of another block, so that warps need not wait for
// each other.
template <class T>
struct WarpOf {
  int tid;
  __device__ __forceinline__ unsigned* flag(const Exchange& x, int block) const {
    return x.gReady + block * (T::kConsumers / 32) + static_cast<int>(threadIdx.x) / 32;
  }
  __device__ __forceinline__ void sync() const { __syncwarp(); }
  __device__ __forceinline__ bool leads() const { return tid % 32 == 0; }
};

// Forwards this warp's partial sums. An element at a time: for 128-bit
// stores ptxas would hold each four sums in neighbouring registers, in the banks of the operands
// that they are multiplied with, and the main loop would run at half its rate.
template <class T>
__device__ __forceinline__ void forward_partial(float (&rC)[T::TM][T::TN], const Exchange& x) {
  const int tid = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) gP[i * T::kConsumers] = rC[i / T::TN][i % T::TN];
  announce_partial(WarpOf<T>{tid}, x, block);
}

// Accumulates the partial sums of `block`.
template <class T>
__device__ __forceinline__ void accumulate_partial(float (&rC)[T::TM][T::TN], const Exchange& x,
                                                   int block) {
  const int tid = static_cast<int>(threadIdx.x);
  consume_partial(WarpOf<T>{tid}, x, block, [&] {
    const float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
    for (int i = 0; i < T::TM * T::TN; ++i)
      rC[i / T::TN][i % T::TN] += __ldcg(gP + i * T::kConsumers);
  });
}

// Shared memory for a warp's sums: element i of all lanes, then element i + 1. Each thread accesses
// its own bank.
template <class T>
__device__ __forceinline__ float* kept_by_warp(float* sKept) {
  return sKept + threadIdx.x / 32 * (32 * T::TM * T::TN);
}

// Keeps the sums of one chain of additions in shared memory and adds them to those of the next.
template <class T>
__device__ __forceinline__ void keep(const float (&rC)[T::TM][T::TN], float* sKept) {
  float* const s = kept_by_warp<T>(sKept) + threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) s[i * 32] = rC[i % T::TM][i / T::TM];
}
template <class T>
__device__ __forceinline__ void add_kept(float (&rC)[T::TM][T::TN], float* sKept) {
  const float* const s = kept_by_warp<T>(sKept) + threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) rC[i % T::TM][i / T::TM] += s[i * 32];
}

}  // namespace ladder
