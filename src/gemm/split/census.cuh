// SPDX-License-Identifier: Apache-2.0
// What is counted of a line while it is split: how its magnitudes are spread. From the counts of
// all lines follows a bound of what fp16's short exponent loses, see choice.cuh. All of it is
// integers whose maxima, unions and sums do not depend on order. Zeros are what nothing was counted
// in.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Levels: binades below the least that a line's largest element may be scaled to.
constexpr int kLevels = 3;
__host__ __device__ constexpr int level_bits(int level) { return 6 + 4 * level; }

template <class F>
__device__ __forceinline__ bool is_above(float scaled, int level) {
  constexpr float kTop = static_cast<float>(1 << F::kTop);
  return fabsf(scaled) >= kTop / static_cast<float>(1 << level_bits(level));
}
// The least of scaled magnitudes as what grows as it falls; 0: all are zero.
__device__ __forceinline__ std::uint32_t inverse_of(bool nonzero, float scaled) {
  constexpr std::uint32_t kSign = 0x80000000U;
  return nonzero ? ~(__float_as_uint(scaled) | kSign) : 0U;
}

// Of a line; `inverse` and `seconds` of neighbours too, where they are split together: of those
// only the extremes of all lines are asked for.
struct Census {
  std::uint32_t inverse;  // largest inverse_of()
  std::uint32_t seconds;  // bits of second words, but for signs; 0: all are zero
  std::uint32_t
      above[kLevels];  // elements whose scaled magnitude is at least 2^(kTop - level_bits)

  // An element, scaled, which may have made it zero; its second word's bits.
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
  // Of all groups of kLanes neighbouring lanes, every kStep-th of them, in each.
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

// By one thread, of kLines lines, at most 1023 elements each of all threads that it is added to: a
// third of the registers.
template <int kLines>
struct StripCensus {
  static constexpr int kBits = 10;  // of a level's count
  static_assert(kBits * kLevels <= 32, "counts in one word");
  std::uint32_t inverse = 0, seconds = 0, above[kLines]{};

  template <class F>
  __device__ __forceinline__ void count(int line, bool nonzero, float scaled,
                                        std::uint32_t second) {
    inverse = max(inverse, inverse_of(nonzero, scaled));
    seconds |= second;
#pragma unroll
    for (int i = 0; i < kLevels; ++i)
      above[line] += is_above<F>(scaled, i) ? 1U << (kBits * i) : 0U;
  }
  // Of all groups of kLanes neighbouring lanes, in each of them.
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
  __device__ __forceinline__ Census of_line(int line) const {
    constexpr std::uint32_t kMask = (1U << kBits) - 1;
    Census census{line == 0 ? inverse : 0U, line == 0 ? seconds : 0U, {}};
#pragma unroll
    for (int i = 0; i < kLevels; ++i) census.above[i] = above[line] >> (kBits * i) & kMask;
    return census;
  }
};

}  // namespace ladder
