// SPDX-License-Identifier: Apache-2.0
// Copies memory to the host of which a part was never written: a remark, once. With an argument, to
// pinned memory.
#include <cstdio>

#include "require.hpp"

__global__ void write(int* data) { data[threadIdx.x] = 7; }

int main(int argc, char**) {
  constexpr int kAll = 32, kWritten = 20;
  int *device = nullptr, *other = nullptr, pageable[kAll] = {}, *host = pageable;
  constexpr std::size_t kBytes = sizeof pageable;
  if (argc > 1) require(cudaMallocHost(&host, kBytes));
  require(cudaMalloc(&device, kBytes));
  require(cudaMalloc(&other, kBytes));
  write<<<1, kWritten>>>(device);
  require(cudaMemcpy(host, device, kWritten * sizeof(int), cudaMemcpyDeviceToHost));
  require(cudaMemcpy(other, device, kBytes, cudaMemcpyDeviceToDevice));
  require(cudaMemcpy(host, other, kBytes, cudaMemcpyDeviceToHost), "with the rest");
  require(cudaMemcpy(host, device, kBytes, cudaMemcpyDeviceToHost), "with the rest again");
  require(host[kWritten - 1] == 7, "the results");
  std::puts("right");
}
