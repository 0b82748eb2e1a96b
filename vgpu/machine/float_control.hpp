// SPDX-License-Identifier: Apache-2.0
// The host's floating-point control register.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace vgpu::machine {

#if defined(__x86_64__)

using FloatControl = unsigned;  // MXCSR
inline constexpr FloatControl kUsualControl = 0x1f80;
inline constexpr FloatControl kRoundingBits = 0x6000, kRoundDown = 0x2000, kRoundUp = 0x4000,
                              kRoundToZero = 0x6000;
[[gnu::always_inline]] inline FloatControl float_control() { return _mm_getcsr(); }
[[gnu::always_inline]] inline void set_float_control(FloatControl control) { _mm_setcsr(control); }
// Keeps the compiler from moving the computation of `value`, or from it, across this place.
[[gnu::always_inline]] inline void pin(auto& value) { asm volatile("" : "+x"(value)); }

#elif defined(__aarch64__)

using FloatControl = std::uint64_t;  // FPCR
inline constexpr FloatControl kUsualControl = 0;
inline constexpr FloatControl kRoundingBits = 3 << 22, kRoundDown = 2 << 22, kRoundUp = 1 << 22,
                              kRoundToZero = 3 << 22;
[[gnu::always_inline]] inline FloatControl float_control() {
  FloatControl control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
[[gnu::always_inline]] inline void set_float_control(FloatControl control) {
  asm volatile("msr fpcr, %0" : : "r"(control));
}
[[gnu::always_inline]] inline void pin(auto& value) { asm volatile("" : "+w"(value)); }

#else
#error "the machine runs on x86-64 and aarch64"
#endif

// Kernels compute with default rounding and with subnormals, whatever mode the program has set.
class FloatEnvironment {
 public:
  FloatEnvironment() : saved_(float_control()) { set_float_control(kUsualControl); }
  ~FloatEnvironment() { set_float_control(saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  FloatControl saved_;
};

}  // namespace vgpu::machine
