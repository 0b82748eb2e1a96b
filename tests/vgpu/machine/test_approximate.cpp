// SPDX-License-Identifier: Apache-2.0
// Instructions of single precision for which PTX gives a bound of the error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "conformance.hpp"

namespace {

using namespace conformance;

struct Range {
  float low, high;
};

// The instruction's result is compared with the function in long double.
struct Approximate {
  const char* instruction;
  long double (*f)(long double);
  long double relative, absolute;  // PTX's bound
  Range range;                     // where it holds
};
long double inverse_root(long double x) { return 1 / std::sqrt(x); }
const Approximate kApproximate[] = {
    {"rcp.approx.f32", [](long double x) { return 1 / x; }, 0x1p-23L, 0, {1e-37F, 1e37F}},
    {"sqrt.approx.f32", [](long double x) { return std::sqrt(x); }, 0x1p-23L, 0, {1e-42F, 1e38F}},
    {"rsqrt.approx.f32", inverse_root, 0x1p-22L, 0, {1e-30F, 1e30F}},
    {"sin.approx.f32",
     [](long double x) { return std::sin(x); },
     0,
     0x1p-20L,
     {-3.14159F, 3.14159F}},
    {"cos.approx.f32",
     [](long double x) { return std::cos(x); },
     0,
     0x1p-20L,
     {-3.14159F, 3.14159F}},
    {"lg2.approx.f32",
     [](long double x) { return std::log2(x); },
     0x1p-22L,
     0x1p-22L,
     {1e-30F, 1e30F}},
    {"ex2.approx.f32", [](long double x) { return std::exp2(x); }, 0x1p-22L, 0, {-100, 100}},
    {"tanh.approx.f32", [](long double x) { return std::tanh(x); }, 0x1p-11L, 0, {-10, 10}},
};

// `count` numbers, geometric in a range of positive ones.
std::vector<float> spread(Range range, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const double t = i / (count - 1.0), low = range.low, high = range.high;
    values.push_back(
        static_cast<float>(low > 0 ? low * std::pow(high / low, t) : low + (high - low) * t));
  }
  return values;
}

class ApproximateFunction : public testing::TestWithParam<Approximate> {};

TEST_P(ApproximateFunction, IsWithinItsBound) {
  const Approximate& a = GetParam();
  std::vector<u64> values;
  for (const float value : spread(a.range, 2001)) values.push_back(bits_of(value));
  const std::vector<u64> results = run(a.instruction, "ff", values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double exact = a.f(static_cast<long double>(as_float(values[i])));
    const long double error = std::fabs(static_cast<long double>(as_float(results[i])) - exact);
    ASSERT_TRUE(error <= a.relative * std::fabs(exact) + a.absolute)
        << a.instruction << " of " << as_float(values[i]) << " is " << as_float(results[i]);
  }
}
INSTANTIATE_TEST_SUITE_P(Float, ApproximateFunction, testing::ValuesIn(kApproximate));

// Quotients are within two units in the last place of the exact one, for these magnitudes of the
// divisor.
struct Quotient {
  const char* instruction;
  bool flushes;  // subnormal operands and results become zero
  Range divisors;
};
constexpr float kLeast = 0x1p-149F, kLargest = std::numeric_limits<float>::max();
const Quotient kQuotients[] = {
    {"div.approx.f32", false, {0x1p-126F, 0x1p126F}},
    {"div.approx.ftz.f32", true, {0x1p-126F, 0x1p126F}},
    {"div.full.f32", false, {kLeast, kLargest}},
    {"div.full.ftz.f32", true, {kLeast, kLargest}},
};

long double flushed(long double a) { return std::fabs(a) < 0x1p-126L ? std::copysign(0.0L, a) : a; }
long double unit_in_the_last_place(long double a) {
  return a == 0 ? 0x1p-149L : std::ldexp(1.0L, std::max(std::ilogb(a), -126) - 23);
}

class ApproximateQuotient : public testing::TestWithParam<Quotient> {};

TEST_P(ApproximateQuotient, IsWithinTwoUnits) {
  const Quotient& q = GetParam();
  std::vector<u64> a, b;
  for (const float dividend : spread({kLeast, kLargest}, 64)) {
    for (const float divisor : spread(q.divisors, 64)) {
      a.push_back(bits_of(a.size() % 2 == 0 ? dividend : -dividend));
      b.push_back(bits_of(b.size() % 3 == 0 ? divisor : -divisor));
    }
  }
  const std::vector<u64> results = run(q.instruction, "fff", a, b);
  const auto in = [&](u64 bits) {
    const long double value = as_float(bits);
    return q.flushes ? flushed(value) : value;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double quotient = in(a[i]) / in(b[i]),
                      exact = q.flushes ? flushed(quotient) : quotient;
    const long double result = as_float(results[i]);
    const bool close = std::fabs(exact) >= 0x1p128L
                           ? result == std::copysign(HUGE_VALL, exact)
                           : std::fabs(result - exact) <= 2 * unit_in_the_last_place(exact);
    // 0 / 0 is NaN.
    ASSERT_TRUE(close || (std::isnan(exact) && std::isnan(result)))
        << q.instruction << " of " << as_float(a[i]) << " and " << as_float(b[i]) << " is "
        << as_float(results[i]);
  }
}
INSTANTIATE_TEST_SUITE_P(Float, ApproximateQuotient, testing::ValuesIn(kQuotients));

