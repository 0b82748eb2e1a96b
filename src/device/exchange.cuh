// SPDX-License-Identifier: Apache-2.0
// How blocks that share a tile along k add their sums: each but the last writes its own to device memory, the last one
// adds them in a fixed order. All waiting is for a block of lower number, see schedule.cuh.
#pragma once
#include "device/ptx/sync.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// What blocks hand to each other: the sums of the cut tile that a block begins and does not end.
struct Exchange {
  float* gPartial;   // (blocks, kPartial)
  unsigned* gReady;  // (blocks): 1 when written, 0 when read
};

// Hands this block's sums on. An element at a time: 128-bit stores would hold each four sums in neighbouring registers,
// in the banks of the operands that they are multiplied with, and halve the rate of the main loop.
template <class T>
__device__ __forceinline__ void hand_on(float (&rC)[T::TM][T::TN], const Exchange& x) {
  const int tid = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) gP[i * T::kConsumers] = rC[i / T::TN][i % T::TN];
  __threadfence();
  ptx::barrier_sync<1, T::kConsumers>();
  if (tid == 0) ptx::store_relaxed(x.gReady + block, 1);
}

// Adds what `block` has handed on.
template <class T>
__device__ __forceinline__ void take_in(float (&rC)[T::TM][T::TN], const Exchange& x, int block) {
  const int tid = static_cast<int>(threadIdx.x);
  while (__any_sync(0xffffffffU, ptx::load_acquire(x.gReady + block) == 0)) {
  }
  const float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) rC[i / T::TN][i % T::TN] += __ldcg(gP + i * T::kConsumers);
  ptx::barrier_sync<1, T::kConsumers>();
  if (tid == 0) ptx::store_relaxed(x.gReady + block, 0);
}

// Keeps sums of a chain of k in shared memory, and adds them to those of the next: each thread its own, a bank each.
template <class T>
__device__ __forceinline__ void keep(const float (&rC)[T::TM][T::TN], float* sKept) {
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) sKept[i * T::kConsumers + threadIdx.x] = rC[i % T::TM][i / T::TM];
}
template <class T>
__device__ __forceinline__ void add_kept(float (&rC)[T::TM][T::TN], const float* sKept) {
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) rC[i % T::TM][i / T::TM] += sKept[i * T::kConsumers + threadIdx.x];
}

}  // namespace ladder
