// SPDX-License-Identifier: Apache-2.0
// C = A B^T in C++20, with B as it is stored: the transposition is a view.
#include <cuda_runtime_api.h>
#include <ladder/gemm.hpp>

#include <cstdio>
#include <vector>

int main() {
  constexpr int kM = 40, kN = 24, kK = 32;
  std::vector<float> a(kM * kK), b(kN * kK), c(kM * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 5);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 3);
  float* memory = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&memory), (a.size() + b.size() + c.size()) * 4) !=
      cudaSuccess)
    return 1;
  float *const a_there = memory, *const b_there = a_there + a.size(),
               *const c_there = b_there + b.size();
  cudaMemcpy(a_there, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b_there, b.data(), b.size() * 4, cudaMemcpyHostToDevice);

  const auto handle = ladder::Handle::create();
  if (!handle) {
    std::fprintf(stderr, "%s\n", handle.error().text.c_str());
    return 1;
  }
  const ladder::View<float> x(a_there, kM, kK), w(b_there, kN, kK), y(c_there, kM, kN);
  const ladder::Options options{.precision = LADDER_PRECISION_AUTO};
  if (const auto done = ladder::multiply(*handle, x, w.transposed(), y, options); !done) {
    std::fprintf(stderr, "%s\n", done.error().text.c_str());
    return 1;
  }

  cudaMemcpy(c.data(), c_there, c.size() * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += a[i * kK + k] * b[j * kK + k];
      if (c[i * kN + j] != sum) return 2;
    }
  }
  cudaFree(memory);
  std::puts("views: right");
}
