// SPDX-License-Identifier: Apache-2.0
// Barriers, fences and the election of a lane that only the library's kernels use. One function per
// instruction; PTX ISA, "barrier", "elect.sync", "mbarrier.inval", "membar, fence".
#pragma once
#include <cstdint>

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

// mbarrier.inval: the barrier's memory may be used otherwise.
__device__ __forceinline__ void mbarrier_invalidate(std::uint32_t barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// fence.proxy.async.global: orders this thread's accesses to global memory, and those of other
// threads that it has observed, before later asynchronous ones.
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace ladder::ptx
