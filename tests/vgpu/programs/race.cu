// SPDX-License-Identifier: Apache-2.0
// A missing __syncthreads: found by the race check only, because the result is correct by chance.
#include "require.hpp"

__global__ void shift(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[(threadIdx.x + 32) % 64];
}

int main() {
  int* data;
  require(cudaMalloc(&data, 64 * sizeof(int)));
  require(cudaMemset(data, 0, 64 * sizeof(int)));
  shift<<<1, 64>>>(data);
  cudaDeviceSynchronize();
}
