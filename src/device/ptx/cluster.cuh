// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: who they are, how they meet, how one arrives at another's barrier or reads its
// memory. One function an instruction;
// PTX ISA, "Special Registers", "barrier.cluster", "mapa", "mbarrier.arrive", "ld".
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

// mapa and ld.shared::cluster: the word that lies at this place in the shared memory of block `rank`.
__device__ __forceinline__ std::uint32_t load_shared_of(std::uint32_t address, int rank) {
  std::uint32_t word;
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %1, %2; ld.shared::cluster.u32 %0, [remote]; }"
      : "=r"(word)
      : "r"(address), "r"(rank)
      : "memory");
  return word;
}

}  // namespace ladder::ptx
