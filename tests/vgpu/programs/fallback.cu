// SPDX-License-Identifier: Apache-2.0
// A kernel whose machine code has an instruction that the SASS engine refuses (PRMT.F4E), so that
// it runs from PTX.
#include <cstdio>

#include "require.hpp"

__global__ void bytes(unsigned* out) {
  asm volatile("prmt.b32.f4e %0, %1, %2, %3;"
               : "=r"(out[threadIdx.x])
               : "r"(0x33221100), "r"(0x77665544), "r"(threadIdx.x));
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
