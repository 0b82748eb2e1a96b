// SPDX-License-Identifier: Apache-2.0
// The censuses of all rows of op(A), or all columns of op(B), in a few numbers, from which the
// guard chooses (choice.cuh). The blocks of the pre-pass add theirs with atomic operations, and the
// product's blocks read the result. All members are integers combined by max, or, and add.
#pragma once
#include "gemm/split/census.cuh"
#include "gemm/split/terms.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Rows and columns of zeros, and those with Inf or NaN, count no elements.
struct Extremes {
  std::uint32_t inverse = 0, seconds = 0;  // as in Census, of all rows or columns
  std::uint32_t missing[kLevels]{};        // most elements of a row or column below the level
  std::uint32_t vectors = 0;               // rows or columns that count
  std::uint32_t exceptional = 0;           // and those with Inf or NaN
  unsigned long long large = 0;            // elements above the highest level

  __device__ __forceinline__ void take(const Census& vector, bool has_inf_or_nan, int k) {
    inverse = max(inverse, vector.inverse);
    seconds |= vector.seconds;
    exceptional += has_inf_or_nan ? 1 : 0;
    if (vector.above[0] == 0) return;
    vectors += 1;
    large += vector.above[0];
#pragma unroll
    for (int i = 0; i < kLevels; ++i)
      missing[i] = max(missing[i], static_cast<std::uint32_t>(k) - vector.above[i]);
  }
  __device__ __forceinline__ void take_warp() {
    constexpr unsigned kAll = 0xFFFFFFFFU;
    constexpr int kLow = 26;  // bits; the sum of 32 such numbers fits 32 bits
    inverse = __reduce_max_sync(kAll, inverse);
    seconds = __reduce_or_sync(kAll, seconds);
    vectors = __reduce_add_sync(kAll, vectors);
    exceptional = __reduce_add_sync(kAll, exceptional);
    const unsigned low = __reduce_add_sync(kAll, static_cast<unsigned>(large & ((1U << kLow) - 1)));
    const unsigned high = __reduce_add_sync(kAll, static_cast<unsigned>(large >> kLow));
    large = (static_cast<unsigned long long>(high) << kLow) + low;
#pragma unroll
    for (std::uint32_t& most : missing) most = __reduce_max_sync(kAll, most);
  }

  // Whether a nonzero element is below the magnitude, as scaled.
  __device__ __forceinline__ bool has_below(float magnitude) const {
    return inverse != 0 && __uint_as_float(~inverse & 0x7FFFFFFFU) < magnitude;
  }
};

// Extremes in device memory, zero before and after a product. Blocks add to kCopies of them, so
// that few atomic operations meet at one address. A warp reads them with coalesced loads.
struct SharedExtremes {
  static constexpr int kCopies = 32;
  unsigned long long large[kCopies];
  std::uint32_t inverse[kCopies], seconds[kCopies], missing[kLevels][kCopies], vectors[kCopies],
      exceptional[kCopies];

  // By one thread. `copy`: any number of at least 0.
  __device__ __forceinline__ void add(const Extremes& x, int copy) {
    const int at = copy % kCopies;
    if (x.inverse != 0) atomicMax(&inverse[at], x.inverse);
    if (x.seconds != 0) atomicOr(&seconds[at], x.seconds);
#pragma unroll
    for (int i = 0; i < kLevels; ++i) {
      if (x.missing[i] != 0) atomicMax(&missing[i][at], x.missing[i]);
    }
    if (x.exceptional != 0) atomicAdd(&exceptional[at], x.exceptional);
    if (x.vectors == 0) return;
    atomicAdd(&vectors[at], x.vectors);
    atomicAdd(&large[at], x.large);
  }
  // By a warp; all lanes receive the result.
  __device__ __forceinline__ Extremes of_all() const {
    const int lane = static_cast<int>(threadIdx.x) % kCopies;
    Extremes x;
    x.large = __ldcg(&large[lane]);
    x.inverse = __ldcg(&inverse[lane]), x.seconds = __ldcg(&seconds[lane]);
#pragma unroll
    for (int i = 0; i < kLevels; ++i) x.missing[i] = __ldcg(&missing[i][lane]);
    x.vectors = __ldcg(&vectors[lane]), x.exceptional = __ldcg(&exceptional[lane]);
    x.take_warp();
    return x;
  }
};

}  // namespace ladder
