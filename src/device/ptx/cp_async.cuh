// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory, which bypass registers. One function per
// instruction; PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy".
#pragma once
#include "device/ptx/mbarrier.cuh"

#include <cstdint>

namespace ladder::ptx {

// cp.async: copies the first `bytes` of kBytes from g to s, both aligned to kBytes, and writes
// zeros in place of the others. bytes = 0 does not access g. Copies of 16 bytes bypass L1.
template <int kBytes>
__device__ __forceinline__ void cp_async_part(std::uint32_t s, const float* g, int bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "the sizes of cp.async; .cg only 16");
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(s), "l"(g), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(s), "l"(g), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
}
template <int kBytes>
__device__ __forceinline__ void cp_async(std::uint32_t s, const float* g, bool read = true) {
  cp_async_part<kBytes>(s, g, read ? kBytes : 0);
}
template <int kBytes>
__device__ __forceinline__ void cp_async(float* s, const float* g, bool read = true) {
  cp_async<kBytes>(shared_address(s), g, read);
}

// cp.async.commit_group: this thread's copies since the last commit become one group, which may be
// empty.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// cp.async.wait_group: until at most kPending of this thread's youngest groups are under way.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  static_assert(kPending >= 0, "a number of groups");
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// cp.async.mbarrier.arrive.noinc: arrives once all preceding copies of this thread have completed.
__device__ __forceinline__ void cp_async_arrive(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

}  // namespace ladder::ptx
