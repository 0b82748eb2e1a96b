// SPDX-License-Identifier: Apache-2.0
// Range check of the split pre-pass: how the magnitudes of a row of op(A) or column of op(B) are
// distributed. The counts bound the error due to FP16's short exponent (choice.cuh). All members
// are integers combined by max, or, and add, so that the result does not depend on the order. A
// zero-initialised census is empty.
#pragma once
#include "gemm/split/terms.cuh"

#include <cuda_fp16.h>

#include <cstdint>

namespace ladder {

// Level i is level_bits(i) binades below 2^kTop, the least value to which the scale may bring the
// largest element of a row or column.
constexpr int kLevels = 3;
__host__ __device__ constexpr int level_bits(int level) { return 6 + 4 * level; }

// Maps a magnitude, as scaled, so that the least of several is their maximum: the bits, inverted. 0
// stands for no element.
__device__ __forceinline__ std::uint32_t inverse_of(float scaled) {
  constexpr std::uint32_t kSign = 0x80000000U;
  return ~(__float_as_uint(scaled) | kSign);
}

// The least nonzero magnitude of some elements, as bits. An element takes one instruction, because
// zero, less one, is the largest number.
class LeastMagnitude {
 public:
  __device__ __forceinline__ void take(std::uint32_t magnitude) {
    least_ = min(least_, magnitude - 1);
  }
  // inverse_of() it times 2^scale; 0 if there is none, or in a row or column with Inf or NaN.
  __device__ __forceinline__ std::uint32_t inverse(int scale) const {
    if (scale == kExceptional || least_ == kNone) return 0;
    return inverse_of(times_power(__uint_as_float(least_ + 1), scale));
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::uint32_t least_ = kNone;
};

// One per row of op(A) or column of op(B). If neighbours are split together, `seconds` may include
// those of the neighbours: only the OR over all rows or columns is used.
struct Census {
  std::uint32_t inverse;  // largest inverse_of(); 0: no nonzero element
  std::uint32_t seconds;  // OR of the second terms, without signs; 0: all are zero
  std::uint32_t
      above[kLevels];     // elements whose scaled magnitude is at least 2^(kTop - level_bits)
  std::uint32_t arrived;  // blocks that have added their counts of these neighbours

  __device__ __forceinline__ void add(const Census& other) {
    inverse = max(inverse, other.inverse);
    seconds |= other.seconds;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] += other.above[i];
  }
  // Adds up a warp's lanes that are equal modulo kStep; all of them receive the result.
  template <int kStep = 1>
  __device__ __forceinline__ void add_lanes() {
#pragma unroll
    for (int distance = 16; distance >= kStep; distance /= 2) {
      Census other;
      other.inverse = __shfl_xor_sync(0xFFFFFFFFU, inverse, distance);
      other.seconds = __shfl_xor_sync(0xFFFFFFFFU, seconds, distance);
#pragma unroll
      for (int i = 0; i < kLevels; ++i)
        other.above[i] = __shfl_xor_sync(0xFFFFFFFFU, above[i], distance);
      add(other);
    }
  }
  __device__ __forceinline__ void add_atomically(const Census& other) {
    if (other.inverse != 0) atomicMax(&inverse, other.inverse);
    if (other.seconds != 0) atomicOr(&seconds, other.seconds);
#pragma unroll
    for (int i = 0; i < kLevels; ++i) {
      if (other.above[i] != 0) atomicAdd(&above[i], other.above[i]);
    }
  }
};

// One thread's counts of elements of one row or column, from their FP16 terms, two at a time. The
// first term of an element just below a level may be rounded up to it, by 2^-12 of its magnitude:
// the bound's margin of 1% covers that (choice.cuh). Each half counts to 2048 and stays there:
// the bound then counts fewer elements than there are.
struct TermCounts {
  __half2 above[kLevels]{};
  std::uint32_t seconds = 0;

  // Of four elements.
  __device__ __forceinline__ void count(const __half2 (&first)[2], const __half2 (&second)[2]) {
    constexpr std::uint32_t kMagnitudes = 0x7FFF7FFFU;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      seconds |= reinterpret_cast<const std::uint32_t&>(second[pair]) & kMagnitudes;
#pragma unroll
      for (int i = 0; i < kLevels; ++i) {
        const __half2 level = __float2half2_rn(
            static_cast<float>(1 << (TermFormat<__half, 2>::kTop - level_bits(i))));
        above[i] = __hadd2(above[i], __hge2(__habs2(first[pair]), level));
      }
    }
  }
  __device__ __forceinline__ std::uint32_t elements_above(int level) const {
    return static_cast<std::uint32_t>(
        __half2int_rn(__hadd(__low2half(above[level]), __high2half(above[level]))));
  }
  __device__ __forceinline__ Census census(std::uint32_t inverse) const {
    Census all{inverse, seconds, {}, 0};
#pragma unroll
    for (int i = 0; i < kLevels; ++i) all.above[i] = elements_above(i);
    return all;
  }
};

// Counts of a row or column in 16 bytes, at most 65,535 each. A thread's counts are packed so that
// sums of packed counts are those of the counts.
struct PackedCounts {
  static_assert(kLevels == 3, "two levels in one register, the third in another");

  __device__ __forceinline__ static uint2 packed(const TermCounts& counts) {
    return {counts.elements_above(0) | counts.elements_above(1) << 16, counts.elements_above(2)};
  }
  __device__ __forceinline__ static Census census_of(uint4 counts) {
    return {counts.x, counts.y, {counts.z & 0xFFFFU, counts.z >> 16, counts.w}, 0};
  }
};

// The censuses of all rows of op(A), or all columns of op(B), in a few numbers, from which the
// guard chooses. Rows and columns of zeros, and those with Inf or NaN, count no elements.
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
  __device__ __forceinline__ void reduce_warp() {
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
  __device__ __forceinline__ Extremes copy(int i) const {
    constexpr int kLoads = sizeof(Extremes) / sizeof(uint4);
    Extremes x;
#pragma unroll
    for (int load = 0; load < kLoads; ++load)
      reinterpret_cast<uint4*>(&x)[load] = __ldcg(reinterpret_cast<const uint4*>(&of[i].x) + load);
    return x;
  }
};

}  // namespace ladder
