// SPDX-License-Identifier: Apache-2.0
// A cubin with every kind of section that the reader supports.

extern "C" {

__device__ int numbers[4] = {3, 5, 7, 9};
__device__ int* pointer = numbers + 1;
__constant__ float factor = 2.5F;

__global__ void __launch_bounds__(96) with_everything(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int i = static_cast<int>(threadIdx.x);
  tile[i % 64] = in[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += tile[(i + k) % 64] * factor;
  }
  if (i % 3 == 0) {
    sum += static_cast<float>(*pointer + numbers[i % 4]);
  }
  out[i] = sum / static_cast<float>(n);
}

__global__ void empty() {}
}
