// SPDX-License-Identifier: Apache-2.0
// What kernels that load by tensor maps share: one mbarrier, on which thread 0 awaits bytes.
#pragma once
#include <cuda.h>

#include <cstdint>

__device__ inline unsigned address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ inline void fence_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void expect(std::uint64_t* full, int bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(full)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(full)),
               "r"(bytes)
               : "memory");
}
__device__ inline void wait(std::uint64_t* full) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
        " selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address(full))
        : "memory");
  }
}

// The place of a 16-bit element of a row in shared memory: rows one after the other, with a swizzle
// at a distance of its span; the number of a 16-byte chunk in the span XOR the number of its 128
// bytes.
inline unsigned place_of(CUtensorMapSwizzle swizzle, unsigned elements, unsigned row,
                         unsigned element) {
  constexpr unsigned kChunks[] = {1, 2, 4, 8};
  const unsigned pitch = swizzle == 0 ? elements * 2 : kChunks[swizzle] * 16;
  const unsigned byte = row * pitch + element * 2;
  return (byte ^ (byte / 128 % kChunks[swizzle] * 16)) / 2;
}
