// SPDX-License-Identifier: Apache-2.0
// Named barriers and the election of a lane. One function per instruction; PTX ISA, "Parallel
// Synchronization and Communication Instructions: barrier, elect.sync".
#pragma once
#include <cuda_runtime.h>

namespace ladder::ptx {

// barrier.arrive: arrives at a named barrier without waiting.
__device__ __forceinline__ void barrier_arrive(int id, int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// elect.sync: true in one lane of a converged warp. ptxas treats what only that lane does as
// uniform and emits no loop over lanes around its copies.
__device__ __forceinline__ bool elect_one() {
  int elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.s32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

}  // namespace ladder::ptx
