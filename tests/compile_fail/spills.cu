// SPDX-License-Identifier: Apache-2.0
// More live values than 32 registers hold: ptxas must spill, and a rung that spills must fail the
// build.
__global__ void __launch_bounds__(1024, 2) kernel(float* p) {
  float r[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) r[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) p[(95 - i) * 1024 + threadIdx.x] = r[i] * r[(i * 7) % 96];
}
