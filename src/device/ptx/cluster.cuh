// SPDX-License-Identifier: Apache-2.0
// Barriers of a cluster, and flags in global memory. One function per instruction; PTX ISA,
// "Special Registers", "barrier.cluster", "mapa", "mbarrier.arrive", "ld", "st".
#pragma once
#include <cstdint>

namespace ladder::ptx {

// %cluster_ctarank: this block's number in its cluster.
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// barrier.cluster: all threads of the cluster's blocks synchronise.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

// mapa, mbarrier.arrive.shared::cluster: arrives at the same barrier of block `rank`. It releases
// no other memory: .release.cluster would order all of the thread's accesses, which costs a fifth
// of the rate, and readers by wgmma have waited already.
__device__ __forceinline__ void mbarrier_arrive_at(std::uint32_t barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// ld.acquire, st.relaxed: a thread that loads the stored value also sees all accesses before the
// __threadfence() that precedes the store.
__device__ __forceinline__ unsigned load_acquire(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(unsigned* flag, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

}  // namespace ladder::ptx
