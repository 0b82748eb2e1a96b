// SPDX-License-Identifier: Apache-2.0
// Code of the CUDA headers and its mathematical library, executed: within the errors that the CUDA
// Programming Guide states for each function, in units in the last place of the exact value.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "engine_fixture.hpp"
#include "float_formats.hpp"

namespace {

class Functions : public EngineTest {
 protected:
  void SetUp() override { load("functions"); }
};

// A unit in the last place, in T's precision, of the exact value.
template <class T>
long double last_place(long double exact) {
  const T near = std::max(static_cast<T>(std::fabs(exact)), std::numeric_limits<T>::min());
  return static_cast<long double>(std::nextafter(near, std::numeric_limits<T>::infinity())) - near;
}

template <class T>
void expect_near(T result, long double exact, int places, const char* what, T x) {
  EXPECT_TRUE(std::fabs(static_cast<long double>(result) - exact) <= places * last_place<T>(exact))
      << what << "(" << x << ") is " << result << ", exactly " << exact;
}

TEST_F(Functions, SinglePrecision) {
  const int n = 1000;
  std::vector<float> in(n);
  std::mt19937 random(11);
  for (float& x : in) x = std::uniform_real_distribution<float>(-20, 20)(random);
  in[0] = 0, in[1] = 1, in[2] = -1, in[3] = 1e-20F, in[4] = 80, in[5] = -80;
  float* const out = array<float>(n * 16);
  launch("single", {8}, {128}, array(in), out, n);
  for (int i = 0; i < n; ++i) {
    const float x = in[i], positive = std::fabs(x);
    const long double w = x;
    const float* const row = out + i * 16;
    expect_near(row[0], std::exp(w), 2, "expf", x);
    expect_near(row[1], std::log(static_cast<long double>(positive + 1e-3F)), 1, "logf", x);
    expect_near(row[2], std::sin(w), 2, "sinf", x);
    expect_near(row[3], std::cos(w), 2, "cosf", x);
    expect_near(row[4], std::tanh(w), 2, "tanhf", x);
    expect_near(row[5],
                std::pow(static_cast<long double>(positive + 0.5F), static_cast<long double>(1.7F)),
                4, "powf", x);
    EXPECT_EQ(row[6], std::sqrt(positive));
    expect_near(row[7], 1 / std::sqrt(static_cast<long double>(positive + 0.1F)), 2, "rsqrtf", x);
    expect_near(row[8], std::erf(w), 2, "erff", x);
    EXPECT_EQ(row[9], 1.0F / (x + 100.0F));
    EXPECT_EQ(row[10], x / 3.7F);
    expect_near(row[11], std::atan2(w, 2.0L), 3, "atan2f", x);
    expect_near(row[12], std::cbrt(w), 1, "cbrtf", x);
    EXPECT_EQ(row[13], std::floor(x) + std::ceil(x * 0.3F) + std::rint(x * 0.7F) + std::trunc(x));
    EXPECT_EQ(row[14], std::fmod(x, 1.3F));
    expect_near(row[15], std::log1p(static_cast<long double>(positive)), 1, "log1pf", x);
  }
}

TEST_F(Functions, DoublePrecision) {
  const int n = 500;
  std::vector<double> in(n);
  std::mt19937 random(12);
  for (double& x : in) x = std::uniform_real_distribution<double>(-50, 50)(random);
  double* const out = array<double>(n * 8);
  launch("twice", {4}, {128}, array(in), out, n);
  for (int i = 0; i < n; ++i) {
    const double x = in[i], positive = std::fabs(x);
    const long double w = x;
    const double* const row = out + i * 8;
    expect_near(row[0], std::exp(w), 1, "exp", x);
    expect_near(row[1], std::log(static_cast<long double>(positive + 1e-3)), 1, "log", x);
    expect_near(row[2], std::sin(w), 2, "sin", x);
    expect_near(row[3], std::cos(w), 2, "cos", x);
    EXPECT_EQ(row[4], std::sqrt(positive));
    EXPECT_EQ(row[5], x / 3.7);
    EXPECT_EQ(row[6], std::fma(x, x, 1.0));
    expect_near(row[7],
                std::pow(static_cast<long double>(positive + 0.5), static_cast<long double>(1.7)),
                2, "pow", x);
  }
}

TEST_F(Functions, LongIntegers) {
  const int n = 300;
  std::mt19937_64 random(13);
  std::vector<long long> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<long long>(random() >> random() % 60);
    b[i] = static_cast<long long>(random() >> random() % 60) | 1;
    if (i % 3 == 0) a[i] = -a[i];
    if (i % 5 == 0) b[i] = -b[i];
  }
  long long* const out = array<long long>(n * 8);
  launch("integers", {3}, {128}, array(a), array(b), out, n);
  for (int i = 0; i < n; ++i) {
    const long long x = a[i], y = b[i];
    const auto u = static_cast<unsigned long long>(x), v = static_cast<unsigned long long>(y);
    const long long* const row = out + i * 8;
    EXPECT_EQ(row[0], static_cast<long long>(u * v));
    EXPECT_EQ(row[1], x / y);
    EXPECT_EQ(row[2], x % y);
    EXPECT_EQ(row[3], static_cast<long long>(u / v));
    EXPECT_EQ(row[4], static_cast<long long>(u % v));
    EXPECT_EQ(row[5], static_cast<long long>(static_cast<unsigned __int128>(u) * v >> 64));
    EXPECT_EQ(row[6], __builtin_popcountll(u) + 100 * (u == 0 ? 64 : __builtin_clzll(u)) +
                          10000 * __builtin_ffsll(x));
    EXPECT_EQ(row[7], x < y ? x >> (y & 63) : static_cast<long long>(u << (v & 63)));
  }
}

