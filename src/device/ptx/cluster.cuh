// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: who they are, how they meet, how one arrives at another's barrier or reads its memory.
// One function an instruction; PTX ISA, "Special Registers", "barrier.cluster", "mapa", "mbarrier.arrive", "ld".
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

// barrier.cluster.arrive and wait: all threads of all the cluster's blocks meet.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// mapa and mbarrier.arrive.shared::cluster: arrives at the barrier that lies at the same place in block `rank`. Without
// .release.cluster on purpose: that makes ptxas order all memory of the thread (a fifth of the rate), and here only
// the end of reads by wgmma, already waited for, is told.
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
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(remote), "f"(x), "f"(y) : "memory");
}

// cp.async.bulk, shared to shared: `bytes` from this block to where shared_address_of() says, all aligned to 16; the barrier
// there learns of them.
__device__ __forceinline__ void send_bulk(std::uint32_t remote, std::uint32_t from, std::uint32_t bytes,
                                          std::uint32_t remote_barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          remote),
      "r"(from), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

// ld.shared::cluster, of a number or of a word as it lies there.
__device__ __forceinline__ float load_cluster(std::uint32_t remote) {
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(remote) : "memory");
  return x;
}

}  // namespace ladder::ptx
