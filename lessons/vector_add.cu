// SPDX-License-Identifier: Apache-2.0
// Lesson: one thread per element. 1,000 elements are not a multiple of 128 threads: eight blocks
// start 1,024 threads, and the last 24 must do nothing. Without a GPU: vgpu build/bin/vector_add
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

__global__ void add(const float* a, const float* b, float* c, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;  // the over-launch guard
  c[i] = a[i] + b[i];
}

bool ok(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return true;
  std::fprintf(stderr, "vector_add: %s: %s\n", what, cudaGetErrorString(error));
  return false;
}

}  // namespace

int main() {
  constexpr int kCount = 1000, kThreads = 128, kBlocks = (kCount + kThreads - 1) / kThreads;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (int i = 0; i < kCount; ++i) a[i] = static_cast<float>(i), b[i] = static_cast<float>(2 * i);

  float *gA = nullptr, *gB = nullptr, *gC = nullptr;
  constexpr size_t kBytes = kCount * sizeof(float);
  if (!ok(cudaMalloc(&gA, kBytes), "cudaMalloc") || !ok(cudaMalloc(&gB, kBytes), "cudaMalloc") ||
      !ok(cudaMalloc(&gC, kBytes), "cudaMalloc")) {
    return 1;
  }
  if (!ok(cudaMemcpy(gA, a.data(), kBytes, cudaMemcpyHostToDevice), "copy a") ||
      !ok(cudaMemcpy(gB, b.data(), kBytes, cudaMemcpyHostToDevice), "copy b")) {
    return 1;
  }
  add<<<kBlocks, kThreads>>>(gA, gB, gC, kCount);
  if (!ok(cudaGetLastError(), "launch") ||
      !ok(cudaMemcpy(c.data(), gC, kBytes, cudaMemcpyDeviceToHost), "copy c")) {
    return 1;
  }
  cudaFree(gA), cudaFree(gB), cudaFree(gC);

  for (int i = 0; i < kCount; ++i) {
    if (c[i] != static_cast<float>(3 * i)) {
      std::fprintf(stderr, "vector_add: c[%d] = %g, expected %d\n", i, c[i], 3 * i);
      return 1;
    }
  }
  std::printf(
      "%d elements, %d blocks of %d threads = %d threads, %d of them idle: all sums right\n",
      kCount, kBlocks, kThreads, kBlocks * kThreads, kBlocks * kThreads - kCount);
  return 0;
}
