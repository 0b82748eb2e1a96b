// SPDX-License-Identifier: Apache-2.0
// Binary formats of 8 and 16 bits by their parameters: a value is exact in long double, and its
// code is found by a search for the nearest value, independently of the engine's bit arithmetic.
#pragma once
#include <cmath>
#include <limits>

#include "conformance.hpp"

namespace conformance {

enum class Round { kNearest, kZero, kDown, kUp };

// A binary format by its parameters; decode is exact in long double.
struct Format {
  int exponent, fraction;
  u64 nan;
  bool infinity = true;

  u64 top() const { return ((u64{1} << exponent) - 1) << fraction; }
  u64 largest() const { return infinity ? top() - 1 : (top() | ((u64{1} << fraction) - 1)) - 1; }
  long double decode(u64 code) const {  // a magnitude up to the largest
    const u64 e = code >> fraction, f = code & ((u64{1} << fraction) - 1);
    const int bias = (1 << (exponent - 1)) - 1;
    return std::ldexp(static_cast<long double>(e == 0 ? f : f + (u64{1} << fraction)),
                      static_cast<int>(e == 0 ? 1 : e) - bias - fraction);
  }
  // The greatest code whose value is not above `magnitude`.
  u64 floor(long double magnitude) const {
    u64 low = 0, high = largest();
    while (low < high) {
      const u64 middle = (low + high + 1) / 2;
      if (decode(middle) <= magnitude)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  u64 encode(long double value, Round round, bool finite = false) const {
    if (std::isnan(value)) return nan;
    const bool negative = std::signbit(value);
    const u64 sign = u64{negative} << (exponent + fraction);
    const long double magnitude = std::fabs(value);
    const u64 beyond = finite ? largest() : infinity ? top() : nan;
    if (std::isinf(magnitude)) return sign | beyond;
    const u64 below = floor(magnitude);
    const long double low = decode(below);
    if (low == magnitude) return sign | below;
    // The next larger number; after the largest, the value that it would have without a limit.
    const long double high = below < largest() ? decode(below + 1) : 2 * low - decode(below - 1);
    bool up = false;
    switch (round) {
      case Round::kNearest: {
        const long double down = magnitude - low, rise = high - magnitude;
        up = down > rise || (down == rise && (below & 1) != 0);
        break;
      }
      case Round::kZero: break;
      case Round::kDown: up = negative; break;
      case Round::kUp: up = !negative; break;
    }
    if (!up) return sign | below;
    return sign | (below == largest() ? beyond : below + 1);
  }
};
inline const Format kHalf{5, 10, 0x7fff}, kBfloat{8, 7, 0x7fff}, kSingle{8, 23, 0x7fffffff};
inline const Format kE4m3{4, 3, 0x7f, false}, kE5m2{5, 2, 0x7f};

inline long double value_of(u64 code, const Format& f) {
  const int bits = f.exponent + f.fraction;
  const u64 magnitude = code & ((u64{1} << bits) - 1);
  long double value;
  if (f.infinity ? magnitude > f.top() : magnitude == f.nan)
    value = std::numeric_limits<long double>::quiet_NaN();
  else if (f.infinity && magnitude == f.top())
    value = std::numeric_limits<long double>::infinity();
  else
    value = f.decode(magnitude);
  return (code >> bits & 1) != 0 ? -value : value;
}
inline long double half(u64 code) { return value_of(code & 0xffff, kHalf); }
inline long double bfloat(u64 code) { return value_of(code & 0xffff, kBfloat); }

}  // namespace conformance
