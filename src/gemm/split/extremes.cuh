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
struct alignas(16) Extremes {
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
  __host__ __device__ __forceinline__ void take(const Extremes& other) {
    inverse = inverse > other.inverse ? inverse : other.inverse;
    seconds |= other.seconds;
    for (int i = 0; i < kLevels; ++i)
      missing[i] = missing[i] > other.missing[i] ? missing[i] : other.missing[i];
    vectors += other.vectors;
    exceptional += other.exceptional;
    large += other.large;
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

// Extremes in device memory, zero before and after a product. Blocks add to kCopies of them, in
// cache lines of their own, so that few atomic operations contend for one address.
struct SharedExtremes {
  static constexpr int kCopies = 4;
  struct alignas(128) Copy {
    Extremes x;
  } of[kCopies];

  // By one thread. `copy`: any number of at least 0.
  __device__ __forceinline__ void add(const Extremes& x, int copy) {
    Extremes& g = of[copy % kCopies].x;
    if (x.inverse != 0) atomicMax(&g.inverse, x.inverse);
    if (x.seconds != 0) atomicOr(&g.seconds, x.seconds);
#pragma unroll
    for (int i = 0; i < kLevels; ++i) {
      if (x.missing[i] != 0) atomicMax(&g.missing[i], x.missing[i]);
    }
    if (x.exceptional != 0) atomicAdd(&g.exceptional, x.exceptional);
    if (x.vectors == 0) return;
    atomicAdd(&g.vectors, x.vectors);
    atomicAdd(&g.large, x.large);
  }
  // A thread computes this in fewer cycles than a warp would need to combine its lanes.
  __device__ __forceinline__ Extremes of_all() const {
    constexpr int kLoads = sizeof(Extremes) / sizeof(uint4);
    Extremes copies[kCopies];
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy) {
#pragma unroll
      for (int i = 0; i < kLoads; ++i)
        reinterpret_cast<uint4*>(&copies[copy])[i] =
            __ldcg(reinterpret_cast<const uint4*>(&of[copy].x) + i);
    }
#pragma unroll
    for (int copy = 1; copy < kCopies; ++copy) copies[0].take(copies[copy]);
    return copies[0];
  }
};

}  // namespace ladder
