// SPDX-License-Identifier: Apache-2.0
// A binary32 number as a few words of a type that tensor cores multiply: x 2^s = w0 + w1 (+ w2),
// each word what rounding to nearest left of the ones before. s is the line's: its largest
// magnitude becomes a number in [2^kTop, 2^(kTop + 1)), so that fp16's short range of exponents is
// used to its end, and no word overflows.
#pragma once
#include "device/round.cuh"

#include <ladder/problem.hpp>

#include <cstdint>
#include <type_traits>

namespace ladder {

// Two words of fp16, two or three of bf16, two of tf32. BK: k of a slab, a line of 128 or 64 bytes
// of each word.
template <class Word_, int kWords_>
struct WordFormat {
  using Word = Word_;
  static constexpr int kWords = kWords_;
  static constexpr bool kTf32 = std::is_same_v<Word, float>;
  static constexpr int kTop = std::is_same_v<Word, __half> ? 14 : 0;
  static constexpr int kSlabBytes =
      kWords == 3 ? 64 : 128;  // of one word of a line: the swizzle's span
  static constexpr int BK = kSlabBytes / static_cast<int>(sizeof(Word));
  static constexpr Type kType = kTf32                          ? Type::kF32
                                : std::is_same_v<Word, __half> ? Type::kF16
                                                               : Type::kBf16;
  static_assert(kWords == 2 || kWords == 3, "the formats that shared memory is laid out for");
};

namespace split_detail {

template <class Word>
__device__ __forceinline__ Word to_word(float x, Word type) {
  return from_float(x, type);
}
// tf32: 13 bits fewer, to nearest, ties to even. Not for Inf and NaN; the exponent may carry.
__device__ __forceinline__ float to_word(float x, float /*type*/) {
  const std::uint32_t bits = __float_as_uint(x), odd = bits >> 13 & 1U;
  return __uint_as_float((bits + 0xFFFU + odd) & ~0x1FFFU);
}

}  // namespace split_detail

// The words of an already scaled x; all differences are exact.
template <class F>
__device__ __forceinline__ void split(float x, typename F::Word (&words)[F::kWords]) {
#pragma unroll
  for (int w = 0; w < F::kWords; ++w) {
    words[w] = split_detail::to_word(x, typename F::Word{});
    x -= static_cast<float>(words[w]);
  }
}

// 2^e as a float; -126 <= e <= 127.
__device__ __forceinline__ float power_of_two(int e) { return __int_as_float((e + 127) << 23); }

// x 2^e, rounded once at most where the result is normal, for |e| of up to twice a float's
// exponents.
__device__ __forceinline__ float times_power(float x, int e) {
  constexpr int kMost = 250;  // beyond it every result is zero, or Inf
  e = max(-kMost, min(kMost, e));
  const int half = e >> 1;
  return x * power_of_two(half) * power_of_two(e - half);
}

// A line's exponent where the words cannot stand for it: it holds Inf or NaN.
constexpr int kExceptional = 1 << 20;
constexpr std::uint32_t kInfinityBits = 0x7F800000U;

// s of a line whose largest magnitude has these bits.
template <class F>
__device__ __forceinline__ int exponent_of_line(std::uint32_t largest) {
  if (largest >= kInfinityBits) return kExceptional;
  if (largest == 0) return 0;
  const int leading = largest >> 23 != 0 ? static_cast<int>(largest >> 23) - 127
                                         : -118 - __clz(static_cast<int>(largest));  // subnormal
  return F::kTop - leading;
}

}  // namespace ladder
