// SPDX-License-Identifier: Apache-2.0
// Products of small k, which are bound by the stores of C: a block copies all k of its rows and
// columns at once, multiplies, and stores its sums from registers. The copies, products and stores
// of an SM's blocks overlap.
#pragma once
#include "device/four.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/shared_memory.cuh"
#include "gemm/plan/thin_plan.hpp"
#include "gemm/simt/part_sums.cuh"
#include "gemm/simt/vector_copy.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// kLanes threads share a row of C. A thread has TM rows, and TN columns that are kLanes apart, so
// that neighbouring threads store neighbours whatever C's alignment is.
template <int kLanes_>
struct ShallowTile {
  static constexpr int kLanes = kLanes_, kThreads = kThinThreads;
  static constexpr int TM = kShallowRows, TN = kShallowColumns;
  static constexpr int BM = kThreads / kLanes * TM, BN = kLanes * TN, BK = kShallowStep;
  static_assert(TM == 8, "two float4 of A");
  using CopierA = VectorCopier<BM, BK, kThreads>;
  using CopierB = VectorCopier<BN, BK, kThreads>;
  static constexpr int kStep = CopierA::kFloats + CopierB::kFloats;  // shared memory of BK steps
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, 3)
    shallow_product(const __grid_constant__ PartJob x) {
  extern __shared__ __align__(16) float s[];
  const int lane = static_cast<int>(threadIdx.x) % T::kLanes,
            line = static_cast<int>(threadIdx.x) / T::kLanes, tile = static_cast<int>(blockIdx.x);
  const int row0 = tile / x.tiles_n * T::BM, col0 = tile % x.tiles_n * T::BN;
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  typename T::CopierA copier_a(x.a, row0, 0);
  typename T::CopierB copier_b(x.b, col0, 0);
  std::uint32_t to = ptx::shared_address(s);
#pragma unroll 1
  for (int left = x.k; left > 0; left -= T::BK, to += 4 * T::kStep) {
    copier_a.copy(to, left);
    copier_b.copy(to + 4 * T::CopierA::kFloats, left);
  }
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  __syncthreads();
  float acc[T::TM][T::TN]{};
  const float *of_a = s + line * T::TM, *of_b = s + T::CopierA::kFloats + lane;
#pragma unroll 1
  for (int left = x.k; left > 0; left -= T::BK, of_a += T::kStep, of_b += T::kStep) {
#pragma unroll
    for (int k = 0; k < T::BK; ++k) {
      float a[T::TM], b[T::TN];
#pragma unroll
      for (int i = 0; i < T::TM; i += 4)
        set4(a + i, *reinterpret_cast<const float4*>(of_a + k * T::CopierA::kStride + i));
#pragma unroll
      for (int j = 0; j < T::TN; ++j) b[j] = of_b[k * T::CopierB::kStride + j * T::kLanes];
#pragma unroll
      for (int i = 0; i < T::TM; ++i) {
#pragma unroll
        for (int j = 0; j < T::TN; ++j) acc[i][j] = __fmaf_rn(a[i], b[j], acc[i][j]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
#pragma unroll
    for (int j = 0; j < T::TN; ++j)
      store1(x, row0 + line * T::TM + i, col0 + lane + j * T::kLanes, acc[i][j]);
  }
}

}  // namespace ladder
