// SPDX-License-Identifier: Apache-2.0
// What only the library's kernels use: barriers, fences, the election of a lane, and accesses to
// global memory. One function per instruction; PTX ISA, "barrier", "elect.sync", "mbarrier.inval",
// "membar, fence", "ld", "st". Each element of a vector is a separate access.
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

// ld.global.nc.L1::no_allocate: four elements that no thread of the SM reads again. The kernel does
// not write them. `g` is 16-byte aligned.
__device__ __forceinline__ float4 load_streaming4(const float* g) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(g));
  return v;
}

// ld.relaxed.gpu: may return what another block stored, and orders no other access.
__device__ __forceinline__ unsigned load_relaxed(const unsigned* word) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ uint4 load_relaxed(const uint4* words) {
  uint4 x;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(words)
               : "memory");
  return x;
}

// st.relaxed.gpu.
__device__ __forceinline__ void store_relaxed(uint4* to, uint4 x) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w)
               : "memory");
}

}  // namespace ladder::ptx
