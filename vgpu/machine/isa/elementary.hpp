// SPDX-License-Identifier: Apache-2.0
// Estimates of elementary functions of doubles, NaN where they have none. They have no branches and
// no integers of other widths, so that loops over lanes vectorise. Their relative error is below
// kError: a single-precision result is that of the host library wherever the estimate and its
// neighbours at a distance of kError round to the same number.
#pragma once
#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {

inline constexpr double kError = 0x1p-44;
inline constexpr double kNoEstimate = __builtin_nan("");

// x + kShift is x rounded to an integer, which is also in its lower bits; for |x| < 2^51.
inline constexpr double kShift = 0x1.8p52;

template <std::size_t kTerms>
[[gnu::always_inline]] inline double polynomial(const double (&terms)[kTerms], double x) {
  double sum = terms[kTerms - 1];
  for (std::size_t k = kTerms - 1; k-- > 0;) sum = sum * x + terms[k];
  return sum;
}

// 2^x, by the power series of e^(f log 2) for the fraction f.
[[gnu::always_inline]] inline double estimate_exp2(double x) {
  constexpr double kLog2 = 0.693147180559945309417;
  static constexpr double kSeries[] = {1.0,
                                       1.0,
                                       1.0 / 2,
                                       1.0 / 6,
                                       1.0 / 24,
                                       1.0 / 120,
                                       1.0 / 720,
                                       1.0 / 5040,
                                       1.0 / 40320,
                                       1.0 / 362880,
                                       1.0 / 3628800,
                                       1.0 / 39916800,
                                       1.0 / 479001600};
  const double shifted = x + kShift;
  const double power = polynomial(kSeries, (x - (shifted - kShift)) * kLog2);
  const double value = bits_as<double>(bits_as<u64>(power) + (bits_as<u64>(shifted) << 52));
  return __builtin_fabs(x) < 200 ? value : kNoEstimate;
}

