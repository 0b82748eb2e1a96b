// SPDX-License-Identifier: Apache-2.0
// Built by nvcc with its defaults and with options that change how a program is linked.
#include <cstdio>

#include "require.hpp"

__device__ int offset = 100;

__global__ void add(int* data) { data[threadIdx.x] += offset + threadIdx.x; }

int main() {
  int *device, host[32];
  require(cudaMalloc(&device, sizeof host));
  require(cudaMemset(device, 0, sizeof host));
  add<<<1, 32>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s: %d %d\n", properties.name, host[0], host[31]);
}
