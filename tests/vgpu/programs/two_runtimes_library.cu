// SPDX-License-Identifier: Apache-2.0
// A library with a runtime of its own, for two_runtimes.cu.
#include <cuda_runtime.h>

__constant__ int factor = 2;

__global__ void scale(int* data) { data[threadIdx.x] *= factor; }

static int* own = nullptr;

// Allocates with this library's runtime, before and after which another one may be used.
extern "C" int* library_allocate(int n) {
  return cudaMalloc(&own, n * sizeof(int)) == cudaSuccess ? own : nullptr;
}

extern "C" cudaError_t library_scale(int* device, int n, cudaStream_t stream) {
  scale<<<1, n, 0, stream>>>(device);
  return cudaGetLastError();
}

extern "C" cudaError_t library_free() { return cudaFree(own); }
