// SPDX-License-Identifier: Apache-2.0
// The smallest complete program: 1000 elements in blocks of 256, so that the last block is partly
// idle.
#include <vector>

#include "require.hpp"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int kCount = 1000;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(3 * i);
  }
  float *da, *db, *dc;
  const std::size_t bytes = kCount * sizeof(float);
  require(cudaMalloc(&da, bytes));
  require(cudaMalloc(&db, bytes));
  require(cudaMalloc(&dc, bytes));
  require(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  require(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
  add<<<(kCount + 255) / 256, 256>>>(da, db, dc, kCount);
  require(cudaGetLastError());
  require(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) require(c[i] == static_cast<float>(4 * i), "a sum");
  require(cudaFree(da));
  require(cudaFree(db));
  require(cudaFree(dc));
}
