// SPDX-License-Identifier: Apache-2.0
// Compiled to the fat binaries for the tests of the reader: two kernels, one of them with many
// registers and a barrier.
__constant__ float scale[4];

extern "C" __global__ void small(float* x) { x[threadIdx.x] *= scale[threadIdx.x % 4]; }

extern "C" __global__ void large(float* x) {
  float sum[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) sum[i] = x[i * 32];
  for (int k = 0; k < 1000; ++k) {
#pragma unroll
    for (int i = 0; i < 48; ++i) sum[i] += sum[(i + 1) % 48] * x[k];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 48; ++i) x[i * 32] = sum[i];
}
