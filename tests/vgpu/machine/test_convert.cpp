// SPDX-License-Identifier: Apache-2.0
// cvt between all types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "float_formats.hpp"

namespace {

using namespace conformance;

struct Mode {
  const char* name;
  Round round;
};
constexpr Mode kFloatModes[] = {
    {".rn", Round::kNearest}, {".rz", Round::kZero}, {".rm", Round::kDown}, {".rp", Round::kUp}};
constexpr Mode kIntegerModes[] = {{".rni", Round::kNearest},
                                  {".rzi", Round::kZero},
                                  {".rmi", Round::kDown},
                                  {".rpi", Round::kUp}};

long double integral(long double v, Round round) {
  switch (round) {
    case Round::kZero: return std::trunc(v);
    case Round::kDown: return std::floor(v);
    case Round::kUp: return std::ceil(v);
    default: return std::nearbyint(v);
  }
}

template <class F>
void for_each_integer(F f) {
  f(u8()), f(i8()), f(u16()), f(i16()), f(u32()), f(i32()), f(u64()), f(i64());
}

// A value of the type as a register of at least 16 bits holds it.
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
      add(cases, "cvt." + names, shape,
          [](u64 a) { return in_register(static_cast<D>(static_cast<S>(a))); });
      using Limits = std::numeric_limits<D>;
      using W = __int128;
      // PTX has .sat only where a value can be out of range.
      if (W{Limits::min()} <= W{std::numeric_limits<S>::min()} &&
          W{Limits::max()} >= W{std::numeric_limits<S>::max()}) {
        return;
      }
      add(cases, "cvt.sat." + names, shape, [](u64 a) {
        const W v = static_cast<S>(a);
        return in_register(static_cast<D>(
            std::clamp<W>(v, std::numeric_limits<D>::min(), std::numeric_limits<D>::max())));
      });
    });
  });
  // Registers that are wider than their types.
  add(cases, "cvt.u32.u8", "rr", [](u64 a) { return a & 0xff; });
  add(cases, "cvt.s32.s8", "rr", [](i8 a) { return in_register(i32{a}); });
  add(cases, "cvt.s8.s32", "rr", [](i8 a) { return in_register(a); });
  add(cases, "cvt.u64.u16", "dr", [](u64 a) { return a & 0xffff; });
  add(cases, "cvt.rn.f32.u8", "fr", [](u64 a) { return bits_of(static_cast<float>(a & 0xff)); });
  add(cases, "cvt.rzi.u8.f32", "rf", [](float a) -> u64 {
    const float v = a;
    return std::isnan(v) ? 0 : static_cast<u64>(std::clamp(std::trunc(v), 0.0F, 255.0F));
  });
  return cases;
}

template <class D>
u64 clamped(long double v, Round round, bool nan_is_top) {
  if (std::isnan(v))
    return nan_is_top ? in_register(static_cast<D>(u64{1} << (8 * sizeof(D) - 1))) : 0;
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
      add(cases, p + "." + n + ".f32", {letter(sizeof(T)), 'f'},
          [=](float a) { return clamped<T>(a, mode.round, k64); });
      add(cases, p + "." + n + ".f64", {letter(sizeof(T)), 'g'},
          [=](double a) { return clamped<T>(a, mode.round, true); });
      add(cases, p + "." + n + ".f16", {letter(sizeof(T)), 'h'},
          [=](u64 a) { return clamped<T>(half(a), mode.round, k64); });
    }
    for (const Mode& mode : kFloatModes) {
      const std::string p = "cvt" + std::string(mode.name);
      add(cases, p + ".f32." + n, {'f', letter(sizeof(T))},
          [=](T a) { return kSingle.encode(a, mode.round); });
      add(cases, p + ".f16." + n, {'h', letter(sizeof(T))},
          [=](T a) { return kHalf.encode(a, mode.round); });
      add(cases, p + ".f64." + n, {'g', letter(sizeof(T))}, [=](T a) {
        return Format{11, 52, 0}.encode(a, mode.round);
      });
    }
  });
  return cases;
}

float flushed(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }

// NaN of double precision keeps its sign and the upper bits of its payload, and is made quiet; so
// does one that becomes double precision. As an H100 has it.
constexpr u64 kQuiet = u64{1} << 51;
u64 encode_double(u64 bits, const Format& f, Round round) {
  if (!std::isnan(as_double(bits))) return f.encode(as_double(bits), round);
  const u64 magnitude = (u64{1} << (f.exponent + f.fraction)) - 1;
  return bits >> 63 << (f.exponent + f.fraction) |
         ((bits | kQuiet) >> (52 - f.fraction) & magnitude);
}
u64 widened(u64 code, const Format& f) {
  const long double value = value_of(code, f);
  if (!std::isnan(value)) return bits_of(static_cast<double>(value));
  const u64 payload = code & ((u64{1} << f.fraction) - 1);
  return code >> (f.exponent + f.fraction) << 63 | u64{0x7ff} << 52 | kQuiet |
         payload << (52 - f.fraction);
}

