// SPDX-License-Identifier: Apache-2.0
// Single and double precision, bit for bit. (test_approximate.cpp: what PTX gives a bound for.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <span>

#include "conformance.hpp"

namespace {

using namespace conformance;

// The host's arithmetic with a rounding mode; volatile keeps it at run time and between the changes
// of mode.
template <class T, class F>
T under(int mode, F f, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  const int saved = std::fegetround();
  std::fesetround(mode);
  volatile T result = f(x, y, z);
  std::fesetround(saved);
  return result;
}

float flushed(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }
template <class T>
T saturated(T a) {
  return a > 0 ? std::min(a, T(1)) : T(0);
}

struct Mode {
  const char* name;
  int rounding;
};
constexpr Mode kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T>
T add(T a, T b, T) {
  return a + b;
}
template <class T>
T subtract(T a, T b, T) {
  return a - b;
}
template <class T>
T multiply(T a, T b, T) {
  return a * b;
}
template <class T>
T fused(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
T divide(T a, T b, T) {
  return a / b;
}
template <class T>
T reciprocal(T a, T, T) {
  return T(1) / a;
}
template <class T>
T root(T a, T, T) {
  return std::sqrt(a);
}

void single_arithmetic(std::vector<Case>& cases) {
  struct Operation {
    const char* name;
    std::size_t operands;
    float (*f)(float, float, float);
    bool saturates;
  };
  const Operation kOperations[] = {
      {"add", 2, add<float>, true},      {"sub", 2, subtract<float>, true},
      {"mul", 2, multiply<float>, true}, {"fma", 3, fused<float>, true},
      {"div", 2, divide<float>, false},  {"rcp", 1, reciprocal<float>, false},
      {"sqrt", 1, root<float>, false}};
  for (const Operation& o : kOperations) {
    for (const Mode& mode : kModes) {
      for (const bool ftz : {false, true}) {
        for (const bool sat : {false, true}) {
          if (sat && !o.saturates) continue;
          const std::string name =
              std::string(o.name) + mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32";
          add(cases, name, std::string(o.operands + 1, 'f'), [=](u64 a, u64 b, u64 c) {
            const auto in = [&](u64 v) { return ftz ? flushed(as_float(v)) : as_float(v); };
            float r = under<float>(mode.rounding, o.f, in(a), in(b), in(c));
            if (ftz) r = flushed(r);
            return sat ? bits_of(std::isnan(r) ? 0.0F : saturated(r)) : single(r);
          });
        }
      }
    }
  }
  for (const Operation& o : std::span(kOperations).first(3)) {  // without a rounding modifier
    add(cases, std::string(o.name) + ".f32", "fff",
        [=](float a, float b) { return under<float>(FE_TONEAREST, o.f, a, b, 0); });
  }
}

void double_arithmetic(std::vector<Case>& cases) {
  struct Operation {
    const char* name;
    std::size_t operands;
    double (*f)(double, double, double);
    const char* nan;  // the order in which operands that are NaN become the result
  };
  const Operation kOperations[] = {
      {"add", 2, add<double>, "ba"},      {"sub", 2, subtract<double>, "ba"},
      {"mul", 2, multiply<double>, "ba"}, {"fma", 3, fused<double>, "bca"},
      {"div", 2, divide<double>, "ab"},   {"rcp", 1, reciprocal<double>, "a"},
      {"sqrt", 1, root<double>, "a"}};
  for (const Operation& o : kOperations) {
    for (const Mode& mode : kModes) {
      add(cases, std::string(o.name) + mode.name + ".f64", std::string(o.operands + 1, 'g'),
          [=](u64 a, u64 b, u64 c) {
            const u64 all[] = {a, b, c};
            u64 order[3];
            for (std::size_t i = 0; i < 3; ++i)
              order[i] = all[o.nan[std::min(i, o.operands - 1)] - 'a'];
            return twice(
                under<double>(mode.rounding, o.f, as_double(a), as_double(b), as_double(c)),
                {order[0], order[1], order[2]});
          });
    }
  }
}

template <class T>
T least(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
float signs(float a, float b, float of) {
  return std::copysign(of, std::signbit(a) != std::signbit(b) ? -1.0F : 1.0F);
}

void extremes_and_signs(std::vector<Case>& cases) {
  add(cases, "min.f32", "fff", [](float a, float b) { return least(a, b); });
  add(cases, "max.f32", "fff", [](float a, float b) { return greatest(a, b); });
  add(cases, "min.ftz.f32", "fff", [](float a, float b) { return least(flushed(a), flushed(b)); });
  add(cases, "max.NaN.f32", "fff", [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return u64{0x7fffffff};
    return single(greatest(a, b));
  });
  add(cases, "min.xorsign.abs.f32", "fff", [](float a, float b) {
    const float r = least(std::fabs(a), std::fabs(b));
    return signs(a, b, r);
  });
  add(cases, "min.f64", "ggg", [](double a, u64 b) {
    const double r = least(a, as_double(b));
    return twice(r, {std::isnan(r) ? b : 0});
  });
  add(cases, "max.f64", "ggg", [](double a, u64 b) {
    const double r = greatest(a, as_double(b));
    return twice(r, {std::isnan(r) ? b : 0});
  });
  // Sums with zero, on an H100.
  add(cases, "neg.f32", "ff", [](float a) { return -a; });
  add(cases, "abs.f32", "ff", [](float a) { return std::fabs(a); });
  add(cases, "abs.ftz.f32", "ff", [](float a) { return std::fabs(flushed(a)); });
  add(cases, "neg.f64", "gg", [](u64 a) { return twice(-as_double(a), {a}); });
  add(cases, "abs.f64", "gg", [](u64 a) { return twice(std::fabs(as_double(a)), {a}); });
  add(cases, "copysign.f32", "fff",
      [](u64 a, u64 b) { return (a & 0x80000000) | (b & 0x7fffffff); });
  add(cases, "copysign.f64", "ggg", [](u64 a, u64 b) { return (a >> 63 << 63) | (b << 1 >> 1); });
}

template <class T>
T value_of(u64 bits) {
  if constexpr (sizeof(T) == 8)
    return as_double(bits);
  else
    return as_float(bits);
}

template <class T>
void classes(std::vector<Case>& cases) {
  const bool wide = sizeof(T) == 8;
  const std::string type = wide ? "f64" : "f32", shape = wide ? "pg" : "pf";
  const auto test = [&](const char* name, auto f) {
    add(cases, std::string("testp.") + name + "." + type, shape,
        [=](u64 a) { return f(value_of<T>(a)); });
  };
  test("finite", [](T a) { return std::isfinite(a); });
  test("infinite", [](T a) { return std::isinf(a); });
  test("number", [](T a) { return !std::isnan(a); });
  test("notanumber", [](T a) { return std::isnan(a); });
  test("normal", [](T a) { return std::fpclassify(a) == FP_NORMAL; });
  test("subnormal", [](T a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

template <class T>
void comparisons(std::vector<Case>& cases) {
  const bool wide = sizeof(T) == 8;
  const std::string type = wide ? "f64" : "f32", shape = wide ? "pgg" : "pff";
  const auto test = [&](const std::string& name, auto f) {
    add(cases, "setp." + name + "." + type, shape,
        [=](u64 a, u64 b) { return f(value_of<T>(a), value_of<T>(b)); });
    if (wide) return;
    add(cases, "setp." + name + ".ftz." + type, shape,
        [=](float a, float b) { return f(T(flushed(a)), T(flushed(b))); });
  };
  const auto unordered = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
  test("eq", [=](T a, T b) { return !unordered(a, b) && a == b; });
  test("ne", [=](T a, T b) { return !unordered(a, b) && a != b; });
  test("lt", [=](T a, T b) { return !unordered(a, b) && a < b; });
  test("le", [=](T a, T b) { return !unordered(a, b) && a <= b; });
  test("gt", [=](T a, T b) { return !unordered(a, b) && a > b; });
  test("ge", [=](T a, T b) { return !unordered(a, b) && a >= b; });
  test("equ", [=](T a, T b) { return unordered(a, b) || a == b; });
  test("neu", [=](T a, T b) { return unordered(a, b) || a != b; });
  test("ltu", [=](T a, T b) { return unordered(a, b) || a < b; });
  test("leu", [=](T a, T b) { return unordered(a, b) || a <= b; });
  test("gtu", [=](T a, T b) { return unordered(a, b) || a > b; });
  test("geu", [=](T a, T b) { return unordered(a, b) || a >= b; });
  test("num", [=](T a, T b) { return !unordered(a, b); });
  test("nan", [=](T a, T b) { return unordered(a, b); });
}

std::vector<Case> exact_cases() {
  std::vector<Case> cases;
  single_arithmetic(cases);
  double_arithmetic(cases);
  extremes_and_signs(cases);
  classes<float>(cases);
  classes<double>(cases);
  comparisons<float>(cases);
  comparisons<double>(cases);
  // From and for the upper 32 bits.
  for (const bool root : {false, true}) {
    add(cases, root ? "rsqrt.approx.ftz.f64" : "rcp.approx.ftz.f64", "gg", [root](u64 a) -> u64 {
      const auto upper = [](u64 bits) {
        const bool subnormal = (bits >> 52 & 0x7ff) == 0;
        return bits >> (subnormal ? 63 : 32) << (subnormal ? 63 : 32);
      };
      const double v = as_double(upper(a));
      const double r = 1 / (root ? std::sqrt(v) : v);
      return std::isnan(r) ? 0x7fffffff00000000 : upper(bits_of(r));
    });
  }
  return cases;
}

class FloatInstruction : public testing::TestWithParam<Case> {};
TEST_P(FloatInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Float, FloatInstruction, testing::ValuesIn(exact_cases()), with_index);

}  // namespace