struct Special {
  const char* instruction;
  u64 a, result, b = 0;
};
constexpr u64 kInfinity = 0x7f800000, kMinusInfinity = 0xff800000, kNan = 0x7fffffff;
constexpr u64 kMinusZero = 0x80000000, kOne = 0x3f800000, kMinusOne = 0xbf800000;
constexpr u64 kHuge = 0x7f000000;       // 2^127
constexpr u64 kSubnormal = 0x00000001;  // 2^-149
const Special kSpecials[] = {
    {"ex2.approx.f32", kInfinity, kInfinity},
    {"ex2.approx.f32", kMinusInfinity, 0},
    {"ex2.approx.ftz.f32", 0x80000001, 0x3f800000},
    {"lg2.approx.f32", 0, kMinusInfinity},
    {"lg2.approx.f32", 0x80000000, kMinusInfinity},
    {"lg2.approx.f32", 0xbf800000, kNan},
    {"lg2.approx.ftz.f32", 1, kMinusInfinity},
    {"rsqrt.approx.f32", 0, kInfinity},
    {"rsqrt.approx.f32", 0x80000000, kMinusInfinity},
    {"rsqrt.approx.f32", kInfinity, 0},
    {"rsqrt.approx.f32", 0xbf800000, kNan},
    {"sin.approx.f32", 0x80000000, 0x80000000},
    {"sin.approx.f32", kInfinity, kNan},
    {"cos.approx.f32", 0, 0x3f800000},
    {"cos.approx.f32", kMinusInfinity, kNan},
    {"sqrt.approx.ftz.f32", 0x80000001, 0x80000000},
    {"rcp.approx.f32", 0x80000000, kMinusInfinity},
    {"rcp.approx.f32", 0xff000000, 0x80400000},
    {"rcp.approx.ftz.f32", 0xff000000, 0x80000000},
    {"ex2.approx.f32", 0xc3020000, 0x00080000},
    {"ex2.approx.ftz.f32", 0xc3020000, 0},
    {"lg2.approx.f32", 1, 0xc3150000},
    {"rsqrt.approx.f32", 2, 0x64800000},
    {"tanh.approx.f32", kInfinity, 0x3f800000},
    // x / 2^127: PTX defines 0, and NaN where x is infinite.
    {"div.approx.f32", kHuge, 0, kHuge},
    {"div.approx.f32", 0xff000000, kMinusZero, kHuge},
    {"div.approx.f32", kInfinity, kNan, kHuge},
    {"div.approx.ftz.f32", kHuge, 0, kHuge},
    {"div.approx.ftz.f32", kInfinity, kNan, kHuge},
    {"div.full.f32", kHuge, kOne, kHuge},
    {"div.full.f32", kInfinity, kInfinity, kHuge},
    {"div.full.ftz.f32", kHuge, kOne, kHuge},
    {"div.full.f32", kSubnormal, kOne, kSubnormal},
    {"div.full.ftz.f32", kOne, kInfinity, kSubnormal},
    {"div.full.ftz.f32", 0x80000001, kMinusZero, kOne},
    {"div.approx.ftz.f32", kOne, kMinusInfinity, 0x80000001},
    {"div.approx.ftz.f32", kSubnormal, 0, kOne},
};
std::vector<Special> specials() {
  std::vector<Special> all(std::begin(kSpecials), std::end(kSpecials));
  // As in IEEE 754.
  for (const char* const name :
       {"div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32"}) {
    for (const Special& of :
         {Special{name, kOne, kInfinity, 0}, Special{name, kMinusOne, kInfinity, kMinusZero},
          Special{name, kOne, kMinusInfinity, kMinusZero}, Special{name, 0, kNan, 0},
          Special{name, kMinusZero, kMinusZero, kOne}, Special{name, kOne, 0, kInfinity},
          Special{name, kMinusOne, kMinusZero, kInfinity},
          Special{name, kInfinity, kMinusInfinity, kMinusOne},
          Special{name, kInfinity, kNan, kInfinity}, Special{name, kNan, kNan, kOne},
          Special{name, kOne, kNan, 0x7fc00000}})
      all.push_back(of);
  }
  return all;
}
class ApproximateFunctionAtTheEdge : public testing::TestWithParam<Special> {};
TEST_P(ApproximateFunctionAtTheEdge, IsWhatPtxDefines) {
  const Special& special = GetParam();
  const bool divides = std::string(special.instruction).starts_with("div");
  const std::vector<u64> results =
      run(special.instruction, divides ? "fff" : "ff", {special.a}, {special.b});
  EXPECT_EQ(results[0], special.result)
      << special.instruction << " of 0x" << std::hex << special.a << ", 0x" << special.b;
}
INSTANTIATE_TEST_SUITE_P(Float, ApproximateFunctionAtTheEdge, testing::ValuesIn(specials()));

}  // namespace
