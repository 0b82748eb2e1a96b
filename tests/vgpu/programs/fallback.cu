// SPDX-License-Identifier: Apache-2.0
// A kernel whose machine code has an instruction that the SASS engine refuses (BMSK), and that runs from PTX therefore.
#include <cstdio>

#include "require.hpp"

__global__ void masks(unsigned* out) {
  asm volatile("bmsk.clamp.b32 %0, %1, 4;" : "=r"(out[threadIdx.x]) : "r"(threadIdx.x));
}

int main() {
  unsigned* device = nullptr;
  unsigned host[32] = {};
  require(cudaMalloc(&device, sizeof host), "cudaMalloc");
  masks<<<1, 32>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault), "kernel");
  std::printf("%x %x\n", host[0], host[5]);
  cudaFree(device);
}
