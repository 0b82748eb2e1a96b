// SPDX-License-Identifier: Apache-2.0
// For memory whose use changes within one kernel. One function per instruction;
// PTX ISA, "mbarrier.inval" and "membar, fence: fence.proxy.async".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::ptx {

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
