// SPDX-License-Identifier: Apache-2.0
// Floating-point behaviour that differs between GPU and CPU: flushing of subnormals, one canonical
// NaN, saturation, rounding modes per instruction, and the 16- and 8-bit formats.
#pragma once
#include "machine/float_control.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {

enum class Rounding : u8 { kNearest, kZero, kDown, kUp, kNearestAway };

// NaN results are canonical: 0x7fffffff in single precision, whatever NaNs the operands are,
// 0xfff8000000000000 in double precision where no operand is NaN. This also makes results equal on
// every host.
[[gnu::always_inline]] inline float canonical(float a) {
  return !is_nan(a) ? a : bits_as<float>(0x7fffffffu);
}
[[gnu::always_inline]] inline double canonical(double a) {
  return !is_nan(a) ? a : bits_as<double>(0xfff8000000000000ull);
}

// Double precision keeps NaNs, as an H100 does: the result is the first of the operands here that
// is NaN, made quiet, with its own sign whatever the modifiers are.
inline constexpr u64 kQuiet = u64{1} << 51;
[[gnu::always_inline]] inline double quiet(double a) {
  return is_nan(a) ? bits_as<double>(bits_as<u64>(a) | kQuiet) : a;
}
[[gnu::always_inline]] inline double keep_nan(double result, double a) {
  return is_nan(a) ? quiet(a) : canonical(result);
}
template <class... Rest>
[[gnu::always_inline]] inline double keep_nan(double result, double a, Rest... rest) {
  return is_nan(a) ? quiet(a) : keep_nan(result, rest...);
}

template <class T>
[[gnu::always_inline]] inline T saturate(T a) {
  return a > T(0) ? (a < T(1) ? a : T(1)) : T(0);  // NaN gives +0
}

// f(a, b, c) computed in a rounding mode.
template <Rounding kMode, class T, class F>
[[gnu::always_inline]] inline T rounded(F f, T a, T b, T c) {
  if constexpr (kMode == Rounding::kNearest) {
    return f(a, b, c);
  } else {
    constexpr FloatControl kControl = kMode == Rounding::kDown ? kRoundDown
                                      : kMode == Rounding::kUp ? kRoundUp
                                                               : kRoundToZero;
    const FloatControl saved = float_control();
    set_float_control((saved & ~kRoundingBits) | kControl);
    pin(a), pin(b), pin(c);
    T result = f(a, b, c);
    pin(result);
    set_float_control(saved);
    return result;
  }
}

// A narrow binary format: sign, `exponent` bits, `fraction` bits.
struct Format {
  int exponent, fraction;
  bool infinity;  // e4m3 has none: its largest code is NaN, the one below is a finite number
  u32 nan;
};
inline constexpr Format kSingle{8, 23, true, 0x7fffffff};
inline constexpr Format kHalf{5, 10, true, 0x7fff};
inline constexpr Format kBfloat{8, 7, true, 0x7fff};
inline constexpr Format kTf32{8, 10, true, 0x3ffff};
inline constexpr Format kE5m2{5, 2, true, 0x7f};
inline constexpr Format kE4m3{4, 3, false, 0x7f};

// Encodes `value` in the format, rounded once. `finite`: values that are too large become the
// largest finite number.
inline u32 narrow(double value, Format format, Rounding mode, bool finite = false) {
  const u64 bits = bits_as<u64>(value);
  const u32 sign = static_cast<u32>(bits >> 63) << (format.exponent + format.fraction);
  const u64 magnitude = bits & ~(u64{1} << 63);
  if (magnitude > 0x7ff0000000000000) return format.nan;
  const u32 top = ((1u << format.exponent) - 1)
                  << format.fraction;  // code of infinity if the format has one
  const u32 largest = format.infinity ? top - 1 : (top | ((1u << format.fraction) - 1)) - 1;
  const u32 beyond = finite ? largest : format.infinity ? top : format.nan;
  if (magnitude == 0x7ff0000000000000) return sign | beyond;
  // a double's subnormals are far below those of every format
  if (magnitude < (u64{1} << 52)) value = 0;
  const int bias = (1 << (format.exponent - 1)) - 1;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const u64 significand =
      (magnitude & ((u64{1} << 52) - 1)) | (magnitude >> 52 != 0 ? u64{1} << 52 : 0);
  const bool normal = exponent >= 1 - bias;
  int shift = 52 - format.fraction + (normal ? 0 : 1 - bias - exponent);
  if (shift > 62) shift = 62;
  const u64 kept = significand >> shift;
  const u64 rest = significand & ((u64{1} << shift) - 1);
  const u64 half = u64{1} << (shift - 1);
  bool up = false;
  switch (mode) {
    case Rounding::kNearest: up = rest > half || (rest == half && (kept & 1) != 0); break;
    case Rounding::kNearestAway: up = rest >= half; break;
    case Rounding::kZero: break;
    case Rounding::kDown: up = rest != 0 && sign != 0; break;
    case Rounding::kUp: up = rest != 0 && sign == 0; break;
  }
  const u64 base =
      normal ? (u64(exponent + bias) << format.fraction) + kept - (u64{1} << format.fraction)
             : kept;
  const u64 code = base + (up ? 1 : 0);  // a carry into the exponent gives the correct code
  if (code > largest) {
    const bool to_largest = mode == Rounding::kZero || (mode == Rounding::kDown && sign == 0) ||
                            (mode == Rounding::kUp && sign != 0);
    return sign | (to_largest ? largest : beyond);
  }
  return sign | static_cast<u32>(code);
}

