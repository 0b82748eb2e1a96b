// SPDX-License-Identifier: Apache-2.0
// Memory-bound products. One to four rows of A times all columns of B, where B is read once,
// directly to registers; and products with small k, where C is written once, directly from
// registers.
#pragma once
#include "device/four.cuh"
#include "device/ptx/dependent.cuh"
#include "gemm/simt/part_sums.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// R: number of rows of A, rounded up. kAlongK: B is K-major. kFloat4: B permits 128-bit loads.
// kWide lanes of a warp span columns of B. Shared memory holds a chunk of A.
template <int R_, bool kAlongK_, bool kFloat4_, int kWide_ = 32, int kThreads_ = 256>
struct ThinTile {
  static constexpr int R = R_, kWide = kWide_, kThreads = kThreads_, kWarps = kThreads / 32;
  static constexpr bool kAlongK = kAlongK_, kFloat4 = kFloat4_;
  static constexpr int kBlocksOfSm = (kAlongK  ? (R > 2 ? 512 : 768)
                                      : R == 1 ? 1024
                                               : 768) /
                                     kThreads;
  static constexpr int kVectors = 4;  // columns of B per thread
  static constexpr int BM = R, BN = kAlongK ? kVectors * kWarps : kVectors * kWide;
  static constexpr int kAtOnce = kThreads / kWide;         // k per load, if B is not K-major
  static constexpr int BK = kAlongK ? 128 : kAtOnce;       // the step in which k is split
  static constexpr int kFew = R > 2 ? 4 : R == 1 ? 6 : 8;  // loads in flight
  static constexpr int kPad = kAlongK ? 128 : kFew * kAtOnce;
  static constexpr int kChunk = 8192 / R / kPad * kPad;  // k of A in shared memory
  static constexpr int kSlabs = kAlongK ? 1 : kWarps, kStrideC = BN + 4;
  static constexpr int kFloats = std::max(R * kChunk, kSlabs* R* kStrideC);
  static constexpr int kBytes = kFloats * 4;
};

template <bool kFloat4>
__device__ __forceinline__ void load_four(float (&to)[4], const float* g, int step, int left,
                                          bool read) {
  if constexpr (kFloat4) {
    if (read && left >= 4) {
      set4(to, *reinterpret_cast<const float4*>(g));
      return;
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) to[j] = read && j * step < left ? g[j * step] : 0.0F;
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksOfSm)
    thin_product(const __grid_constant__ PartJob x) {
  extern __shared__ __align__(16) float s[];
  __shared__ bool last;
  constexpr int R = T::R;
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
  const PartPlace me(x, static_cast<int>(blockIdx.x));
  const int col0 = me.tile * T::BN, steps = (x.k + T::BK - 1) / T::BK;
  const int begin = me.first(x, steps) * T::BK, end = min(x.k, me.first(x, steps, 1) * T::BK);
  // Distance of a thread's columns: contiguous with 128-bit loads, else a warp's width.
  constexpr int kStep = T::kFloat4 ? 1 : T::kWide;
  const int fast = lane % T::kWide * (T::kFloat4 ? 4 : 1);
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();

  float acc[R][T::kVectors]{};
  // Reads a chunk of A to shared memory: (R, chunk) if B is K-major, else (chunk, R).
  const auto read_chunk = [&](int chunk, int count) {
    const int padded = (count + T::kPad - 1) / T::kPad * T::kPad;
    for (int i = tid; i < R * padded; i += T::kThreads) {
      const bool along = x.a.k_step == 1;
      const int r = along ? i / padded : i % R, k = along ? i % padded : i / R;
      const std::int64_t at = r * x.a.vector_step + (chunk + k) * x.a.k_step;
      s[T::kAlongK ? r * T::kChunk + k : k * R + r] = r < x.m && k < count ? x.a.g[at] : 0.0F;
    }
  };
  const int first_k = warp * (32 / T::kWide) + lane / T::kWide;
  for (int chunk = begin; chunk < end; chunk += T::kChunk) {
    const int count = min(T::kChunk, end - chunk);
    if constexpr (T::kAlongK) {
      if (chunk != begin) __syncthreads();
      read_chunk(chunk, count);
      __syncthreads();
      const int vector0 = col0 + warp * T::kVectors;
      const float* const g = x.b.g + vector0 * x.b.vector_step + chunk + fast;
#pragma unroll 2
      for (int k = 0; k < count; k += 128) {
        float b[T::kVectors][4], a[4];
#pragma unroll
        for (int i = 0; i < T::kVectors; ++i)
          load_four<T::kFloat4>(b[i], g + i * x.b.vector_step + k, kStep, count - k - fast,
                                vector0 + i < x.n);
#pragma unroll
        for (int r = 0; r < R; ++r) {
          load_four<T::kFloat4>(a, s + r * T::kChunk + k + fast, kStep, 128, true);
#pragma unroll
          for (int i = 0; i < T::kVectors; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) acc[r][i] = __fmaf_rn(a[j], b[i][j], acc[r][i]);
          }
        }
      }
    } else {
      const float* g = x.b.g + (chunk + first_k) * x.b.k_step + col0 + fast;
      float b[T::kFew][4];
      const auto load = [&](int k) {
#pragma unroll
        for (int i = 0; i < T::kFew; ++i, g += T::kAtOnce * x.b.k_step)
          load_four<T::kFloat4>(b[i], g, kStep, x.n - col0 - fast, k + i * T::kAtOnce < count);
      };
      load(first_k);  // before A, on which they do not depend
      if (chunk != begin) __syncthreads();
      read_chunk(chunk, count);
      __syncthreads();
      for (int k = first_k;;) {
#pragma unroll
        for (int i = 0; i < T::kFew; ++i) {
#pragma unroll
          for (int r = 0; r < R; ++r) {
            const float a = s[(k + i * T::kAtOnce) * R + r];
#pragma unroll
            for (int j = 0; j < 4; ++j) acc[r][j] = __fmaf_rn(a, b[i][j], acc[r][j]);
          }
        }
        k += T::kFew * T::kAtOnce;
        if (k >= count) break;
        load(k);
      }
    }
  }

  __syncthreads();
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int j = 0; j < T::kVectors; ++j) {
      if constexpr (T::kAlongK) {
#pragma unroll
        for (int far = 16; far > 0; far /= 2)
          acc[r][j] += __shfl_xor_sync(0xFFFFFFFFU, acc[r][j], far);
        if (lane == 0) s[r * T::kStrideC + warp * T::kVectors + j] = acc[r][j];
      } else {
#pragma unroll
        for (int far = 16; far >= T::kWide; far /= 2)
          acc[r][j] += __shfl_xor_sync(0xFFFFFFFFU, acc[r][j], far);
        if (lane < T::kWide) s[(warp * R + r) * T::kStrideC + fast + j * kStep] = acc[r][j];
      }
    }
  }
  add_parts<T::BM, T::BN, T::kStrideC, T::kSlabs, T::kThreads, false>(x, me, s, last, 0, col0);
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
