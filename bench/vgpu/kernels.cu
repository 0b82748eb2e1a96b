// SPDX-License-Identifier: Apache-2.0
// The first rungs of the ladder and a bandwidth-bound kernel, for measuring the engine.

extern "C" __global__ void naive(int n, const float* a, const float* b, float* c) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int column = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

extern "C" __global__ void coalesced(int n, const float* a, const float* b, float* c) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

extern "C" __global__ void tiled(int n, const float* a, const float* b, float* c) {
  __shared__ float as[32][32], bs[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y * 32) + y, column = static_cast<int>(blockIdx.x * 32) + x;
  float sum = 0;
  for (int k = 0; k < n; k += 32) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 32; ++j) sum += as[y][j] * bs[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void scale(int n, const float* a, const float* b, float* c) {
  const int first =
      static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) * 1024 + threadIdx.y * 32 + threadIdx.x);
  for (int i = first; i < n * n; i += static_cast<int>(gridDim.x * gridDim.y * 1024)) {
    c[i] = a[i] * 2 + b[i];
  }
}

extern "C" __global__ void divergent(int n, const float* a, const float* b, float* c) {
  const int i =
      static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) * 1024 + threadIdx.y * 32 + threadIdx.x);
  float sum = 0;
  for (int k = 0; k < i % 97; ++k) sum = k % 2 == 0 ? sum + a[k] : sum * b[k];
  if (i < n * n) c[i] = sum;
}
