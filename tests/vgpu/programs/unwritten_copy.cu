// SPDX-License-Identifier: Apache-2.0
// Copies memory to the host of which a part was never written: a remark, once.
#include <cstdio>

#include "require.hpp"

__global__ void write(int* data) { data[threadIdx.x] = 7; }

int main() {
  constexpr int kAll = 32, kWritten = 20;
  int *device = nullptr, *other = nullptr, host[kAll] = {};
  require(cudaMalloc(&device, sizeof host), "cudaMalloc");
  require(cudaMalloc(&other, sizeof host), "cudaMalloc");
  write<<<1, kWritten>>>(device);
  require(cudaMemcpy(host, device, kWritten * sizeof(int), cudaMemcpyDeviceToHost), "the results");
  require(cudaMemcpy(other, device, sizeof host, cudaMemcpyDeviceToDevice), "on the device");
  require(cudaMemcpy(host, other, sizeof host, cudaMemcpyDeviceToHost), "with the rest");
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), "with the rest again");
  require(host[kWritten - 1] == 7, "the results");
  std::puts("right");
}
