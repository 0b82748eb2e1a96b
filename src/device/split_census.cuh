// SPDX-License-Identifier: Apache-2.0
// What is counted of a line while it is split: how its magnitudes are spread. From the counts of all lines follows a bound
// of what fp16's short exponent loses, see split_choice.cuh. All of it is integers whose maxima, unions and sums do not
// depend on order. Zeros are what nothing was counted in.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Levels: binades below the least that a line's largest element may be scaled to.
constexpr int kLevels = 3;
__host__ __device__ constexpr int level_bits(int level) { return 6 + 4 * level; }

struct Census {
  std::uint32_t inverse;  // 2^32 less the bits of the least magnitude that is not zero; 0: all are zero
  std::uint32_t seconds;  // bits of second words, but for signs; 0: all are zero
  std::uint32_t above[kLevels];  // elements whose scaled magnitude is at least 2^(kTop - level_bits)

  // An element as it was read, and scaled; its second word's bits.
  template <class F>
  __device__ __forceinline__ void count(float x, float scaled, std::uint32_t second) {
    constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
    inverse = max(inverse, 0U - (__float_as_uint(x) & kMagnitude));
    seconds |= second;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) {
      constexpr float kTop = static_cast<float>(1 << F::kTop);
      above[i] += fabsf(scaled) >= kTop / static_cast<float>(1 << level_bits(i)) ? 1 : 0;
    }
  }
  __device__ __forceinline__ void add(const Census& other) {
    inverse = max(inverse, other.inverse);
    seconds |= other.seconds;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] += other.above[i];
  }
  // Of all groups of kLanes neighbouring lanes, in each of them.
  template <int kLanes>
  __device__ __forceinline__ void add_lanes() {
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      Census other;
      other.inverse = __shfl_xor_sync(0xFFFFFFFFU, inverse, distance);
      other.seconds = __shfl_xor_sync(0xFFFFFFFFU, seconds, distance);
#pragma unroll
      for (int i = 0; i < kLevels; ++i) other.above[i] = __shfl_xor_sync(0xFFFFFFFFU, above[i], distance);
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

}  // namespace ladder
