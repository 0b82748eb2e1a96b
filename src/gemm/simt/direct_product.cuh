// SPDX-License-Identifier: Apache-2.0
// The smallest products. Their time is that of a launch, a chain of loads and the instructions
// that are fetched, so that a thread reads both operands directly, shares nothing and has little
// code. Block (x, y) computes columns of row y of C.
#pragma once
#include "device/ptx/dependent.cuh"
#include "gemm/simt/part_sums.cuh"

namespace ladder {

constexpr int kDirectThreads = 256;

// B is K-major; 2^x.lanes threads of a warp share a column. kFloat4: both operands permit 128-bit
// loads along k, a multiple of 4.
template <bool kFloat4>
__global__ void __launch_bounds__(kDirectThreads) direct_along(const __grid_constant__ PartJob x) {
  constexpr int kFew = kFloat4 ? 2 : 4, kVector = kFloat4 ? 4 : 1;
  const int lanes = 1 << x.lanes, step = lanes * kVector,
            lane = static_cast<int>(threadIdx.x) & (lanes - 1),
            column = static_cast<int>(blockIdx.x * kDirectThreads + threadIdx.x) >> x.lanes;
  const auto row = static_cast<int>(blockIdx.y);
  const float* const gA = x.a.g + row * x.a.vector_step;
  const float* const gB = x.b.g + min(column, x.n - 1) * x.b.vector_step;
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  float sum = 0.0F;
#pragma unroll 1
  for (int k = lane * kVector; k < x.k; k += kFew * step) {
    float a[kFew][kVector]{}, b[kFew][kVector]{};
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      const int at = k + i * step;
      if (at >= x.k) continue;
      if constexpr (kFloat4) {
        set4(a[i], load4(gA + at));
        set4(b[i], load4(gB + at));
      } else {
        a[i][0] = gA[at * x.a.k_step];
        b[i][0] = gB[at];
      }
    }
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum = __fmaf_rn(a[i][v], b[i][v], sum);
    }
  }
#pragma unroll 1
  for (int far = lanes / 2; far > 0; far /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, far);
  if (lane == 0) store1(x, row, column, sum);
}

// B is N-major; a thread computes one column or, with kFloat4, four, where n is a multiple of 4.
template <bool kFloat4>
__global__ void __launch_bounds__(kDirectThreads) direct_across(const __grid_constant__ PartJob x) {
  constexpr int kFew = 8, kVector = kFloat4 ? 4 : 1;
  const int column = static_cast<int>(blockIdx.x * kDirectThreads + threadIdx.x) * kVector;
  const auto row = static_cast<int>(blockIdx.y);
  const float* gA = x.a.g + row * x.a.vector_step;
  const float* gB = x.b.g + column;
  ptx::launch_dependents();
  if (column >= x.n) return;
  ptx::wait_for_prerequisites();
  float sum[kVector]{};
#pragma unroll 1
  for (int k = 0; k < x.k; k += kFew, gA += kFew * x.a.k_step, gB += kFew * x.b.k_step) {
    float a[kFew]{}, b[kFew][kVector]{};
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      if (k + i >= x.k) continue;
      a[i] = gA[i * x.a.k_step];
      if constexpr (kFloat4) {
        set4(b[i], load4(gB + i * x.b.k_step));
      } else {
        b[i][0] = gB[i * x.b.k_step];
      }
    }
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum[v] = __fmaf_rn(a[i], b[i][v], sum[v]);
    }
  }
  if constexpr (kFloat4) {
    store4(x, row, column, float4_of(sum));
  } else {
    store1(x, row, column, sum[0]);
  }
}

}  // namespace ladder
