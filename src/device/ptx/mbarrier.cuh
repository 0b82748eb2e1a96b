// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory that threads and asynchronous copies arrive at. One function an
// instruction; PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". A
// barrier is named by its shared address.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::ptx {

// mbarrier.init: `arrivals` a phase.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// fence.mbarrier_init: what was initialised is seen by asynchronous copies.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// mbarrier.arrive: what this thread did before is seen by those that wait for the phase.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive.expect_tx: arrives, and the phase waits for so many bytes of asynchronous copies
// besides.
__device__ __forceinline__ void mbarrier_arrive_expect(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// mbarrier.try_wait.parity: whether the phase of this parity is complete; may sleep a while before
// it says no.
__device__ __forceinline__ bool mbarrier_try_wait(std::uint32_t barrier, std::uint32_t parity) {
  int done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; "
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void mbarrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

// cp.async.bulk, global to shared: `bytes` bytes, which complete on `barrier`. Both addresses and
// `bytes` are multiples of 16.
__device__ __forceinline__ void bulk_load(std::uint32_t to, const void* g, std::uint32_t barrier,
                                          int bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(g), "r"(bytes), "r"(barrier)
      : "memory");
}

// cp.async.mbarrier.arrive.noinc: an arrival of this thread, made when its copies so far have
// landed.
__device__ __forceinline__ void cp_async_arrive(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

}  // namespace ladder::ptx
