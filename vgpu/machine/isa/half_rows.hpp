// SPDX-License-Identifier: Apache-2.0
// Conversions of all lanes between f16, in the lower halves of words that are 0 above, and FP32, by
// the host's instructions where it has them.
#pragma once
#include "machine/isa/floats.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace vgpu::machine::VGPU_ISA {

#if defined(__AVX512F__)
// All lanes of a host vector. The forms without a mask make GCC 12 warn of what they leave
// undefined.
inline constexpr __mmask16 kHostLanes = 0xffff;
#endif

// NaN may become another NaN.
[[gnu::always_inline]] inline void widen_halves(const u32* halves, float* to) {
#if defined(__AVX512F__)
  for (u32 i = 0; i < kLanes; i += 16) {
    const __m256i packed = _mm512_maskz_cvtepi32_epi16(kHostLanes, _mm512_load_si512(halves + i));
    _mm512_store_ps(to + i, _mm512_maskz_cvtph_ps(kHostLanes, packed));
  }
#elif defined(__F16C__)
  for (u32 i = 0; i < kLanes; i += 8) {
    const auto* const at = reinterpret_cast<const __m128i*>(halves + i);
    _mm256_store_ps(to + i, _mm256_cvtph_ps(_mm_packus_epi32(at[0], at[1])));
  }
#else
  for (u32 i = 0; i < kLanes; ++i) to[i] = half_to_float<f16>(halves[i]);
#endif
}

// To nearest; NaN becomes 0x7fff.
[[gnu::always_inline]] inline void narrow_to_halves(const float* from, u32* to) {
#if defined(__F16C__)
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#endif
#if defined(__AVX512F__)
  for (u32 i = 0; i < kLanes; i += 16) {
    const __m512 x = _mm512_load_ps(from + i);
    const __m256i packed = _mm512_maskz_cvtps_ph(kHostLanes, x, kNearest);
    const __m512i halves = _mm512_maskz_cvtepu16_epi32(kHostLanes, packed);
    const __mmask16 nans = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    _mm512_store_si512(to + i, _mm512_mask_set1_epi32(halves, nans, 0x7fff));
  }
#elif defined(__F16C__)
  for (u32 i = 0; i < kLanes; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_load_ps(from + i), kNearest);
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), _mm256_cvtepu16_epi32(halves));
  }
  for (u32 i = 0; i < kLanes; ++i) to[i] = is_nan(from[i]) ? 0x7fffu : to[i];
#else
  for (u32 i = 0; i < kLanes; ++i) to[i] = float_to_half<f16>(from[i]);
#endif
}

}  // namespace vgpu::machine::VGPU_ISA