// log2 of a normal number, by the series of the inverse hyperbolic tangent of (m - 1) / (m + 1) for
// the mantissa m from 0.7 to 1.4.
[[gnu::always_inline]] inline double estimate_log2(double x) {
  constexpr double kTwoOverLog2 = 2.88539008177792681472;
  static constexpr double kSeries[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                       1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  constexpr u64 kHalfRoot = 0x3fe6a09e667f3bcd;                              // sqrt(1/2)
  constexpr u64 kBias = u64{1024} << 52, kWholeNumber = 0x4330000000000000;  // 2^52, to be added
  const u64 bits = bits_as<u64>(x) - kHalfRoot + kBias;
  const double exponent = bits_as<double>(bits >> 52 | kWholeNumber) - (0x1p52 + 1024);
  const double mantissa = bits_as<double>((bits & 0xfffffffffffff) + kHalfRoot);
  const double t = (mantissa - 1) / (mantissa + 1);
  double value = exponent + t * kTwoOverLog2 * polynomial(kSeries, t * t);
  value = x >= 0x1p-126 ? value : kNoEstimate;
  value = x < 0x1p128 ? value : kNoEstimate;
  return x != 1 ? value : kNoEstimate;
}

// By the power series around the nearest multiple of pi / 2.
[[gnu::always_inline]] inline double estimate_sin(double x) {
  constexpr double kTwoOverPi = 0.636619772367581343076;
  // pi / 2 in three parts, of which the first two have 33 bits: their multiples are exact.
  constexpr double kFirst = 0x1.921fb544p0, kSecond = 0x1.0b4611a6p-34,
                   kThird = 0x1.3198a2e037073p-69;
  static constexpr double kSine[] = {
      1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
      1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  static constexpr double kCosine[] = {1.0,
                                       -1.0 / 2,
                                       1.0 / 24,
                                       -1.0 / 720,
                                       1.0 / 40320,
                                       -1.0 / 3628800,
                                       1.0 / 479001600,
                                       -1.0 / 87178291200,
                                       1.0 / 20922789888000};
  constexpr double kMost = 0x1p15, kLeast = 0x1p-30;
  const double shifted = x * kTwoOverPi + kShift;
  const double turns = shifted - kShift;
  const double rest = ((x - turns * kFirst) - turns * kSecond) - turns * kThird;
  const u64 quadrant = bits_as<u64>(shifted);
  const double square = rest * rest;
  const double sine = rest * polynomial(kSine, square), cosine = polynomial(kCosine, square);
  const bool odd = (quadrant & 1) != 0;
  double value = bits_as<double>(bits_as<u64>(odd ? cosine : sine) ^ (quadrant & 2) << 62);
  value = (odd ? 1.0 : __builtin_fabs(rest)) > kLeast ? value : kNoEstimate;
  return __builtin_fabs(x) < kMost ? value : kNoEstimate;
}

// tanh, by its power series below 1/16, else by e^(2x).
[[gnu::always_inline]] inline double estimate_tanh(double x) {
  constexpr double kTwoOverLog2 = 2.88539008177792681472, kMost = 32;  // where it is 1
  static constexpr double kSeries[] = {1.0,         -1.0 / 3,         2.0 / 15,         -17.0 / 315,
                                       62.0 / 2835, -1382 / 155925.0, 21844 / 6081075.0};
  const double size = __builtin_fabs(x);
  const double power = estimate_exp2((size < kMost ? size : kMost) * kTwoOverLog2);
  const double large = __builtin_copysign((power - 1) / (power + 1), x);
  const double value = size < 0x1p-4 ? x * polynomial(kSeries, x * x) : large;
  return x == x ? value : kNoEstimate;
}

inline constexpr double kTurn = 6.283185307179586477;

// The angle whose sine is the sine or cosine of `turns`, found as an H100 finds it: it drops what
// is below 2^-25 turns, and takes the complement of the units within every second quarter, which is
// one less than the distance from the quarter's end.
template <bool kCosine>
[[gnu::always_inline]] inline double angle_of(double turns) {
  constexpr double kUnits = 0x1p25, kWhole = 0x1p52;
  constexpr u64 kQuarter = u64{1} << 23;
  const double size = __builtin_fabs(turns);
  const double scaled = size * kUnits < kWhole ? size * kUnits : 0.0;  // else whole turns
  // kWhole + x has the integer next to x in its lower bits.
  const double shifted = kWhole + scaled;
  const u64 units = bits_as<u64>(shifted) - (shifted - kWhole > scaled ? 1 : 0);
  const u64 quarter = units / kQuarter;
  const u64 complement = u64{0} - ((quarter ^ (kCosine ? 1 : 0)) & 1);
  const u64 folded = (units ^ complement) & (kQuarter - 1);
  const double angle = (bits_as<double>(folded | bits_as<u64>(kWhole)) - kWhole) * (kTurn / kUnits);
  const u64 negative = (kCosine ? quarter + 1 : quarter) << 62 & u64{1} << 63;
  const u64 sign = kCosine ? 0 : bits_as<u64>(turns) & u64{1} << 63;
  const double value = bits_as<double>(bits_as<u64>(angle) ^ negative ^ sign);
  return size < __builtin_huge_val() ? value : kNoEstimate;
}

// Writes f(lane), rounded to single precision, to `results`. Returns the lanes where it is not
// certain that this is the correctly rounded value of the function.
template <class F>
[[gnu::always_inline]] inline u32 round_estimates(float* results, F f) {
  alignas(64) u32 doubtful[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const double estimate = f(i), margin = estimate * kError;
    const float low = static_cast<float>(estimate - margin);
    const float high = static_cast<float>(estimate + margin);
    results[i] = low;
    doubtful[i] = low == high ? 0 : kAllLanes;
  }
  return top_bits(doubtful);
}

}  // namespace vgpu::machine::VGPU_ISA
