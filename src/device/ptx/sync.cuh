// SPDX-License-Identifier: Apache-2.0
// Barriers of a part of a block, flags between blocks, shared loads by address. One function an
// instruction; PTX ISA, "Parallel Synchronization and Communication Instructions: barrier" and
// "Data Movement: ld, st".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::ptx {

// barrier.sync: `kThreads` threads meet at barrier kId of the block; __syncthreads() has 0.
template <int kId, int kThreads>
__device__ __forceinline__ void barrier_sync() {
  static_assert(kId > 0 && kId < 16 && kThreads % 32 == 0,
                "a block has 16 barriers, for whole warps");
  asm volatile("barrier.sync %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}

// The same where the barrier's number is not a constant.
__device__ __forceinline__ void barrier_sync(int id, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// barrier.arrive: the same without waiting for the others.
__device__ __forceinline__ void barrier_arrive(int id, int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// elect.sync: true in one lane of a warp that is here as a whole. What only that lane does ptxas
// then knows for uniform, and needs no loop over lanes around copies.
__device__ __forceinline__ bool elect_one() {
  int elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.s32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

// ld.acquire, st.relaxed: what happened before a __threadfence() and the store is seen after a load
// of its value, in all blocks.
__device__ __forceinline__ unsigned load_acquire(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(unsigned* flag, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// st.shared to a shared address.
__device__ __forceinline__ void store_shared(std::uint32_t s, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(s), "f"(value) : "memory");
}

// ld.shared.v4 from a shared address.
__device__ __forceinline__ void load_shared4(float* r, std::uint32_t s) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
               : "r"(s));
}

// st.shared.v2 to a shared address.
__device__ __forceinline__ void store_shared2(std::uint32_t s, std::uint32_t x, std::uint32_t y) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(s), "r"(x), "r"(y) : "memory");
}

}  // namespace ladder::ptx
