// SPDX-License-Identifier: Apache-2.0
// What is counted of a line while it is split: how its magnitudes are spread. From the counts of all lines follows a bound
// of what fp16's short exponent loses, see split_choice.cuh.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Levels: binades below the least that a line's largest element may be scaled to.
constexpr int kLevels = 3;
__host__ __device__ constexpr int level_bits(int level) { return 6 + 4 * level; }

struct Census {
  std::uint32_t tiny;            // elements, not zero, whose second word has lost bits
  std::uint32_t minute;          // of them, 100 binades and more below the line's largest
  std::uint32_t seconds;         // elements whose second word is not zero
  std::uint32_t above[kLevels];  // elements of at least 2^(kTop - level_bits)

  template <class F>
  // An element, scaled, which may have made it zero; whether it was not zero, and whether its second word is not.
  __device__ __forceinline__ void count(float scaled, bool nonzero, bool has_second) {
    constexpr float kTop = static_cast<float>(1 << F::kTop);
    const float magnitude = fabsf(scaled);
    constexpr float kWhole = 0x1p-2F;  // 22 bits above the last bit of fp16's smallest numbers
    tiny += nonzero && magnitude < kWhole ? 1 : 0;
    minute += nonzero && magnitude < kTop * 0x1p-100F ? 1 : 0;
    seconds += has_second ? 1 : 0;
    const int below = F::kTop + 127 - (__float_as_int(magnitude) >> 23);  // binades
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] += below <= level_bits(i) ? 1 : 0;
  }
  __device__ __forceinline__ void add(const Census& other) {
    tiny += other.tiny;
    minute += other.minute;
    seconds += other.seconds;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] += other.above[i];
  }
  __device__ __forceinline__ void add_warp() {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      tiny += __shfl_xor_sync(0xFFFFFFFFU, tiny, distance);
      minute += __shfl_xor_sync(0xFFFFFFFFU, minute, distance);
      seconds += __shfl_xor_sync(0xFFFFFFFFU, seconds, distance);
#pragma unroll
      for (int i = 0; i < kLevels; ++i) above[i] += __shfl_xor_sync(0xFFFFFFFFU, above[i], distance);
    }
  }
  __device__ __forceinline__ void add_atomically(const Census& other) {
    if (other.tiny != 0) atomicAdd(&tiny, other.tiny);
    if (other.minute != 0) atomicAdd(&minute, other.minute);
    if (other.seconds != 0) atomicAdd(&seconds, other.seconds);
#pragma unroll
    for (int i = 0; i < kLevels; ++i) {
      if (other.above[i] != 0) atomicAdd(&above[i], other.above[i]);
    }
  }
};

}  // namespace ladder
