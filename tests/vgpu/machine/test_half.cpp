// SPDX-License-Identifier: Apache-2.0
// Arithmetic in the 16-bit formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "float_formats.hpp"

namespace {

using namespace conformance;

// Exact in long double: 11-bit factors with 5-bit exponents, 8-bit ones with 8-bit exponents where
// 64 bits suffice.
struct HalfType {
  const char* one;
  const char* two;
  const Format& format;
};

std::vector<Case> half_cases() {
  std::vector<Case> cases;
  static const HalfType kTypes[] = {{"f16", "f16x2", kHalf}, {"bf16", "bf16x2", kBfloat}};
  using Binary = long double (*)(long double, long double);
  for (const HalfType& type : kTypes) {
    const Format& f = type.format;
    const auto both = [&](const std::string& op, auto lane) {
      add(cases, op + "." + type.one, "hhh",
          [=](u64 a, u64 b) { return lane(a & 0xffff, b & 0xffff); });
      add(cases, op + "." + type.two, "rrr", [=](u64 a, u64 b) {
        return lane(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16 | lane(a & 0xffff, b & 0xffff);
      });
    };
    const auto rounded = [&](const std::string& op, Binary exact) {
      both(op, [=, &f](u64 a, u64 b) {
        return f.encode(exact(value_of(a, f), value_of(b, f)), Round::kNearest);
      });
    };
    // A sum of bfloat16 numbers may need more bits than long double has; single precision rounds it
    // as well.
    const auto sum = [&f](u64 a, u64 b) {
      const float s = static_cast<float>(value_of(a, f)) + static_cast<float>(value_of(b, f));
      return f.encode(s, Round::kNearest);
    };
    if (&f == &kHalf)
      rounded("add", [](long double x, long double y) { return x + y; });
    else
      both("add", sum);
    rounded("mul", [](long double x, long double y) { return x * y; });
    both("min", [&f](u64 a, u64 b) -> u64 {
      const long double x = value_of(a, f), y = value_of(b, f);
      if (std::isnan(x)) return std::isnan(y) ? 0x7fff : b;
      if (std::isnan(y)) return a;
      if (x == y) return std::signbit(x) ? a : b;
      return x < y ? a : b;
    });
    both("max.NaN", [&f](u64 a, u64 b) -> u64 {
      const long double x = value_of(a, f), y = value_of(b, f);
      if (std::isnan(x) || std::isnan(y)) return 0x7fff;
      if (x == y) return std::signbit(x) ? b : a;
      return x > y ? a : b;
    });
    add(cases, std::string("neg.") + type.two, "rr", [&f](u64 a) {
      const auto negated = [&f](u64 v) -> u64 {
        return std::isnan(value_of(v, f)) ? 0x7fff : v ^ 0x8000;
      };
      return negated(a & 0xffff) | negated(a >> 16 & 0xffff) << 16;
    });
    add(cases, std::string("abs.") + type.one, "hh",
        [&f](u64 a) -> u64 { return std::isnan(value_of(a, f)) ? 0x7fff : a & 0x7fff; });
    add(cases, std::string("setp.lt.") + type.one, "phh",
        [&f](u64 a, u64 b) { return value_of(a, f) < value_of(b, f); });
    add(cases, std::string("setp.geu.") + type.one, "phh",
        [&f](u64 a, u64 b) { return !(value_of(a, f) < value_of(b, f)); });
    add(cases, std::string("{ .reg .pred t; setp.gt.") + type.two + " t|%d, %a, %b; }", "prr",
        [&f](u64 a, u64 b) { return value_of(a >> 16, f) > value_of(b >> 16, f); });
  }
  // The fused operation: 22-bit product and 11-bit addend, exact in the 113 bits of __float128.
  const auto fused = [](u64 a, u64 b, u64 c) -> u64 {
    const long double x = half(a), y = half(b), z = half(c);
    if (std::isnan(x * y + z)) return 0x7fff;
    if (std::isinf(x * y + z)) return kHalf.encode(x * y + z, Round::kNearest);
    const __float128 exact = static_cast<__float128>(x) * y + z;
    // To long double with rounding to odd, so that only the next rounding has an effect.
    long double near = static_cast<long double>(exact);
    const __float128 rest = exact - near;
    if (rest != 0) {
      const long double other =
          std::nextafter(near, rest > 0 ? std::numeric_limits<long double>::infinity()
                                        : -std::numeric_limits<long double>::infinity());
      u64 significand;
      std::memcpy(&significand, &near, sizeof(significand));
      if ((significand & 1) == 0) near = other;
    }
    if (near == 0) near = std::signbit(x * y + z) ? -0.0L : 0.0L;
    return kHalf.encode(near, Round::kNearest);
  };
  add(cases, "fma.rn.f16", "hhhh", [=](u64 a, u64 b, u64 c) { return fused(a, b, c); });
  add(cases, "fma.rn.f16x2", "rrrr",
      [=](u64 a, u64 b, u64 c) { return fused(a >> 16, b >> 16, c >> 16) << 16 | fused(a, b, c); });
  add(cases, "add.sat.f16", "hhh", [](u64 a, u64 b) {
    const long double s = half(a) + half(b);
    return kHalf.encode(s > 0 ? std::min(s, 1.0L) : 0.0L, Round::kNearest);
  });
  return cases;
}

class HalfInstruction : public testing::TestWithParam<Case> {};
TEST_P(HalfInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Half, HalfInstruction, testing::ValuesIn(half_cases()), with_index);

}  // namespace