float half_to_float(std::uint32_t code) { return static_cast<float>(conformance::half(code)); }
std::uint32_t exact_half(float v) {
  return static_cast<std::uint32_t>(conformance::kHalf.encode(v, conformance::Round::kNearest));
}

TEST_F(Functions, PairsOfHalves) {
  const int n = 64;
  std::vector<std::uint32_t> a(n), b(n);
  const auto value_a = [](int i) { return static_cast<float>(i % 9 - 4) / 2; };
  const auto value_b = [](int i) { return static_cast<float>(i % 7 - 3) / 4; };
  for (int i = 0; i < n; ++i) {
    a[i] = exact_half(value_a(2 * i)) | exact_half(value_a(2 * i + 1)) << 16;
    b[i] = exact_half(value_b(2 * i)) | exact_half(value_b(2 * i + 1)) << 16;
  }
  std::uint32_t* const out = array<std::uint32_t>(n);
  launch("halves", {1}, {64}, array(a), array(b), out, n);
  for (int i = 0; i < 2 * n; ++i) {
    const float x = value_a(i), y = value_b(i);
    const float expected = std::max(x * y * x + y - y, -4.0F);
    EXPECT_EQ(half_to_float(out[i / 2] >> 16 * (i % 2)), expected) << i;
  }
}

TEST_F(Functions, BfloatSplit) {
  const int n = 256;
  std::vector<float> in(n);
  std::mt19937 random(5);
  for (float& x : in) x = std::uniform_real_distribution<float>(-1, 1)(random);
  float* const out = array<float>(2 * n);
  launch("bfloats", {2}, {128}, array(in), out, n);
  for (int i = 0; i < n; ++i) {
    // Two terms of 8 bits: the remainder is below half a unit in the last place of the second one.
    EXPECT_LE(std::fabs(in[i] - out[2 * i]), std::ldexp(std::fabs(in[i]), -8));
    EXPECT_LE(std::fabs(in[i] - out[2 * i] - out[2 * i + 1]), std::ldexp(std::fabs(in[i]), -16));
  }
}

// Every pair of exponents, with the fractions that are hardest to round: machine code has its own
// sequence for a division, with a slow path at the limits.
TEST_F(Functions, QuotientsAreExact) {
  std::vector<float> a, b;
  std::mt19937 random(11);
  const auto number = [&](std::uint32_t exponent) {
    const auto any = [&] { return static_cast<std::uint32_t>(random()); };
    const std::uint32_t ends = any() % 3;
    const std::uint32_t fraction = any() % 4 != 0   ? any() & 0x7fffff
                                   : any() % 2 == 0 ? 0x7fffff - ends
                                                    : ends;
    return std::bit_cast<float>((any() & 0x80000000) | exponent << 23 | fraction);
  };
  for (std::uint32_t x = 0; x < 256; ++x) {
    for (std::uint32_t y = 0; y < 256; ++y) {
      const int pairs = x > 20 && x < 28 ? 8 : 2;
      for (int k = 0; k < pairs; ++k) {
        a.push_back(number(x));
        b.push_back(number(y));
      }
    }
  }
  const int n = static_cast<int>(a.size());
  float* const out = array<float>(a.size());
  launch("divide", {static_cast<unsigned>(n + 255) / 256, 1, 1}, {256}, array(a), array(b), out, n);
  for (int i = 0; i < n; ++i) {
    const float expected = a[i] / b[i];
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(out[i])) << a[i] << " / " << b[i];
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected))
          << a[i] << " / " << b[i];
    }
  }
}

