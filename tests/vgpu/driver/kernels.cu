// SPDX-License-Identifier: Apache-2.0
// The kernels of the tests, compiled to PTX, machine code and a fat binary.
#include <cstdint>

extern "C" {

__device__ int step = 3;
__constant__ float factors[4] = {1, 2, 3, 4};

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

// Arguments of several sizes, and so with gaps between them.
__global__ void mixed(char first, double second, short third, std::uint64_t* out, float fourth) {
  out[0] = static_cast<std::uint64_t>(first);
  out[1] = static_cast<std::uint64_t>(second * 2);
  out[2] = static_cast<std::uint64_t>(third);
  out[3] = static_cast<std::uint64_t>(fourth * factors[3]);
}

__global__ void count(int* at) { atomicAdd(at, step); }

__global__ void __launch_bounds__(128) shared_sum(const int* in, int* out) {
  extern __shared__ int values[];
  values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += values[i];
  *out = sum;
}

__global__ void sample(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float* out) {
  out[0] = tex2D<float>(texture, 2.5f, 0.5f);
  out[1] = tex2D<float>(texture, 3, 0.5f);  // between two texels
  out[2] = tex2D<float>(texture, 100, 0);
  surf2Dwrite(100.0f, surface, static_cast<int>(sizeof(float)), 0);
}
}
