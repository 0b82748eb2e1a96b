// SPDX-License-Identifier: Apache-2.0
// cvt between all types, and arithmetic in the 16-bit formats. Formats narrower than single precision are checked
// against a search of the nearest code, which shares nothing with the engine's bit arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "conformance.hpp"

namespace {

using namespace conformance;

enum class Round { kNearest, kZero, kDown, kUp };
struct Mode {
  const char* name;
  Round round;
};
constexpr Mode kFloatModes[] = {
    {".rn", Round::kNearest}, {".rz", Round::kZero}, {".rm", Round::kDown}, {".rp", Round::kUp}};
constexpr Mode kIntegerModes[] = {
    {".rni", Round::kNearest}, {".rzi", Round::kZero}, {".rmi", Round::kDown}, {".rpi", Round::kUp}};

// A binary format by its parameters; decode is exact in long double.
struct Format {
  int exponent, fraction;
  u64 nan;
  bool infinity = true;

  u64 top() const { return ((u64{1} << exponent) - 1) << fraction; }
  u64 largest() const { return infinity ? top() - 1 : (top() | ((u64{1} << fraction) - 1)) - 1; }
  long double decode(u64 code) const {  // of a magnitude up to the largest
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
    // The next number up; behind the largest, what it would be without a limit.
    const long double high = below < largest() ? decode(below + 1) : 2 * low - decode(below - 1);
    bool up = false;
    switch (round) {
      case Round::kNearest: {
        const long double down = magnitude - low, rise = high - magnitude;
        up = down > rise || (down == rise && (below & 1) != 0);
        break;
      }
      case Round::kZero:
        break;
      case Round::kDown:
        up = negative;
        break;
      case Round::kUp:
        up = !negative;
        break;
    }
    if (!up) return sign | below;
    return sign | (below == largest() ? beyond : below + 1);
  }
};
const Format kHalf{5, 10, 0x7fff}, kBfloat{8, 7, 0x7fff}, kSingle{8, 23, 0x7fffffff};
const Format kE4m3{4, 3, 0x7f, false}, kE5m2{5, 2, 0x7f};

long double value_of(u64 code, const Format& f) {
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
long double half(u64 code) { return value_of(code & 0xffff, kHalf); }
long double bfloat(u64 code) { return value_of(code & 0xffff, kBfloat); }

long double integral(long double v, Round round) {
  switch (round) {
    case Round::kZero:
      return std::trunc(v);
    case Round::kDown:
      return std::floor(v);
    case Round::kUp:
      return std::ceil(v);
    default:
      return std::nearbyint(v);
  }
}

template <class F>
void for_each_integer(F f) {
  f(u8()), f(i8()), f(u16()), f(i16()), f(u32()), f(i32()), f(u64()), f(i64());
}

// What a register of at least 16 bits holds of a value of the type.
template <class T>
u64 in_register(T value) {
  return static_cast<u64>(static_cast<i64>(value));
}

std::vector<Case> integer_cases() {
  std::vector<Case> cases;
  for_each_integer([&](auto to) {
    for_each_integer([&](auto from) {
      using D = decltype(to);
      using S = decltype(from);
      const std::string names = ptx_name<D>() + "." + ptx_name<S>();
      const std::string shape{letter(sizeof(D)), letter(sizeof(S))};
      cases.push_back({"cvt." + names,
                       shape,
                       [](u64 a, u64, u64, u64) { return in_register(static_cast<D>(static_cast<S>(a))); },
                       {}});
      using Limits = std::numeric_limits<D>;
      using W = __int128;
      // PTX has .sat only where a value can lie outside.
      if (W{Limits::min()} <= W{std::numeric_limits<S>::min()} &&
          W{Limits::max()} >= W{std::numeric_limits<S>::max()}) {
        return;
      }
      cases.push_back({"cvt.sat." + names,
                       shape,
                       [](u64 a, u64, u64, u64) {
                         const W v = static_cast<S>(a);
                         return in_register(static_cast<D>(
                             std::clamp<W>(v, std::numeric_limits<D>::min(), std::numeric_limits<D>::max())));
                       },
                       {}});
    });
  });
  // Registers wider than the types they hold.
  cases.push_back({"cvt.u32.u8", "rr", [](u64 a, u64, u64, u64) { return a & 0xff; }, {}});
  cases.push_back({"cvt.s32.s8", "rr", [](u64 a, u64, u64, u64) { return in_register(i32{i8(a)}); }, {}});
  cases.push_back({"cvt.s8.s32", "rr", [](u64 a, u64, u64, u64) { return in_register(i8(a)); }, {}});
  cases.push_back({"cvt.u64.u16", "dr", [](u64 a, u64, u64, u64) { return a & 0xffff; }, {}});
  cases.push_back({"cvt.rn.f32.u8",
                   "fr",
                   [](u64 a, u64, u64, u64) { return bits_of(static_cast<float>(a & 0xff)); },
                   {}});
  cases.push_back({"cvt.rzi.u8.f32",
                   "rf",
                   [](u64 a, u64, u64, u64) -> u64 {
                     const float v = as_float(a);
                     return std::isnan(v) ? 0 : static_cast<u64>(std::clamp(std::trunc(v), 0.0F, 255.0F));
                   },
                   {}});
  return cases;
}

template <class D>
u64 clamped(long double v, Round round, bool nan_is_top) {
  if (std::isnan(v)) return nan_is_top ? in_register(static_cast<D>(u64{1} << (8 * sizeof(D) - 1))) : 0;
  const long double i = integral(v, round);
  const long double low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
  return in_register(i <= low    ? std::numeric_limits<D>::min()
                     : i >= high ? std::numeric_limits<D>::max()
                                 : static_cast<D>(i));
}

std::vector<Case> mixed_cases() {
  std::vector<Case> cases;
  for_each_integer([&](auto type) {
    using T = decltype(type);
    const std::string n = ptx_name<T>();
    for (const Mode& mode : kIntegerModes) {
      const std::string p = "cvt" + std::string(mode.name);
      constexpr bool k64 = sizeof(T) == 8;
      cases.push_back({p + "." + n + ".f32",
                       {letter(sizeof(T)), 'f'},
                       [=](u64 a, u64, u64, u64) { return clamped<T>(as_float(a), mode.round, k64); },
                       {}});
      cases.push_back({p + "." + n + ".f64",
                       {letter(sizeof(T)), 'g'},
                       [=](u64 a, u64, u64, u64) { return clamped<T>(as_double(a), mode.round, true); },
                       {}});
      cases.push_back({p + "." + n + ".f16",
                       {letter(sizeof(T)), 'h'},
                       [=](u64 a, u64, u64, u64) { return clamped<T>(half(a), mode.round, k64); },
                       {}});
    }
    for (const Mode& mode : kFloatModes) {
      const std::string p = "cvt" + std::string(mode.name);
      cases.push_back({p + ".f32." + n,
                       {'f', letter(sizeof(T))},
                       [=](u64 a, u64, u64, u64) { return kSingle.encode(static_cast<T>(a), mode.round); },
                       {}});
      cases.push_back({p + ".f16." + n,
                       {'h', letter(sizeof(T))},
                       [=](u64 a, u64, u64, u64) { return kHalf.encode(static_cast<T>(a), mode.round); },
                       {}});
      cases.push_back({p + ".f64." + n,
                       {'g', letter(sizeof(T))},
                       [=](u64 a, u64, u64, u64) {
                         return Format{11, 52, 0}.encode(static_cast<T>(a), mode.round);
                       },
                       {}});
    }
  });
  return cases;
}

float flushed(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }

std::vector<Case> float_cases() {
  std::vector<Case> cases;
  for (const Mode& mode : kFloatModes) {
    const std::string p = "cvt" + std::string(mode.name);
    cases.push_back({p + ".f32.f64",
                     "fg",
                     [=](u64 a, u64, u64, u64) { return kSingle.encode(as_double(a), mode.round); },
                     {}});
    cases.push_back({p + ".f16.f32",
                     "hf",
                     [=](u64 a, u64, u64, u64) { return kHalf.encode(as_float(a), mode.round); },
                     {}});
    cases.push_back({p + ".f16.f64",
                     "hg",
                     [=](u64 a, u64, u64, u64) { return kHalf.encode(as_double(a), mode.round); },
                     {}});
    cases.push_back({p + ".ftz.f32.f64",
                     "fg",
                     [=](u64 a, u64, u64, u64) {
                       const u64 r = kSingle.encode(as_double(a), mode.round);
                       return std::isnan(as_float(r)) ? r : bits_of(flushed(as_float(r)));
                     },
                     {}});
  }
  for (const Mode& mode : std::span(kFloatModes).first(2)) {
    const std::string p = "cvt" + std::string(mode.name);
    cases.push_back({p + ".bf16.f32",
                     "hf",
                     [=](u64 a, u64, u64, u64) { return kBfloat.encode(as_float(a), mode.round); },
                     {}});
    cases.push_back({p + ".f16x2.f32",
                     "rff",
                     [=](u64 a, u64 b, u64, u64) {
                       return kHalf.encode(as_float(a), mode.round) << 16 |
                              kHalf.encode(as_float(b), mode.round);
                     },
                     {}});
    cases.push_back({p + ".bf16x2.f32",
                     "rff",
                     [=](u64 a, u64 b, u64, u64) {
                       return kBfloat.encode(as_float(a), mode.round) << 16 |
                              kBfloat.encode(as_float(b), mode.round);
                     },
                     {}});
    cases.push_back({p + ".relu.bf16.f32",
                     "hf",
                     [=](u64 a, u64, u64, u64) {
                       return std::isnan(as_float(a))     ? u64{0x7fff}
                              : std::signbit(as_float(a)) ? 0
                                                          : kBfloat.encode(as_float(a), mode.round);
                     },
                     {}});
  }
  cases.push_back(
      {"cvt.f32.f16", "fh", [](u64 a, u64, u64, u64) { return single(static_cast<float>(half(a))); }, {}});
  cases.push_back(
      {"cvt.f32.bf16", "fh", [](u64 a, u64, u64, u64) { return single(static_cast<float>(bfloat(a))); }, {}});
  cases.push_back(
      {"cvt.f64.f16", "gh", [](u64 a, u64, u64, u64) { return twice(static_cast<double>(half(a))); }, {}});
  cases.push_back({"cvt.f64.f32", "gf", [](u64 a, u64, u64, u64) { return twice(double{as_float(a)}); }, {}});
  cases.push_back({"cvt.rna.tf32.f32",
                   "rf",
                   [](u64 a, u64, u64, u64) -> u64 {
                     if (std::isnan(as_float(a))) return 0x7fffffff;
                     if (std::isinf(as_float(a))) return a;
                     return (a + 0x1000) &
                            0xffffe000;  // ties away from zero: half a unit is added to the magnitude
                   },
                   {}});
  cases.push_back({"cvt.rn.tf32.f32",
                   "rf",
                   [](u64 a, u64, u64, u64) -> u64 {
                     if (std::isnan(as_float(a))) return 0x7fffffff;
                     if (std::isinf(as_float(a))) return a;
                     return (a + 0xfff + (a >> 13 & 1)) & 0xffffe000;  // ties to even
                   },
                   {}});
  cases.push_back(
      {"cvt.rz.tf32.f32",
       "rf",
       [](u64 a, u64, u64, u64) -> u64 { return std::isnan(as_float(a)) ? 0x7fffffff : a & 0xffffe000; },
       {}});
  cases.push_back({"cvt.rn.satfinite.e4m3x2.f32",
                   "hff",
                   [](u64 a, u64 b, u64, u64) {
                     return kE4m3.encode(as_float(a), Round::kNearest, true) << 8 |
                            kE4m3.encode(as_float(b), Round::kNearest, true);
                   },
                   {}});
  cases.push_back({"cvt.rn.satfinite.e5m2x2.f32",
                   "hff",
                   [](u64 a, u64 b, u64, u64) {
                     return kE5m2.encode(as_float(a), Round::kNearest, true) << 8 |
                            kE5m2.encode(as_float(b), Round::kNearest, true);
                   },
                   {}});
  cases.push_back({"cvt.rn.f16x2.e4m3x2",
                   "rh",
                   [](u64 a, u64, u64, u64) {
                     return kHalf.encode(value_of(a >> 8 & 0xff, kE4m3), Round::kNearest) << 16 |
                            kHalf.encode(value_of(a & 0xff, kE4m3), Round::kNearest);
                   },
                   {}});
  for (const Mode& mode : kIntegerModes) {
    const std::string p = "cvt" + std::string(mode.name);
    cases.push_back(
        {p + ".f32.f32",
         "ff",
         [=](u64 a, u64, u64, u64) { return single(static_cast<float>(integral(as_float(a), mode.round))); },
         {}});
    cases.push_back(
        {p + ".f64.f64",
         "gg",
         [=](u64 a, u64, u64, u64) { return twice(static_cast<double>(integral(as_double(a), mode.round))); },
         {}});
  }
  cases.push_back({"cvt.sat.f32.f32",
                   "ff",
                   [](u64 a, u64, u64, u64) {
                     const float v = as_float(a);
                     return bits_of(v > 0 ? std::min(v, 1.0F) : 0.0F);
                   },
                   {}});
  return cases;
}

// Exact in long double: 11-bit factors with 5-bit exponents, 8-bit ones with 8-bit exponents where 64 bits suffice.
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
      cases.push_back({op + "." + type.one,
                       "hhh",
                       [=](u64 a, u64 b, u64, u64) { return lane(a & 0xffff, b & 0xffff); },
                       {}});
      cases.push_back({op + "." + type.two,
                       "rrr",
                       [=](u64 a, u64 b, u64, u64) {
                         return lane(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16 | lane(a & 0xffff, b & 0xffff);
                       },
                       {}});
    };
    const auto rounded = [&](const std::string& op, Binary exact) {
      both(op, [=, &f](u64 a, u64 b) {
        return f.encode(exact(value_of(a, f), value_of(b, f)), Round::kNearest);
      });
    };
    // A sum of bfloat16 numbers may need more bits than long double has; single precision rounds it as well.
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
    cases.push_back(
        {std::string("neg.") + type.two, "rr", [](u64 a, u64, u64, u64) { return a ^ 0x80008000; }, {}});
    cases.push_back(
        {std::string("abs.") + type.one, "hh", [](u64 a, u64, u64, u64) { return a & 0x7fff; }, {}});
    cases.push_back({std::string("setp.lt.") + type.one,
                     "phh",
                     [&f](u64 a, u64 b, u64, u64) { return u64{value_of(a, f) < value_of(b, f)}; },
                     {}});
    cases.push_back({std::string("setp.geu.") + type.one,
                     "phh",
                     [&f](u64 a, u64 b, u64, u64) { return u64{!(value_of(a, f) < value_of(b, f))}; },
                     {}});
    cases.push_back(
        {std::string("{ .reg .pred t; setp.gt.") + type.two + " t|%d, %a, %b; }",
         "prr",
         [&f](u64 a, u64 b, u64, u64) { return u64{value_of(a >> 16, f) > value_of(b >> 16, f)}; },
         {}});
  }
  // The fused operation: 22-bit product and 11-bit addend, exact in the 113 bits of __float128.
  const auto fused = [](u64 a, u64 b, u64 c) -> u64 {
    const long double x = half(a), y = half(b), z = half(c);
    if (std::isnan(x * y + z)) return 0x7fff;
    if (std::isinf(x * y + z)) return kHalf.encode(x * y + z, Round::kNearest);
    const __float128 exact = static_cast<__float128>(x) * y + z;
    // To long double rounded to odd, so that the next rounding is the only one.
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
  cases.push_back({"fma.rn.f16", "hhhh", [=](u64 a, u64 b, u64 c, u64) { return fused(a, b, c); }, {}});
  cases.push_back(
      {"fma.rn.f16x2",
       "rrrr",
       [=](u64 a, u64 b, u64 c, u64) { return fused(a >> 16, b >> 16, c >> 16) << 16 | fused(a, b, c); },
       {}});
  cases.push_back({"add.sat.f16",
                   "hhh",
                   [](u64 a, u64 b, u64, u64) {
                     const long double s = half(a) + half(b);
                     return kHalf.encode(s > 0 ? std::min(s, 1.0L) : 0.0L, Round::kNearest);
                   },
                   {}});
  return cases;
}

class ConvertInstruction : public testing::TestWithParam<Case> {};
TEST_P(ConvertInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }
std::string with_index(const testing::TestParamInfo<Case>& info) {
  return name_of(info.param) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(ConvertIntegers, ConvertInstruction, testing::ValuesIn(integer_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(ConvertMixed, ConvertInstruction, testing::ValuesIn(mixed_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(ConvertFloats, ConvertInstruction, testing::ValuesIn(float_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(Half, ConvertInstruction, testing::ValuesIn(half_cases()), with_index);

}  // namespace
