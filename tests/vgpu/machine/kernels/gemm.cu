// SPDX-License-Identifier: Apache-2.0
// C = alpha A B + beta C for square row-major matrices of n, a multiple of 32, in three ways.

extern "C" __global__ void naive(int n, float alpha, const float* a, const float* b, float beta,
                                 float* c) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int column = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

extern "C" __global__ void coalesced(int n, float alpha, const float* a, const float* b, float beta,
                                     float* c) {
  const int row = static_cast<int>(blockIdx.y * 32 + threadIdx.x / 32);
  const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

extern "C" __global__ void tiled(int n, float alpha, const float* a, const float* b, float beta,
                                 float* c) {
  __shared__ float as[32][32], bs[32][32];
  const int x = static_cast<int>(threadIdx.x % 32), y = static_cast<int>(threadIdx.x / 32);
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
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// 8 x 8 outputs per thread, 128-bit accesses.
extern "C" __global__ void __launch_bounds__(64)
    register_tiled(int n, float alpha, const float* a, const float* b, float beta, float* c) {
  __shared__ float as[8][64], bs[8][64];
  const int x = static_cast<int>(threadIdx.x % 8), y = static_cast<int>(threadIdx.x / 8);
  a += static_cast<long long>(blockIdx.y) * 64 * n;
  b += blockIdx.x * 64;
  c += static_cast<long long>(blockIdx.y) * 64 * n + blockIdx.x * 64;
  float sums[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    const int t = static_cast<int>(threadIdx.x);
    for (int r = 0; r < 64; r += 32) {
      const float4 va = *reinterpret_cast<const float4*>(a + (r + t / 2) * n + k + t % 2 * 4);
      as[t % 2 * 4 + 0][r + t / 2] = va.x;
      as[t % 2 * 4 + 1][r + t / 2] = va.y;
      as[t % 2 * 4 + 2][r + t / 2] = va.z;
      as[t % 2 * 4 + 3][r + t / 2] = va.w;
    }
    for (int r = 0; r < 8; r += 4) {
      *reinterpret_cast<float4*>(&bs[r + t / 16][t % 16 * 4]) =
          *reinterpret_cast<const float4*>(b + (k + r + t / 16) * n + t % 16 * 4);
    }
    __syncthreads();
    for (int j = 0; j < 8; ++j) {
      float ra[8], rb[8];
      for (int i = 0; i < 8; ++i) ra[i] = as[j][y * 8 + i], rb[i] = bs[j][x * 8 + i];
      for (int p = 0; p < 8; ++p) {
        for (int q = 0; q < 8; ++q) sums[p][q] += ra[p] * rb[q];
      }
    }
    __syncthreads();
  }
  for (int p = 0; p < 8; ++p) {
    for (int q = 0; q < 8; q += 4) {
      float4* const out = reinterpret_cast<float4*>(c + (y * 8 + p) * n + x * 8 + q);
      float4 v = *out;
      v.x = alpha * sums[p][q] + beta * v.x;
      v.y = alpha * sums[p][q + 1] + beta * v.y;
      v.z = alpha * sums[p][q + 2] + beta * v.z;
      v.w = alpha * sums[p][q + 3] + beta * v.w;
      *out = v;
    }
  }
}

// Each thread sums a column of a different length: divergent, with loads of some lanes only.
extern "C" __global__ void ragged(int n, const float* a, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < i % 37; ++k) sum += a[k * n + i];
  out[i] = sum;
}
