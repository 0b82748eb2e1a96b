// SPDX-License-Identifier: Apache-2.0
// Kernels that need sm_90.

extern "C" __global__ void elected(unsigned* out) {
  unsigned leader, is_leader;
  if (threadIdx.x < 4) return;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; selp.u32 %1, 1, 0, p; }"
               : "=r"(leader), "=r"(is_leader));
  out[threadIdx.x] = leader * 2 + is_leader;
}

// The second block of a cluster reads what the first has written.
extern "C" __global__ void share_in_cluster(int* data, int synchronised) {
  const int lane = static_cast<int>(threadIdx.x);
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (rank == 0) data[blockIdx.x / 2 * 32 + lane] = lane;
  if (synchronised != 0)
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1) data[blockIdx.x / 2 * 32 + lane] += 1;
}
