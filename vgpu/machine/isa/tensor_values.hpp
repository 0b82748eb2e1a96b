// SPDX-License-Identifier: Apache-2.0
// Conversion of matrix elements to numbers, and vectors of accumulators.
#pragma once
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {

struct tf32 {
  u32 bits;  // only the upper 19 are significant
};
struct e4m3 {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};

[[gnu::always_inline]] inline float value_of(tf32 x) {
  return bits_as<float>(x.bits & 0xffffe000u);
}
[[gnu::always_inline]] inline float value_of(f16 x) { return to_float(x); }
[[gnu::always_inline]] inline float value_of(bf16 x) { return to_float(x); }
inline float value_of(e4m3 x) { return static_cast<float>(widen(x.bits, kE4m3)); }
inline float value_of(e5m2 x) { return static_cast<float>(widen(x.bits, kE5m2)); }
[[gnu::always_inline]] inline i32 value_of(i8 x) { return x; }
[[gnu::always_inline]] inline i32 value_of(u8 x) { return x; }
[[gnu::always_inline]] inline float value_of(float x) { return x; }
[[gnu::always_inline]] inline double value_of(double x) { return x; }

[[gnu::always_inline]] inline float negated(float x) { return -x; }
[[gnu::always_inline]] inline i32 negated(i32 x) { return -x; }

// One vector register of the host. multiply_add rounds once (FMA).
#if defined(__AVX512F__)
struct Floats {
  static constexpr u32 kWidth = 16;
  __m512 value;
  [[gnu::always_inline]] static Floats load(const float* from) { return {_mm512_load_ps(from)}; }
  // Loads 8 floats and repeats them to fill the register.
  [[gnu::always_inline]] static Floats load_repeated(const float* from) {
    return {_mm512_maskz_broadcast_f32x8(0xffff, _mm256_load_ps(from))};
  }
  // Element kOf of each four, repeated for the four.
  template <int kOf>
  [[gnu::always_inline]] Floats of_four() const {
    return {_mm512_maskz_permute_ps(0xffff, value, kOf * 0x55)};
  }
  [[gnu::always_inline]] void store(float* to) const { _mm512_store_ps(to, value); }
};
[[gnu::always_inline]] inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return {_mm512_fmadd_ps(a.value, b.value, c.value)};
}
#elif defined(__FMA__)
struct Floats {
  static constexpr u32 kWidth = 8;
  __m256 value;
  [[gnu::always_inline]] static Floats load(const float* from) { return {_mm256_load_ps(from)}; }
  [[gnu::always_inline]] static Floats load_repeated(const float* from) { return load(from); }
  template <int kOf>
  [[gnu::always_inline]] Floats of_four() const {
    return {_mm256_permute_ps(value, kOf * 0x55)};
  }
  [[gnu::always_inline]] void store(float* to) const { _mm256_store_ps(to, value); }
};
[[gnu::always_inline]] inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return {_mm256_fmadd_ps(a.value, b.value, c.value)};
}
#else
struct Floats {
  static constexpr u32 kWidth = 8;
  float value[kWidth];
  static Floats load(const float* from) {
    Floats made;
    __builtin_memcpy(made.value, from, sizeof(made.value));
    return made;
  }
  static Floats load_repeated(const float* from) { return load(from); }
  template <int kOf>
  Floats of_four() const {
    Floats made;
    for (u32 i = 0; i < kWidth; ++i) made.value[i] = value[i / 4 * 4 + kOf];
    return made;
  }
  void store(float* to) const { __builtin_memcpy(to, value, sizeof(value)); }
};
inline Floats multiply_add(Floats a, Floats b, Floats c) {
  for (u32 i = 0; i < Floats::kWidth; ++i)
    c.value[i] = __builtin_fmaf(a.value[i], b.value[i], c.value[i]);
  return c;
}
#endif

}  // namespace vgpu::machine::VGPU_ISA
