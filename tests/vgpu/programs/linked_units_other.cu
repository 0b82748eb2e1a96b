// SPDX-License-Identifier: Apache-2.0
// The other unit of linked_units.cu.
#include "require.hpp"

__device__ int table[4] = {10, 20, 30, 40};
__constant__ int scale = 3;
static __device__ int own = 2;

extern __device__ int calls;
__device__ int twice(int value);
__device__ __noinline__ int thrice(int value) { return 3 * value; }
using Function = int (*)(int);
__device__ Function functions[2] = {twice, thrice};

__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

__device__ __noinline__ void store(int* to, int value) {
  *to = value;
  atomicAdd(&calls, 1);
}

__global__ void add(int* data) { data[threadIdx.x] += twice(threadIdx.x); }

static __global__ void change_own() { own += 100; }
int own_of_the_other() {
  int value = 0;
  change_own<<<1, 1>>>();
  require(cudaMemcpyFromSymbol(&value, own, sizeof value));
  return value;
}

void add_on_device(int* data, int n) {
  add<<<1, n>>>(data);
  require(cudaDeviceSynchronize());
}
