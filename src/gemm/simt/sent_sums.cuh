// SPDX-License-Identifier: Apache-2.0
// Partial sums that blocks send to a block of higher number through device memory. A nonzero value
// has arrived, so that no fence, flag or second launch is needed. The memory is zero before and
// after.
#pragma once
#include "device/ptx/cluster.cuh"
#include "device/ptx/library.cuh"
#include "device/vector.cuh"

#include <cstdint>

namespace ladder {

// A NaN that no arithmetic produces. A sum is sent with the bits of kNever inverted, hence never as
// zero.
constexpr unsigned kNever = 0x7FA55AA5U;

__device__ __forceinline__ unsigned word_of(float sum) { return __float_as_uint(sum) ^ kNever; }
__device__ __forceinline__ float sum_of(unsigned word) { return __uint_as_float(word ^ kNever); }

__device__ __forceinline__ void send_sum(unsigned* to, float sum) {
  ptx::store_relaxed(to, word_of(sum));
}
__device__ __forceinline__ void send_sum(uint4* to, float4 sum) {
  ptx::store_relaxed(to, {word_of(sum.x), word_of(sum.y), word_of(sum.z), word_of(sum.w)});
}

namespace sent {
__device__ __forceinline__ bool is_whole(unsigned word) { return word != 0; }
__device__ __forceinline__ bool is_whole(uint4 words) {
  return words.x != 0 && words.y != 0 && words.z != 0 && words.w != 0;
}
__device__ __forceinline__ void add(float& sum, unsigned word) { sum += sum_of(word); }
__device__ __forceinline__ void add(float4& sum, uint4 words) {
  sum = sum + make_float4(sum_of(words.x), sum_of(words.y), sum_of(words.z), sum_of(words.w));
}
}  // namespace sent

// Adds to `sum` what is sent to from + i * stride for i = first, first + step, ... < count, in this
// order, and leaves zeros. kAtOnce loads overlap.
template <int kAtOnce, class Word, class Sum>
__device__ __forceinline__ void receive_sums(Sum& sum, Word* from, std::int64_t stride, int count,
                                             int first = 0, int step = 1) {
  for (int part = first; part < count; part += step * kAtOnce) {
    Word words[kAtOnce];
    bool missing = true;
    while (missing) {
      missing = false;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = part + i * step < count ? part + i * step : part;
        words[i] = ptx::load_relaxed(from + at * stride);
        missing |= !sent::is_whole(words[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = part + i * step;
      if (at >= count) break;
      sent::add(sum, words[i]);
      ptx::store_relaxed(from + at * stride, Word{});
    }
  }
}

}  // namespace ladder
