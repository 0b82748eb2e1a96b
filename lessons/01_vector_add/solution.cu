// SPDX-License-Identifier: Apache-2.0
// One thread per element; threads behind the end do nothing.
__global__ void add(const float* a, const float* b, float* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  c[i] = a[i] + b[i];
}

void launch(const float* a, const float* b, float* c, int count) {
  const int threads = 128;
  const int blocks = (count + threads - 1) / threads;  // rounded up
  add<<<blocks, threads>>>(a, b, c, count);
}