TEST_F(Functions, ExtremesOfDoubles) {
  const double nan = std::nan(""), infinity = INFINITY;
  const std::vector<double> values = {0.0,   -0.0,     1.5,       -1.5, 1e-310,
                                      1e300, infinity, -infinity, nan,  -nan};
  std::vector<double> a, b;
  for (const double x : values) {
    for (const double y : values) a.push_back(x), b.push_back(y);
  }
  const int n = static_cast<int>(a.size());
  double* const out = array<double>(2 * a.size());
  launch("extremes", {1}, {128}, array(a), array(b), out, n);
  for (int i = 0; i < n; ++i) {
    // As IEEE 754 defines minimumNumber and maximumNumber: -0 is less than +0, a number wins over
    // NaN.
    const auto one_of = [&](double x, double y, bool greater) {
      if (std::isnan(x)) return y;
      if (std::isnan(y)) return x;
      if (x == y) return std::signbit(x) != greater ? x : y;
      return (x < y) != greater ? x : y;
    };
    for (const bool greater : {false, true}) {
      const double got = out[2 * i + (greater ? 1 : 0)], expected = one_of(a[i], b[i], greater);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << a[i] << ", " << b[i];
      } else {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(expected))
            << a[i] << ", " << b[i];
      }
    }
  }
}

TEST_F(Functions, ComparisonsOfHalves) {
  const std::vector<std::uint16_t> values = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x4248, 0xc248,
                                             0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x5640};
  std::vector<std::uint32_t> a, b;
  for (const std::uint16_t x : values) {
    for (const std::uint16_t y : values) {
      a.push_back(x | static_cast<std::uint32_t>(y) << 16);
      b.push_back(y | 0x3c000000u);
    }
  }
  const int n = static_cast<int>(a.size());
  std::uint32_t* const out = array<std::uint32_t>(8 * a.size());
  launch("compare_halves", {2}, {128}, array(a), array(b), out, n);
  const auto is_nan = [](std::uint32_t h) { return (h & 0x7fff) > 0x7c00; };
  for (int i = 0; i < n; ++i) {
    const std::uint32_t* const row = out + 8 * i;
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t hx = a[i] >> 16 * half & 0xffff, hy = b[i] >> 16 * half & 0xffff;
      const float x = half_to_float(hx), y = half_to_float(hy);
      const auto part = [&](int r) { return row[r] >> 16 * half & 0xffff; };
      EXPECT_EQ(part(0), x > y ? 0x3c00u : 0u) << x << ", " << y;
      EXPECT_EQ(part(1), x <= y ? 0xffffu : 0u) << x << ", " << y;
      const bool none = is_nan(hx) || is_nan(hy);
      if (is_nan(hx) && is_nan(hy)) {
        EXPECT_TRUE(is_nan(part(2)));
      } else if (none) {
        EXPECT_EQ(part(2), is_nan(hx) ? hy : hx);
      } else {
        EXPECT_EQ(half_to_float(part(2)), std::min(x, y)) << x << ", " << y;
      }
      EXPECT_EQ(is_nan(part(3)), none) << x << ", " << y;
      const float sum = std::fma(x, y, x);
      if (std::isnan(sum)) {
        EXPECT_TRUE(is_nan(part(4))) << x << ", " << y;
      } else if (!(sum > 0)) {
        EXPECT_EQ(part(4), 0u) << x << ", " << y;
      }
    }
    const float low = half_to_float(a[i] & 0xffff), other = half_to_float(b[i] & 0xffff);
    const float high = half_to_float(a[i] >> 16 & 0xffff);
    EXPECT_EQ(row[5], low < other ? 1u : 0u);
    if (std::isfinite(high)) {
      EXPECT_EQ(static_cast<int>(row[6]), static_cast<int>(high));
    }
    const int integer = static_cast<int>(a[i] % 5000) - 2500;
    const double unit = std::abs(integer) >= 2048 ? 2 : 1;  // of the eleven bits of a half
    EXPECT_EQ(half_to_float(row[7] & 0xffff), std::nearbyint(integer / unit) * unit);
  }
}

}  // namespace
