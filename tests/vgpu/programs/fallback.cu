// SPDX-License-Identifier: Apache-2.0
// A kernel whose machine code has an instruction that the SASS engine refuses (a prefetch,
// CCTL.PF2), so that it runs from PTX.
#include <cstdio>

#include "require.hpp"

__global__ void bytes(unsigned* out) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(out));
  asm volatile("cvt.sat.s8.s32 %0, %1;"
               : "=r"(out[threadIdx.x])
               : "r"(static_cast<int>(threadIdx.x) * 40 - 80));
}

int main() {
  unsigned* device = nullptr;
  unsigned host[32] = {};
  require(cudaMalloc(&device, sizeof host), "cudaMalloc");
  bytes<<<1, 32>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault), "kernel");
  std::printf("%x %x\n", host[0], host[5]);
  cudaFree(device);
}
