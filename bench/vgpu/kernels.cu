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
  const int row = static_cast<int>(blockIdx.y * 32) + y,
            column = static_cast<int>(blockIdx.x * 32) + x;
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

// r05's structure: 128 x 128 of c per block, 8 x 8 per thread, steps of 8 along k; n is a multiple
// of 128.
extern "C" __global__ void __launch_bounds__(256)
    block_tiled(int n, const float* a, const float* b, float* c) {
  constexpr int kTile = 128, kDepth = 8, kThread = 8;
  __shared__ float as[kDepth][kTile], bs[kDepth][kTile];
  const int t = static_cast<int>(threadIdx.y * 32 + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y) * kTile,
            column = static_cast<int>(blockIdx.x) * kTile;
  const int thread_row = t / 16 * kThread, thread_column = t % 16 * kThread;
  float sums[kThread][kThread] = {};
  for (int k = 0; k < n; k += kDepth) {
    for (int i = t; i < kTile * kDepth; i += 256) {
      as[i % kDepth][i / kDepth] = a[(row + i / kDepth) * n + k + i % kDepth];
      bs[i / kTile][i % kTile] = b[(k + i / kTile) * n + column + i % kTile];
    }
    __syncthreads();
    for (int j = 0; j < kDepth; ++j) {
      float left[kThread], right[kThread];
      for (int i = 0; i < kThread; ++i) left[i] = as[j][thread_row + i];
      for (int i = 0; i < kThread; ++i) right[i] = bs[j][thread_column + i];
      for (int y = 0; y < kThread; ++y) {
        for (int x = 0; x < kThread; ++x) sums[y][x] += left[y] * right[x];
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < kThread; ++y) {
    for (int x = 0; x < kThread; ++x)
      c[(row + thread_row + y) * n + column + thread_column + x] = sums[y][x];
  }
}

extern "C" __global__ void scale(int n, const float* a, const float* b, float* c) {
  const int first = static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) * 1024 +
                                     threadIdx.y * 32 + threadIdx.x);
  for (int i = first; i < n * n; i += static_cast<int>(gridDim.x * gridDim.y * 1024)) {
    c[i] = a[i] * 2 + b[i];
  }
}

extern "C" __global__ void divergent(int n, const float* a, const float* b, float* c) {
  const int i = static_cast<int>((blockIdx.y * gridDim.x + blockIdx.x) * 1024 + threadIdx.y * 32 +
                                 threadIdx.x);
  float sum = 0;
  for (int k = 0; k < i % 97; ++k) sum = k % 2 == 0 ? sum + a[k] : sum * b[k];
  if (i < n * n) c[i] = sum;
}
