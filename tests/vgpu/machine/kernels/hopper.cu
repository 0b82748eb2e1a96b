// SPDX-License-Identifier: Apache-2.0
// Kernels that need sm_90.

extern "C" __global__ void elected(unsigned* out) {
  unsigned leader, is_leader;
  if (threadIdx.x < 4) return;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; selp.u32 %1, 1, 0, p; }"
               : "=r"(leader), "=r"(is_leader));
  out[threadIdx.x] = leader * 2 + is_leader;
}
