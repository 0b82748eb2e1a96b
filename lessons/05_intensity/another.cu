// SPDX-License-Identifier: Apache-2.0
// The block loads the coefficients once, into shared memory.
constexpr int kTerms = 32, kThreads = 256;

__global__ void polynomial(const float* x, const float* c, float* y, int count) {
  __shared__ float sC[kTerms];
  if (threadIdx.x < kTerms) sC[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const float at = x[i];
  float sum = 0.0f;
  for (int k = kTerms - 1; k >= 0; --k) sum = fmaf(sum, at, sC[k]);
  y[i] = sum;
}

void launch(const float* x, const float* c, float* y, int count) {
  polynomial<<<(count + kThreads - 1) / kThreads, kThreads>>>(x, c, y, count);
}
