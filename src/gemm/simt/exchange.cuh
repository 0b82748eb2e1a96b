// SPDX-License-Identifier: Apache-2.0
// How blocks that share a tile along k add their sums: each but the last writes its own to device
// memory, the last one adds them in a fixed order. All waiting is for a block of lower number, see
// schedule.cuh.
#pragma once
#include "device/ptx/cluster.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// What blocks hand to each other: the sums of the cut tile that a block begins and does not end.
struct Exchange {
  float* gPartial;   // (blocks, kPartial)
  unsigned* gReady;  // (blocks, warps): 1 when written, 0 when read
};

// The flag of what a warp of `block` hands on. A warp takes in what the same warp of another block
// has handed on, so that warps need not wait for each other.
template <class T>
__device__ __forceinline__ unsigned* ready_flag(const Exchange& x, int block) {
  return x.gReady + block * (T::kConsumers / 32) + static_cast<int>(threadIdx.x) / 32;
}

// Hands this warp's sums on. An element at a time: 128-bit stores would hold each four sums in
// neighbouring registers, in the banks of the operands that they are multiplied with, and halve the
// rate of the main loop.
template <class T>
__device__ __forceinline__ void hand_on(float (&rC)[T::TM][T::TN], const Exchange& x) {
  const int tid = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) gP[i * T::kConsumers] = rC[i / T::TN][i % T::TN];
  __threadfence();
  __syncwarp();
  if (tid % 32 == 0) ptx::store_relaxed(ready_flag<T>(x, block), 1);
}

// Adds what `block` has handed on.
template <class T>
__device__ __forceinline__ void take_in(float (&rC)[T::TM][T::TN], const Exchange& x, int block) {
  const int tid = static_cast<int>(threadIdx.x);
  unsigned* const gReady = ready_flag<T>(x, block);
  while (__any_sync(0xffffffffU, ptx::load_acquire(gReady) == 0)) {
  }
  const float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i)
    rC[i / T::TN][i % T::TN] += __ldcg(gP + i * T::kConsumers);
  __syncwarp();
  if (tid % 32 == 0) ptx::store_relaxed(gReady, 0);
}

// Shared memory for a warp's sums, an element of them each lane in turn: each thread has its own,
// in a bank each.
template <class T>
__device__ __forceinline__ float* kept_by_warp(float* sKept) {
  return sKept + threadIdx.x / 32 * (32 * T::TM * T::TN);
}

// Keeps sums of a chain of k in shared memory, and adds them to those of the next.
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
