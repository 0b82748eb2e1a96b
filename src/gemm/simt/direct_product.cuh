// SPDX-License-Identifier: Apache-2.0
// The smallest products. Their time is that of a launch, a chain of loads and the instructions
// that are fetched, so that a thread reads both operands directly, shares nothing and has little
// code. Block (x, y) computes columns of row y of C.
#pragma once
#include "device/ptx/dependent.cuh"
#include "gemm/simt/part_sums.cuh"

#include <cuda_runtime.h>

#include <cstdint>

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
    float4 a[kFew], b[kFew];
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      const int at = k + i * step;
      a[i] = b[i] = make_float4(0, 0, 0, 0);
      if (at >= x.k) continue;
      if constexpr (kFloat4) {
        a[i] = *reinterpret_cast<const float4*>(gA + at);
        b[i] = *reinterpret_cast<const float4*>(gB + at);
      } else {
        a[i].x = gA[at * x.a.k_step];
        b[i].x = gB[at];
      }
    }
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      sum = __fmaf_rn(a[i].x, b[i].x, sum);
      if constexpr (kFloat4) {
        sum = __fmaf_rn(a[i].y, b[i].y, sum);
        sum = __fmaf_rn(a[i].z, b[i].z, sum);
        sum = __fmaf_rn(a[i].w, b[i].w, sum);
      }
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
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int k = 0; k < x.k; k += kFew, gA += kFew * x.a.k_step, gB += kFew * x.b.k_step) {
    float4 b[kFew];
    float a[kFew];
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      a[i] = 0.0F;
      b[i] = make_float4(0, 0, 0, 0);
      if (k + i >= x.k) continue;
      a[i] = gA[i * x.a.k_step];
      if constexpr (kFloat4) {
        b[i] = *reinterpret_cast<const float4*>(gB + i * x.b.k_step);
      } else {
        b[i].x = gB[i * x.b.k_step];
      }
    }
#pragma unroll
    for (int i = 0; i < kFew; ++i) {
      sum.x = __fmaf_rn(a[i], b[i].x, sum.x);
      if constexpr (kFloat4) {
        sum.y = __fmaf_rn(a[i], b[i].y, sum.y);
        sum.z = __fmaf_rn(a[i], b[i].z, sum.z);
        sum.w = __fmaf_rn(a[i], b[i].w, sum.w);
      }
    }
  }
  if constexpr (kFloat4) {
    store4(x, row, column, sum);
  } else {
    store1(x, row, column, sum.x);
  }
}

}  // namespace ladder