// The same of a number in double precision: NaN keeps its sign and the upper bits of its payload.
inline u32 narrow_double(double value, Format format, Rounding mode) {
  if (!is_nan(value)) return narrow(value, format, mode);
  const u64 bits = bits_as<u64>(value) | kQuiet;
  const u32 sign = static_cast<u32>(bits >> 63) << (format.exponent + format.fraction);
  const u32 magnitude = (1u << (format.exponent + format.fraction)) - 1;
  return sign | (static_cast<u32>(bits >> (52 - format.fraction)) & magnitude);
}
[[gnu::always_inline]] inline double widen(float a) {
  const u32 bits = bits_as<u32>(a);
  const u64 nan =
      u64{bits & 0x80000000} << 32 | u64{0x7ff} << 52 | kQuiet | u64{bits & 0x7fffff} << 29;
  return is_nan(a) ? bits_as<double>(nan) : static_cast<double>(a);
}

// Exact for every format, except for the payload of a NaN.
inline double widen(u32 code, Format format) {
  const int bits = format.exponent + format.fraction;
  const u32 magnitude = code & ((1u << bits) - 1);
  const u32 top = ((1u << format.exponent) - 1) << format.fraction;
  const bool negative = (code >> bits & 1) != 0;
  double value;
  if (format.infinity ? magnitude > top : magnitude == format.nan) {
    value = bits_as<double>(0x7ff8000000000000ull);
  } else if (format.infinity && magnitude == top) {
    value = bits_as<double>(0x7ff0000000000000ull);
  } else {
    const int bias = (1 << (format.exponent - 1)) - 1;
    const u32 e = magnitude >> format.fraction;
    const u32 f = magnitude & ((1u << format.fraction) - 1);
    const int exponent = (e == 0 ? 1 : static_cast<int>(e)) - bias - format.fraction;
    const double scale = bits_as<double>(static_cast<u64>(exponent + 1023) << 52);
    value = scale * ((e == 0 ? 0u : 1u << format.fraction) | f);
  }
  return negative ? -value : value;
}

// a * b + c rounded to odd, for factors whose product is exact in T. Rounding the result again to a
// shorter format, of 11 or 8 bits, gives the same value as rounding the exact value once.
template <class T>
[[gnu::always_inline]] inline T multiply_add_to_odd(T a, T b, T c) {
  using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;
  const T p = a * b;
  const T s = p + c;
  const T back = s - p;
  const T error = (p - (s - back)) + (c - back);  // 0, or NaN, if s is exact, infinite or NaN
  const Bits towards_zero = bits_as<Bits>(s) - ((error < 0) != (s < 0) ? 1 : 0);
  const bool inexact = (error < 0) | (error > 0);
  return inexact ? bits_as<T>(towards_zero | 1) : s;
}
// The same for a conversion to single precision.
[[gnu::always_inline]] inline float single_to_odd(double a) {
  const float s = static_cast<float>(a);
  const double back{s};
  const u32 towards_zero = bits_as<u32>(s) - (__builtin_fabs(back) > __builtin_fabs(a) ? 1 : 0);
  const bool inexact = (back < a) | (back > a);
  return inexact ? bits_as<float>(towards_zero | 1) : s;
}

// Whether a number of 16 bits is the NaN, of either sign, that copies by tensor map put outside the
// tensor.
[[gnu::always_inline]] inline bool is_outside(u32 bits) { return (bits & 0x7fff) == 0x7ff7; }

// The larger or smaller of two; a number rather than none.
template <class H, bool kMax>
[[gnu::always_inline]] inline H extreme_half(H a, H b) {
  const float x = to_float(a), y = to_float(b);
  const u16 equal = static_cast<u16>(kMax ? a.bits & b.bits : a.bits | b.bits);
  const u16 picked = (kMax ? x > y : x < y) ? a.bits : b.bits;
  u16 r = x == y ? equal : picked;
  r = is_nan(x) ? b.bits : is_nan(y) ? a.bits : r;
  return H{is_nan(x) && is_nan(y) ? u16{0x7fff} : r};
}
}  // namespace vgpu::machine::VGPU_ISA
