// SPDX-License-Identifier: Apache-2.0
// The smallest complete program: 1000 elements in blocks of 256, so that the last block is partly
// idle.
#include <vector>

#include "device_array.hpp"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int kCount = 1000;
  std::vector<float> a(kCount), b(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(3 * i);
  }
  const DeviceArray<float> da(a), db(b), dc(kCount);
  add<<<(kCount + 255) / 256, 256>>>(da.get(), db.get(), dc.get(), kCount);
  require(cudaGetLastError());
  const std::vector<float> c = dc.read();
  for (int i = 0; i < kCount; ++i) require(c[i] == static_cast<float>(4 * i), "a sum");
}
