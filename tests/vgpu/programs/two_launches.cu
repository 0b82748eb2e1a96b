// SPDX-License-Identifier: Apache-2.0
// Several launches to choose from: fill once, total twice; with an argument, a kernel whose blocks
// depend on each other.
#include "require.hpp"

__global__ void fill(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void total(const int* x, int n, int* result) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  if (threadIdx.x == 0) *result = sum;
}

__global__ void claim(int* next, int* order) { order[blockIdx.x] = atomicAdd(next, 1); }

int main(int argc, char**) {
  constexpr int kThreads = 64, kBlocks = 600, kElements = kThreads * kBlocks;
  int *x = nullptr, *result = nullptr, sum = 0;
  require(cudaMalloc(&x, kElements * sizeof(int)));
  require(cudaMalloc(&result, sizeof(int)));
  require(cudaMemset(result, 0, sizeof(int)));
  if (argc > 1) {
    claim<<<kBlocks, 1>>>(result, x);
    require(cudaMemcpy(&sum, result, sizeof sum, cudaMemcpyDeviceToHost));
    require(sum == kBlocks, "every block has its turn");
    return 0;
  }
  require(cudaMemset(x, 0, kElements * sizeof(int)));
  fill<<<kBlocks, kThreads>>>(x);
  total<<<1, 32>>>(x, kElements / 2, result);
  total<<<1, 32>>>(x, kElements, result);
  require(cudaMemcpy(&sum, result, sizeof sum, cudaMemcpyDeviceToHost));
  require(sum == kElements, "all blocks were executed");
  return 0;
}
