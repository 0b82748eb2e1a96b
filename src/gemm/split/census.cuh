// SPDX-License-Identifier: Apache-2.0
// Range check of the split pre-pass: how the magnitudes of a row of op(A) or column of op(B) are
// distributed. The counts bound the error due to FP16's short exponent (choice.cuh). All members
// are integers combined by max, or, and add, so that the result does not depend on the order. A
// zero-initialised census is empty.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Level i is level_bits(i) binades below 2^kTop, the least value to which the scale may bring the
// largest element of a row or column.
constexpr int kLevels = 3;
__host__ __device__ constexpr int level_bits(int level) { return 6 + 4 * level; }

template <class F>
__device__ __forceinline__ bool is_above(float scaled, int level) {
  constexpr float kTop = static_cast<float>(1 << F::kTop);
  return fabsf(scaled) >= kTop / static_cast<float>(1 << level_bits(level));
}
// Maps the least scaled magnitude to a maximum: the bits, inverted. 0: the element is zero.
__device__ __forceinline__ std::uint32_t inverse_of(bool nonzero, float scaled) {
  constexpr std::uint32_t kSign = 0x80000000U;
  return nonzero ? ~(__float_as_uint(scaled) | kSign) : 0U;
}

// One per row of op(A) or column of op(B). If neighbours are split together, `inverse` and
// `seconds` may include those of the neighbours: only the extremes over all rows or columns are
// used.
struct Census {
  std::uint32_t inverse;  // largest inverse_of()
  std::uint32_t seconds;  // OR of the second terms, without signs; 0: all are zero
  std::uint32_t
      above[kLevels];     // elements whose scaled magnitude is at least 2^(kTop - level_bits)
  std::uint32_t arrived;  // blocks that have added their counts of these neighbours

  // `nonzero`: whether the element was nonzero before it was scaled. `second`: bits of its second
  // term.
  template <class F>
  __device__ __forceinline__ void count(bool nonzero, float scaled, std::uint32_t second) {
    inverse = max(inverse, inverse_of(nonzero, scaled));
    seconds |= second;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] += is_above<F>(scaled, i) ? 1 : 0;
  }
  __device__ __forceinline__ void add(const Census& other) {
    inverse = max(inverse, other.inverse);
    seconds |= other.seconds;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] += other.above[i];
  }
  // Adds up the lanes of each group of kLanes neighbours that are equal modulo kStep; all of them
  // receive the result.
  template <int kLanes, int kStep = 1>
  __device__ __forceinline__ void add_lanes() {
#pragma unroll
    for (int distance = kLanes / 2; distance >= kStep; distance /= 2) {
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

// The census of kVectors rows or columns in one thread. The counts of a row or column, of all
// threads together, must not exceed 1023, so that the kLevels counts fit one register instead of
// three.
template <int kVectors>
struct StripCensus {
  static constexpr int kBits = 10;  // per level's count
  static_assert(kBits * kLevels <= 32, "counts in one register");
  std::uint32_t inverse = 0, seconds = 0, above[kVectors]{};

  template <class F>
  __device__ __forceinline__ void count(int vector, bool nonzero, float scaled,
                                        std::uint32_t second) {
    inverse = max(inverse, inverse_of(nonzero, scaled));
    seconds |= second;
#pragma unroll
    for (int i = 0; i < kLevels; ++i)
      above[vector] += is_above<F>(scaled, i) ? 1U << (kBits * i) : 0U;
  }
  // Adds up each group of kLanes neighbouring lanes; all of them receive the result.
  template <int kLanes>
  __device__ __forceinline__ void add_lanes() {
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      inverse = max(inverse, __shfl_xor_sync(0xFFFFFFFFU, inverse, distance));
      seconds |= __shfl_xor_sync(0xFFFFFFFFU, seconds, distance);
#pragma unroll
      for (std::uint32_t& counts : above) counts += __shfl_xor_sync(0xFFFFFFFFU, counts, distance);
    }
  }
  __device__ __forceinline__ Census of_vector(int vector) const {
    constexpr std::uint32_t kMask = (1U << kBits) - 1;
    Census census{vector == 0 ? inverse : 0U, vector == 0 ? seconds : 0U, {}, 0};
#pragma unroll
    for (int i = 0; i < kLevels; ++i) census.above[i] = above[vector] >> (kBits * i) & kMask;
    return census;
  }
};

}  // namespace ladder
