// SPDX-License-Identifier: Apache-2.0
// Two translation units of relocatable device code: functions and variables of each are used by the
// other. With an argument, a function of the other unit writes out of bounds.
#include "require.hpp"

__device__ int calls = 0;
static __device__ int own = 1;  // the other unit has one of the same name

extern __device__ int table[4];
extern __constant__ int scale;
__device__ int factorial(int n);
__device__ void store(int* to, int value);
void add_on_device(int* data, int n);
int own_of_the_other();

using Function = int (*)(int);
extern __device__ Function functions[2];

__device__ __noinline__ int twice(int value) { return 2 * value; }

static __global__ void change_own() { own += 10; }

__global__ void by_table(int* data) {
  const int i = threadIdx.x;
  data[i] = functions[i % 2](i);
}
__global__ void by_argument(int* data, Function f) { data[threadIdx.x] = f(threadIdx.x) + 1; }

__global__ void fill(int* data, int shift) {
  const int i = threadIdx.x;
  store(data + i + shift, factorial(i % 8) + table[i % 4] * scale);
}

int main(int argc, char**) {
  constexpr int kCount = 64;
  int *device, host[kCount], factorials[8] = {1};
  for (int i = 1; i < 8; ++i) factorials[i] = i * factorials[i - 1];
  require(cudaMalloc(&device, sizeof host));
  fill<<<1, kCount>>>(device, argc > 1 ? kCount : 0);
  require(cudaDeviceSynchronize());
  add_on_device(device, kCount);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i)
    require(host[i] == factorials[i % 8] + 30 * (i % 4 + 1) + 2 * i, "an element");
  int count = 0;
  require(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  require(count == kCount, "the number of calls");

  change_own<<<1, 1>>>();
  int mine = 0;
  require(cudaMemcpyFromSymbol(&mine, own, sizeof mine));
  require(mine == 11 && own_of_the_other() == 102, "variables of one name");

  by_table<<<1, kCount>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) require(host[i] == (2 + i % 2) * i, "by a table of functions");
  Function thrice;
  require(cudaMemcpyFromSymbol(&thrice, functions, sizeof thrice, sizeof thrice));
  by_argument<<<1, kCount>>>(device, thrice);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) require(host[i] == 3 * i + 1, "by a function's address");
}
