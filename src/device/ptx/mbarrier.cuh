// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory, named by shared address. One function per instruction; PTX ISA,
// "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once
#include <cstdint>

namespace ladder::ptx {

__device__ __forceinline__ std::uint32_t shared_address(const void* s) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(s));
}

// mbarrier.init: a phase completes after `arrivals` arrivals.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// fence.mbarrier_init: asynchronous copies see the initialised barriers.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// mbarrier.arrive: threads that wait for the phase see what this thread did before.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive.expect_tx: arrives; the phase also waits for `bytes` bytes of copies.
__device__ __forceinline__ void mbarrier_arrive_expect(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// mbarrier.try_wait.parity: whether the phase of this parity is complete; may sleep first.
__device__ __forceinline__ bool mbarrier_try_wait(std::uint32_t barrier, std::uint32_t parity) {
  int done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
      "selp.s32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void mbarrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace ladder::ptx
