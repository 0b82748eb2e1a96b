// SPDX-License-Identifier: Apache-2.0
// Products whose threads read both operands directly and share nothing: the smallest ones, and
// those with a small k. The time of the smallest ones is that of a launch, a chain of loads and the
// instructions that are fetched, so that their kernels have little code; block (x, y) computes
// columns of row y of C.
#pragma once
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
  wait_for_operands(x);
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
// The vector form states a minimum of resident blocks: ptxas then uses enough registers to issue a
// step's loads together. The single-column form is faster without a minimum (0).
template <bool kFloat4>
__global__ void __launch_bounds__(kDirectThreads, kFloat4 ? 4 : 0)
    direct_across(const __grid_constant__ PartJob x) {
  constexpr int kFew = 8, kVector = kFloat4 ? 4 : 1;
  const int column = static_cast<int>(blockIdx.x * kDirectThreads + threadIdx.x) * kVector;
  const auto row = static_cast<int>(blockIdx.y);
  const float* gA = x.a.g + row * x.a.vector_step;
  const float* gB = x.b.g + column;
  wait_for_operands(x);
  if (column >= x.n) return;
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

// Small k: C is written once, from registers. A thread computes kOuterRows x 4 elements; the four
// are contiguous in C.
constexpr int kOuterThreads = 256, kOuterRows = 8, kOuterCols = 128;
constexpr int kOuterBlockRows = kOuterThreads / 32 * kOuterRows;
__global__ void __launch_bounds__(kOuterThreads, 3)
    outer_product(const __grid_constant__ PartJob x) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int tile = static_cast<int>(blockIdx.x);
  const int row = tile / x.tiles_m * kOuterBlockRows + warp * kOuterRows,
            col = tile % x.tiles_m * kOuterCols + lane * 4;
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  float acc[kOuterRows][4]{};
  const std::int64_t step_a = x.a.vector_step, step_b = x.b.vector_step;
  const float* a = x.a.g + row * step_a;
  const float* b = x.b.g + col * step_b;
#pragma unroll 4
  for (int k = 0; k < x.k; ++k, a += x.a.k_step, b += x.b.k_step) {
    float of_b[4], of_a[kOuterRows];
    if (step_b == 1 && x.b.aligned && col + 4 <= x.n) {
      set4(of_b, *reinterpret_cast<const float4*>(b));
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) of_b[j] = col + j < x.n ? b[j * step_b] : 0.0F;
    }
#pragma unroll
    for (int i = 0; i < kOuterRows; ++i) of_a[i] = row + i < x.m ? a[i * step_a] : 0.0F;
#pragma unroll
    for (int i = 0; i < kOuterRows; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) acc[i][j] = __fmaf_rn(of_a[i], of_b[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kOuterRows; ++i) store4(x, row + i, col, float4_of(acc[i]));
}

}  // namespace ladder
