// SPDX-License-Identifier: Apache-2.0
// A ladder as a user writes it: three kernels compared with cuBLAS, in one file with its own main.
#include <cmath>
#include <vector>

#include "blas.hpp"

__global__ void naive(int m, int n, int k, float alpha, const float* a, const float* b, float beta,
                      float* c) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x,
            column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

template <int kTile>
__global__ void coalesced(int m, int n, int k, float alpha, const float* a, const float* b,
                          float beta, float* c) {
  const int row = blockIdx.x * kTile + threadIdx.x / kTile,
            column = blockIdx.y * kTile + threadIdx.x % kTile;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

template <int kTile>
__global__ void tiled(int n, int k, float alpha, const float* a, const float* b, float beta,
                      float* c) {
  __shared__ float tile_a[kTile * kTile], tile_b[kTile * kTile];
  const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  a += blockIdx.x * kTile * k;
  b += blockIdx.y * kTile;
  c += blockIdx.x * kTile * n + blockIdx.y * kTile;
  float sum = 0;
  for (int begin = 0; begin < k; begin += kTile) {
    tile_a[y * kTile + x] = a[y * k + x];
    tile_b[y * kTile + x] = b[y * n + x];
    __syncthreads();
    a += kTile;
    b += kTile * n;
    for (int i = 0; i < kTile; ++i) sum += tile_a[y * kTile + i] * tile_b[i * kTile + x];
    __syncthreads();
  }
  c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

// Small multiples of 1/8: every sum is exact, in any order.
static std::vector<float> matrix(int size, unsigned seed) {
  std::vector<float> values(size);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 17 - 8) / 8;
  }
  return values;
}

int main() {
  constexpr int kSize = 96, kElements = kSize * kSize;
  constexpr float kAlpha = 0.5f, kBeta = 3.0f;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  const auto a = matrix(kElements, 1), b = matrix(kElements, 2), c = matrix(kElements, 3);
  float *const da = upload(a), *const db = upload(b), *const dc = upload(c),
               *const reference = upload(c);

  cublasHandle_t handle;
  ok(cublasCreate(&handle));
  // Row-major C = A B is column-major C^T = B^T A^T.
  ok(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &kAlpha, db, CUDA_R_32F,
                  kSize, da, CUDA_R_32F, kSize, &kBeta, reference, CUDA_R_32F, kSize,
                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP));
  const std::vector<float> expected = download(reference, kElements);
  double norm = 0;
  for (const float value : expected) norm += std::abs(value);
  require(norm > 0, "the reference is not zero");

  constexpr int kTile = 32;
  const dim3 grid(kSize / kTile, kSize / kTile);
  for (int kernel = 1; kernel <= 3; ++kernel) {
    require(cudaMemcpy(dc, c.data(), kBytes, cudaMemcpyHostToDevice));
    if (kernel == 1)
      naive<<<grid, dim3(kTile, kTile)>>>(kSize, kSize, kSize, kAlpha, da, db, kBeta, dc);
    if (kernel == 2)
      coalesced<kTile><<<grid, kTile * kTile>>>(kSize, kSize, kSize, kAlpha, da, db, kBeta, dc);
    if (kernel == 3) {
      require(cudaFuncSetAttribute(tiled<kTile>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
      tiled<kTile><<<grid, kTile * kTile>>>(kSize, kSize, kAlpha, da, db, kBeta, dc);
    }
    require(cudaGetLastError());
    require(cudaDeviceSynchronize());
    const std::vector<float> got = download(dc, kElements);
    std::printf("kernel %d: %s\n", kernel, got == expected ? "equal" : "different");
    require(got == expected, "the kernel's result");
  }
  ok(cublasDestroy(handle));
}