std::vector<Case> float_cases() {
  std::vector<Case> cases;
  for (const Mode& mode : kFloatModes) {
    const std::string p = "cvt" + std::string(mode.name);
    add(cases, p + ".f32.f64", "fg", [=](u64 a) { return encode_double(a, kSingle, mode.round); });
    add(cases, p + ".f16.f32", "hf", [=](float a) { return kHalf.encode(a, mode.round); });
    add(cases, p + ".f16.f64", "hg", [=](u64 a) { return encode_double(a, kHalf, mode.round); });
    add(cases, p + ".ftz.f32.f64", "fg", [=](u64 a) {
      const u64 r = encode_double(a, kSingle, mode.round);
      return std::isnan(as_float(r)) ? r : bits_of(flushed(as_float(r)));
    });
  }
  for (const Mode& mode : std::span(kFloatModes).first(2)) {
    const std::string p = "cvt" + std::string(mode.name);
    add(cases, p + ".bf16.f32", "hf", [=](float a) { return kBfloat.encode(a, mode.round); });
    add(cases, p + ".f16x2.f32", "rff", [=](float a, float b) {
      return kHalf.encode(a, mode.round) << 16 | kHalf.encode(b, mode.round);
    });
    add(cases, p + ".bf16x2.f32", "rff", [=](float a, float b) {
      return kBfloat.encode(a, mode.round) << 16 | kBfloat.encode(b, mode.round);
    });
    add(cases, p + ".relu.bf16.f32", "hf", [=](float a) {
      return std::isnan(a) ? u64{0x7fff} : std::signbit(a) ? 0 : kBfloat.encode(a, mode.round);
    });
  }
  add(cases, "cvt.f32.f16", "fh", [](u64 a) { return static_cast<float>(half(a)); });
  add(cases, "cvt.f32.bf16", "fh", [](u64 a) { return (a & 0xffff) << 16; });
  add(cases, "cvt.f64.f16", "gh", [](u64 a) { return widened(a & 0xffff, kHalf); });
  add(cases, "cvt.f64.f32", "gf", [](u64 a) { return widened(a, kSingle); });
  // NaN as measured on an H100 (rn) and as the compiler's instructions have it (rna).
  constexpr u64 kInfinity = 0x7f800000, kNanOfTf32 = 0x7fffe000;
  const auto ties_away = [](u64 a) {  // half a unit is added to the magnitude
    return (std::isfinite(as_float(a)) ? a + 0x1000 : a) & 0xffffe000;
  };
  add(cases, "cvt.rna.tf32.f32", "rf", [=](u64 a) { return ties_away(a); });
  add(cases, "cvt.rna.satfinite.tf32.f32", "rf", [=](u64 a) {
    const u64 r = ties_away(a);
    return std::isfinite(as_float(r)) ? r : r - 0x2000;
  });
  for (const bool relu : {false, true}) {
    const std::string less = relu ? ".relu" : "";
    add(cases, "cvt.rn" + less + ".tf32.f32", "rf",
        [=](u64 a) -> u64 {
          if (std::isnan(as_float(a))) return kNanOfTf32;
          if (relu && std::signbit(as_float(a))) return 0;
          if (std::isinf(as_float(a))) return a;
          return (a + 0xfff + (a >> 13 & 1)) & 0xffffe000;  // ties to even
        },
        {kInfinity + 1, kInfinity - 1});
    add(cases, "cvt.rz" + less + ".tf32.f32", "rf", [=](u64 a) -> u64 {
      if (std::isnan(as_float(a))) return kNanOfTf32;
      return relu && std::signbit(as_float(a)) ? 0 : a & 0xffffe000;
    });
  }
  static const struct {
    const char* name;
    const Format& format;
  } kBytes[] = {{"e4m3x2", kE4m3}, {"e5m2x2", kE5m2}};
  const auto encode = [](long double value, const Format& format, bool relu) -> u64 {
    if (relu && !std::isnan(value) && std::signbit(value)) return 0;
    return format.encode(value, Round::kNearest, &format != &kHalf);
  };
  for (const auto& [name, format] : kBytes) {
    const Format& f = format;
    for (const bool relu : {false, true}) {
      // Both orders of the modifiers.
      for (const std::string p : {relu ? "cvt.rn.relu.satfinite." : "cvt.rn.satfinite.",
                                  relu ? "cvt.rn.satfinite.relu." : "cvt.rn.satfinite."}) {
        add(cases, p + name + ".f32", "hff", [=, &f](u64 a, u64 b, u64, u64) {
          return encode(as_float(a), f, relu) << 8 | encode(as_float(b), f, relu);
        });
        add(cases, p + name + ".f16x2", "hr", [=, &f](u64 a, u64, u64, u64) {
          return encode(half(a >> 16), f, relu) << 8 | encode(half(a), f, relu);
        });
      }
      add(cases, std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + name, "rh",
          [=, &f](u64 a, u64, u64, u64) {
            return encode(value_of(a >> 8 & 0xff, f), kHalf, relu) << 16 |
                   encode(value_of(a & 0xff, f), kHalf, relu);
          });
    }
  }
  for (const char* const name :
       {"cvt.rz.relu.satfinite.bf16x2.f32", "cvt.rz.satfinite.relu.bf16x2.f32"}) {
    add(cases, name, "rff", [](u64 a, u64 b) {
      const auto one = [](float v) -> u64 {
        if (std::signbit(v) && !std::isnan(v)) return 0;
        return kBfloat.encode(v, Round::kZero, true);
      };
      return one(as_float(a)) << 16 | one(as_float(b));
    });
  }
  for (const Mode& mode : kIntegerModes) {
    const std::string p = "cvt" + std::string(mode.name);
    add(cases, p + ".f32.f32", "ff",
        [=](float a) { return static_cast<float>(integral(a, mode.round)); });
    add(cases, p + ".f64.f64", "gg",
        [=](u64 a) { return twice(static_cast<double>(integral(as_double(a), mode.round)), {a}); });
  }
  add(cases, "cvt.sat.f32.f32", "ff", [](float a) {
    const float v = a;
    return bits_of(v > 0 ? std::min(v, 1.0F) : 0.0F);
  });
  // Instructions that are two operations.
  const auto saturated = [](double v) { return v > 0 ? std::min(v, 1.0) : 0.0; };
  add(cases, "cvt.rn.sat.f32.s32", "fr", [=](i32 a) { return a > 0 ? 1.0F : 0.0F; });
  add(cases, "cvt.rz.sat.f16.u8", "hh", [=](u64 a) -> u64 { return (a & 0xff) != 0 ? 0x3c00 : 0; });
  add(cases, "cvt.sat.f64.f16", "gh",
      [=](u64 a) { return twice(saturated(static_cast<double>(half(a)))); });
  add(cases, "cvt.rm.f64.bf16", "gh", [](u64 a) { return widened(a & 0xffff, kBfloat); });
  add(cases, "cvt.rn.ftz.bf16.f32", "hf", [](float a) {
    const float v = a;
    return kBfloat.encode(std::fpclassify(v) == FP_SUBNORMAL ? v * 0.0F : v, Round::kNearest);
  });
  add(cases, "cvt.bf16.bf16", "hh",
      [](u64 a) { return std::isnan(bfloat(a)) ? 0x7fff : a & 0xffff; });
  add(cases, "cvt.f16.f16", "hh", [](u64 a) { return std::isnan(half(a)) ? 0x7fff : a & 0xffff; });
  add(cases, "cvt.ftz.f32.f32", "ff", [](float a) { return flushed(a); });
  add(cases, "cvt.bf16.f16", "hh", [](u64 a) { return kBfloat.encode(half(a), Round::kNearest); });
  for (const int bits : {2, 4}) {
    for (const bool is_signed : {false, true}) {
      const int most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1,
                least = is_signed ? -most - 1 : 0;
      add(cases,
          "cvt.pack.sat." + std::string(is_signed ? "s" : "u") + std::to_string(bits) + ".s32.b32",
          "rrrr", [=](u64 a, u64 b, u64 c) {
            const auto field = [&](u64 v) {
              return static_cast<u64>(std::clamp(i32(v), least, most)) & ((1u << bits) - 1);
            };
            return (c << 2 * bits | field(a) << bits | field(b)) & 0xffffffff;
          });
    }
  }
  return cases;
}

class ConvertInstruction : public testing::TestWithParam<Case> {};
TEST_P(ConvertInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(ConvertIntegers, ConvertInstruction, testing::ValuesIn(integer_cases()),
                         with_index);
INSTANTIATE_TEST_SUITE_P(ConvertMixed, ConvertInstruction, testing::ValuesIn(mixed_cases()),
                         with_index);
INSTANTIATE_TEST_SUITE_P(ConvertFloats, ConvertInstruction, testing::ValuesIn(float_cases()),
                         with_index);

}  // namespace
