// SPDX-License-Identifier: Apache-2.0
// Splits an FP32 number into two or three terms of a type that tensor cores multiply: x 2^s = w0 +
// w1 (+ w2). Each term is the remainder after the preceding ones, rounded to nearest. Each row of
// op(A) and column of op(B) has its own s, which scales its largest magnitude to [2^kTop, 2^(kTop +
// 1)). This uses FP16's short exponent range up to its end, and no term overflows.
#pragma once
#include "device/round.cuh"

#include <cstdint>
#include <type_traits>

namespace ladder {

// Two FP16 terms, two or three BF16 terms, or two TF32 terms. BK: k per slab, 128 or 64 bytes of
// each term.
template <class Term_, int kTerms_>
struct TermFormat {
  using Term = Term_;
  static constexpr int kTerms = kTerms_;
  // The scale brings a vector's largest magnitude to [2^kTop, 2^(kTop + 1)): FP16's largest binade
  // but one, so that rounding up does not overflow. BF16 and TF32 have FP32's range.
  static constexpr int kTop = std::is_same_v<Term, __half> ? 14 : 0;
  static constexpr int kSlabBytes =
      kTerms == 3 ? 64 : 128;  // per term and vector: the swizzle's span
  static constexpr int BK = kSlabBytes / static_cast<int>(sizeof(Term));
  static_assert(kTerms == 2 || kTerms == 3, "the formats that shared memory is laid out for");
};

template <class Term>
__device__ __forceinline__ Term to_term(float x, Term type) {
  return from_float(x, type);
}
// Rounds to TF32 (13 bits fewer): to nearest, ties to even. Not for Inf and NaN; the mantissa may
// carry into the exponent.
__device__ __forceinline__ float to_term(float x, float /*type*/) {
  const std::uint32_t bits = __float_as_uint(x), odd = bits >> 13 & 1U;
  return __uint_as_float((bits + 0xFFFU + odd) & ~0x1FFFU);
}

// Splits x, which is scaled already. All differences are exact.
template <class F>
__device__ __forceinline__ void split(float x, typename F::Term (&terms)[F::kTerms]) {
#pragma unroll
  for (int w = 0; w < F::kTerms; ++w) {
    terms[w] = to_term(x, typename F::Term{});
    x -= static_cast<float>(terms[w]);
  }
}

// 2^e as a float; -126 <= e <= 127.
__device__ __forceinline__ float power_of_two(int e) { return __int_as_float((e + 127) << 23); }

// x 2^e, rounded at most once if the result is normal; |e| may be up to twice a float's exponent
// range.
__device__ __forceinline__ float times_power(float x, int e) {
  constexpr int kMost = 250;  // every result for |e| beyond it is zero or Inf
  e = max(-kMost, min(kMost, e));
  const int half = e >> 1;
  return x * power_of_two(half) * power_of_two(e - half);
}

// Scale exponent of a row or column with Inf or NaN, which terms cannot represent.
constexpr int kExceptional = 1 << 20;
constexpr std::uint32_t kInfinityBits = 0x7F800000U;

// Scale exponent of a row or column whose largest magnitude has these bits.
template <class F>
__device__ __forceinline__ int exponent_of(std::uint32_t largest) {
  if (largest >= kInfinityBits) return kExceptional;
  if (largest == 0) return 0;
  const int leading = largest >> 23 != 0 ? static_cast<int>(largest >> 23) - 127
                                         : -118 - __clz(static_cast<int>(largest));  // subnormal
  return F::kTop - leading;
}

}  // namespace ladder
