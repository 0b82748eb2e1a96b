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
