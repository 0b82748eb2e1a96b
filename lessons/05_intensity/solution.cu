// SPDX-License-Identifier: Apache-2.0
// Horner's rule on eight elements per thread.
constexpr int kTerms = 32, kPerThread = 8, kThreads = 128;

__global__ void polynomial(const float* x, const float* c, float* y, int count) {
  const int first = blockIdx.x * kThreads * kPerThread + threadIdx.x;
  float rX[kPerThread], rY[kPerThread];
  for (int e = 0; e < kPerThread; ++e) {
    const int i = first + e * kThreads;  // a warp's loads stay side by side
    rX[e] = i < count ? x[i] : 0.0f;
    rY[e] = 0.0f;
  }
  for (int k = kTerms - 1; k >= 0; --k) {
    const float coefficient = c[k];
    for (int e = 0; e < kPerThread; ++e) rY[e] = rY[e] * rX[e] + coefficient;
  }
  for (int e = 0; e < kPerThread; ++e) {
    const int i = first + e * kThreads;
    if (i < count) y[i] = rY[e];
  }
}

void launch(const float* x, const float* c, float* y, int count) {
  const int per_block = kThreads * kPerThread;
  polynomial<<<(count + per_block - 1) / per_block, kThreads>>>(x, c, y, count);
}
