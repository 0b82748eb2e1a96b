// SPDX-License-Identifier: Apache-2.0
// Four segments per block of 512 threads.
constexpr int SEGMENT = 128, SEGMENTS = 4;

__global__ void __launch_bounds__(SEGMENT* SEGMENTS) reverse(const float* x, float* y, int count) {
  __shared__ float segment[SEGMENTS][SEGMENT];
  const int i = threadIdx.x, s = threadIdx.y;
  const int at = (blockIdx.x * SEGMENTS + s) * SEGMENT + i;
  if (at < count) segment[s][SEGMENT - 1 - i] = x[at];
  __syncthreads();
  if (at < count) y[at] = segment[s][i];
}

void launch(const float* x, float* y, int count) {
  const int per_block = SEGMENT * SEGMENTS;
  reverse<<<(count + per_block - 1) / per_block, dim3(SEGMENT, SEGMENTS)>>>(x, y, count);
}
