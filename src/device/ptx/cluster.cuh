// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: who they are, how they meet, how one arrives at another's barrier or reads
// its memory. One function an instruction; PTX ISA, "Special Registers", "barrier.cluster", "mapa",
// "mbarrier.arrive", "ld", "st.async".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::ptx {

// %cluster_ctarank: this block's number in its cluster.
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// barrier.cluster.arrive and .wait: what a thread does between them waits for nobody. Relaxed, what
// it wrote before is not made seen, which would wait for its stores; fence_mbarrier_init() does
// that for barriers.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// All threads of all the cluster's blocks meet.
__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// mapa and mbarrier.arrive.shared::cluster: arrives at the barrier that lies at the same place in
// block `rank`. Without .release.cluster on purpose: that makes ptxas order all memory of the
// thread (a fifth of the rate), and here only the end of reads by wgmma, already waited for, is
// told.
__device__ __forceinline__ void mbarrier_arrive_at(std::uint32_t barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// mapa: where in the cluster's shared memory lies what has this address in block `rank`.
__device__ __forceinline__ std::uint32_t shared_address_of(std::uint32_t address, int rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

// st.shared::cluster.v2: two numbers, to where shared_address_of() says.
__device__ __forceinline__ void store_cluster2(std::uint32_t remote, float x, float y) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(x), "f"(y)
               : "memory");
}

// st.async: four words to where shared_address_of() says, aligned to 16; the barrier there, of the
// same block, learns of the 16 bytes. Orders nothing else that this thread has stored.
__device__ __forceinline__ void send_quad(std::uint32_t remote, uint4 x,
                                          std::uint32_t remote_barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(remote),
      "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(remote_barrier)
      : "memory");
}

// ld.shared::cluster, of a number or of a word as it lies there.
__device__ __forceinline__ float load_cluster(std::uint32_t remote) {
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(remote) : "memory");
  return x;
}

}  // namespace ladder::ptx
