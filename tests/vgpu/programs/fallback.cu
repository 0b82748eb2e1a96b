// SPDX-License-Identifier: Apache-2.0
// A kernel whose machine code has an instruction that the SASS engine refuses (a constant of
// the driver, %aggr_smem_size), so that it runs from PTX.
#include <cstdio>

#include "require.hpp"

__global__ void sizes(unsigned* out) {
  unsigned shared;
  asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(shared));
  out[threadIdx.x] = shared > 0xffffff ? 0 : threadIdx.x;
}

int main() {
  unsigned* device = nullptr;
  unsigned host[32] = {};
  require(cudaMalloc(&device, sizeof host));
  sizes<<<1, 32>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault));
  std::printf("%x %x\n", host[0], host[5]);
  cudaFree(device);
}
