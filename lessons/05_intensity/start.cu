// SPDX-License-Identifier: Apache-2.0
// Exercise 05: y = sum over k of c[k] x^k. Too much arithmetic, and too many loads of c.
constexpr int kTerms = 32;

__global__ void polynomial(const float* x, const float* c, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  for (int k = 0; k < kTerms; ++k) {
    float term = c[k];
    for (int j = 0; j < k; ++j) term *= x[i];
    sum += term;
  }
  y[i] = sum;
}

void launch(const float* x, const float* c, float* y, int count) {
  polynomial<<<(count + 127) / 128, 128>>>(x, c, y, count);
}
