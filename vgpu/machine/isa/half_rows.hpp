// SPDX-License-Identifier: Apache-2.0
// Conversions of all lanes between f16, in the lower halves of words that are 0 above, and FP32, by
// the host's instructions where it has them.
#pragma once
#include "machine/isa/floats.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace vgpu::machine::VGPU_ISA {

// NaN may become another NaN.
[[gnu::always_inline]] inline void widen_halves(const u32* halves, float* to) {
#if defined(__F16C__)
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
