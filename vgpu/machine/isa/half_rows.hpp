// SPDX-License-Identifier: Apache-2.0
// The halves of all lanes' pairs, in the order in which registers have them: conversions between
// f16 and FP32, and sums of products, by the host's instructions where it has them.
#pragma once
#include "machine/isa/floats.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace vgpu::machine::VGPU_ISA {

inline constexpr u32 kHalves = 2 * kLanes;

// NaN may become another NaN.
[[gnu::always_inline]] inline void widen_halves(const u16* halves, float* to) {
#if defined(__AVX512F__)
  for (u32 i = 0; i < kHalves; i += 16) {
    const __m256i packed = _mm256_load_si256(reinterpret_cast<const __m256i*>(halves + i));
    _mm512_store_ps(to + i, _mm512_maskz_cvtph_ps(0xffff, packed));  // else GCC 12 warns
  }
#elif defined(__F16C__)
  for (u32 i = 0; i < kHalves; i += 8)
    _mm256_store_ps(to + i, _mm256_cvtph_ps(*reinterpret_cast<const __m128i*>(halves + i)));
#else
  for (u32 i = 0; i < kHalves; ++i) to[i] = half_to_float<f16>(halves[i]);
#endif
}

// The lower and the upper halves of all lanes' pairs. NaN may become another NaN.
[[gnu::always_inline]] inline void widen_pairs(const u32* pairs, float* lower, float* upper) {
#if defined(__AVX512F__)
  for (u32 i = 0; i < kLanes; i += 16) {
    const __m512i both = _mm512_load_si512(pairs + i);
    const auto widened = [](__m512i words) VGPU_INLINE {  // maskz: else GCC 12 warns
      return _mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtepi32_epi16(0xffff, words));
    };
    _mm512_store_ps(lower + i, widened(both));
    _mm512_store_ps(upper + i, widened(_mm512_maskz_srli_epi32(0xffff, both, 16)));
  }
#else
  for (u32 i = 0; i < kLanes; ++i) {
    lower[i] = half_to_float<f16>(pairs[i] & 0xffff);
    upper[i] = half_to_float<f16>(pairs[i] >> 16);
  }
#endif
}

// To nearest; NaN becomes 0x7fff.
[[gnu::always_inline]] inline void narrow_to_halves(const float* from, u16* to) {
#if defined(__F16C__)
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#endif
#if defined(__AVX512F__)
  const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff));
  const auto narrowed = [&](const float* at) VGPU_INLINE {
    const __m512 x = _mm512_load_ps(at);
    const __m512 numbers = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
    return _mm512_maskz_cvtps_ph(0xffff, numbers, kNearest);  // else GCC 12 warns
  };
  // Whole vectors are stored, because parts of them would stall the next load.
  for (u32 i = 0; i < kHalves; i += 32) {
    const __m256i low = narrowed(from + i), high = narrowed(from + i + 16);
    _mm512_store_si512(to + i, __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
  }
#elif defined(__F16C__)
  for (u32 i = 0; i < kHalves; i += 8) {
    const __m256 x = _mm256_load_ps(from + i);
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    const __m256 numbers = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    *reinterpret_cast<__m128i*>(to + i) = _mm256_cvtps_ph(numbers, kNearest);
  }
#else
  for (u32 i = 0; i < kHalves; ++i) to[i] = static_cast<u16>(float_to_half<f16>(from[i]));
#endif
}

// x * y + z rounded to odd, of widened halves.
[[gnu::always_inline]] inline void multiply_add_halves(const float* x, const float* y,
                                                       const float* z, float* to) {
#if defined(__AVX512F__)
  constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC,
                kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  for (u32 i = 0; i < kHalves; i += 16) {
    const __m512 a = _mm512_load_ps(x + i), b = _mm512_load_ps(y + i), c = _mm512_load_ps(z + i);
    // Equal if the sum is exact, but for the sign of zero, else neighbours, of which one is odd.
    const __m512 down = _mm512_fmadd_round_ps(a, b, c, kDown),
                 up = _mm512_fmadd_round_ps(a, b, c, kUp);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    _mm512_store_ps(to + i, _mm512_mask_mov_ps(up, odd, down));
  }
#else
  for (u32 i = 0; i < kHalves; ++i) to[i] = multiply_add_to_odd(x[i], y[i], z[i]);
#endif
}

}  // namespace vgpu::machine::VGPU_ISA
