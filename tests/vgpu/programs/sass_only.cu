// SPDX-License-Identifier: Apache-2.0
// Built without PTX: the launch is refused with the remedy, and the program goes on.
#include "require.hpp"

__global__ void lonely(int* data) { data[0] = 1; }

int main() {
  int* data;
  require(cudaMalloc(&data, sizeof(int)), "cudaMalloc");
  for (int i = 0; i < 2; ++i) {
    lonely<<<1, 1>>>(data);
    require(cudaGetLastError() == cudaErrorNoKernelImageForDevice, "the launch is refused");
  }
  require(cudaDeviceSynchronize(), "the refusal is not sticky");
}
