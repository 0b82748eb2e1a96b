// SPDX-License-Identifier: Apache-2.0
// Exercise 15: reverses every segment of 128 numbers. One warp and 48 KB per block.
constexpr int SEGMENT = 128, THREADS = 32;

__global__ void reverse(const float* x, float* y, int count) {
  __shared__ float segment[12 * 1024];
  const int begin = blockIdx.x * SEGMENT;
  for (int i = threadIdx.x; i < SEGMENT; i += THREADS)
    if (begin + i < count) segment[i] = x[begin + i];
  __syncthreads();
  for (int i = threadIdx.x; i < SEGMENT; i += THREADS)
    if (begin + i < count) y[begin + i] = segment[SEGMENT - 1 - i];
}

void launch(const float* x, float* y, int count) {
  reverse<<<(count + SEGMENT - 1) / SEGMENT, THREADS>>>(x, y, count);
}
