// SPDX-License-Identifier: Apache-2.0
// Shared memory of other blocks of a cluster. One function per instruction; PTX ISA, "mapa", "st",
// "st.async".
#pragma once
#include "device/ptx/cluster.cuh"

namespace ladder::ptx {

// barrier.cluster.arrive and .wait as two steps. A relaxed arrival does not release the thread's
// stores; fence_mbarrier_init() releases the initialisation of mbarriers.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// mapa: the shared::cluster address of what has this shared address in block `rank`. The functions
// below take such addresses.
__device__ __forceinline__ std::uint32_t shared_address_of(std::uint32_t address, int rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

// st.shared::cluster.v2.
__device__ __forceinline__ void store_cluster2(std::uint32_t remote, float x, float y) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(x), "f"(y)
               : "memory");
}

// st.async: stores 16 bytes, aligned to 16, and completes them on an mbarrier of the same block. It
// orders no other store of this thread.
__device__ __forceinline__ void send4(std::uint32_t remote, uint4 x, std::uint32_t remote_barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(remote),
      "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(remote_barrier)
      : "memory");
}

}  // namespace ladder::ptx
