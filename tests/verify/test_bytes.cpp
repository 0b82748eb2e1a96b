// SPDX-License-Identifier: Apache-2.0
// 8-bit operands with scales: conversions, inputs, the bound, and kernels that verification must
// pass or reject.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "host/query.hpp"
#include "operands/encode.hpp"
#include "verify/bound.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

constexpr Type kBytes[] = {Type::kE4m3, Type::kE5m2};

TEST(Bytes, EveryNumberSurvives) {
  std::array<std::uint8_t, 256> all{};
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  for (const Type type : kBytes) {
    const std::vector<std::uint32_t> words = decode(type, std::as_bytes(std::span(all)));
    const std::vector<std::byte> again = encode(type, std::span(words));
    int nans = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float value = std::bit_cast<float>(words[i]);
      nans += std::isnan(value) ? 1 : 0;
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(static_cast<std::uint8_t>(again[i]), all[i]) << to_string(type);
    }
    EXPECT_EQ(nans, type == Type::kE4m3 ? 2 : 6);
  }
}

TEST(Bytes, RoundToNearestAndSaturate) {
  const auto e4m3 = [](float x) { return round_to(Type::kE4m3, x); };
  EXPECT_EQ(e4m3(17), 16);
  EXPECT_EQ(e4m3(19), 20);
  EXPECT_EQ(e4m3(-17.01F), -18);
  EXPECT_EQ(e4m3(463), 448);
  EXPECT_EQ(e4m3(1e9F), 448);
  EXPECT_EQ(e4m3(-INFINITY), -448);
  EXPECT_EQ(e4m3(0x1p-10F), 0);
  EXPECT_EQ(e4m3(0x1.8p-9F), 0x1p-8F);
  EXPECT_EQ(e4m3(0x1.fcp-7F), 0x1p-6F);
  EXPECT_TRUE(std::isnan(e4m3(NAN)));
  const auto e5m2 = [](float x) { return round_to(Type::kE5m2, x); };
  EXPECT_EQ(e5m2(9), 8);
  EXPECT_EQ(e5m2(11), 12);
  EXPECT_EQ(e5m2(1e9F), 57344);
  EXPECT_EQ(e5m2(0x1.8p-16F), 0x1p-15F);
  EXPECT_EQ(e5m2(0x1p-17F), 0);
}

Problem k_major(std::int64_t m, std::int64_t n, std::int64_t k, Scaling scaling,
                Type in = Type::kE4m3) {
  Problem p = make_problem(m, n, k, 1, 0, Op::kNone, Op::kTranspose);
  p.in = in;
  p.scaling = scaling;
  return p;
}

TEST(Bytes, ImagesAreElementsTimesScales) {
  for (const Scaling scaling : {Scaling::kTensor, Scaling::kBlock}) {
    Problem p = k_major(5, 300, 259, scaling);
    p.lda += 3;
    for (const Values values : {Values::kIntegers, Values::kUniform, Values::kScaled}) {
      const Images x = make_images(p, {values, 5}, Precision::kFp8).value();
      const bool blocks = scaling == Scaling::kBlock;
      ASSERT_EQ(x.scales_a.size(), blocks ? 3 * 5 : 1);
      ASSERT_EQ(x.scales_b.size(), blocks ? 3 * 4 : 1);
      for (std::int64_t k = 0; k < p.k; ++k) {
        for (std::int64_t i = 0; i < p.m; ++i) {
          const float plain = x.plain_a[i * p.lda + k];
          EXPECT_EQ(plain, round_to(p.in, plain));
          EXPECT_EQ(x.a[i * p.lda + k], plain * x.scales_a[blocks ? k / 128 * 5 + i : 0]);
        }
        for (std::int64_t j = 0; j < p.n; ++j) {
          const float scale = x.scales_b[blocks ? j / 128 * 4 + k / 128 : 0];
          EXPECT_EQ(x.b[j * p.ldb + k], x.plain_b[j * p.ldb + k] * scale);
        }
      }
      EXPECT_TRUE(std::isnan(x.plain_a[p.k]));
      if (values != Values::kUniform) continue;
      const auto numbers = std::span(x.plain_b).first(static_cast<std::size_t>(p.k));
      EXPECT_GT(*std::ranges::max_element(numbers), 220);
      EXPECT_TRUE(!blocks || x.scales_b[0] != x.scales_b[1]);
    }
  }
}

TEST(Bytes, SumsOfIntegersFitThirteenFractionBits) {
  for (const std::int64_t k : {1, 100, 128, 4096, 100000}) {
    const Images x =
        make_images(k_major(2, 2, k, Scaling::kBlock), {Values::kIntegers, 3}, Precision::kFp8)
            .value();
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += std::abs(x.plain_a[i] * x.plain_b[i]);
    EXPECT_LE(sum, 0x1p13) << k;
    EXPECT_GT(*std::ranges::max_element(x.plain_a), 0);
  }
}

// x cut to 13 fraction bits of the largest summand's exponent.
double cut(double x, int exponent) {
  const double unit = std::ldexp(1.0, exponent - 13);
  return std::trunc(x / unit) * unit;
}

// A tensor core's sum of `count` products, 32 at a time on top of the sum so far.
double tensor_sum(const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += 32) {
    const std::int64_t end = std::min(count, begin + 32);
    int exponent = sum == 0 ? -133 : std::ilogb(sum);
    for (std::int64_t k = begin; k < end; ++k) {
      if (a[k] != 0 && b[k] != 0)
        exponent = std::max(exponent, std::ilogb(a[k]) + std::ilogb(b[k]));
    }
    double next = cut(sum, exponent);
    for (std::int64_t k = begin; k < end; ++k)
      next += cut(static_cast<double>(a[k]) * b[k], exponent);
    sum = next == 0 ? 0 : cut(next, std::ilogb(next));
  }
  return sum;
}

TEST(Bytes, TheBoundHoldsForPromotedSumsAndNotForOneLongSum) {
  for (const std::int64_t k : {1, 32, 128, 500, 16384}) {
    const Problem p = k_major(1, 1, k, Scaling::kBlock);
    const ErrorBound bound = error_bound(p, Precision::kFp8).value();
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      Images x = make_images(p, {Values::kUniform, seed}, Precision::kFp8).value();
      if (seed % 2 == 0) {  // of one sign: truncation takes from every summand
        for (auto* image : {&x.a, &x.b, &x.plain_a, &x.plain_b})
          for (float& value : *image) value = std::abs(value);
      }
      double exact = 0;
      double abs_products = 0;
      float sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        exact += static_cast<double>(x.a[i]) * x.b[i];
        abs_products += std::abs(static_cast<double>(x.a[i]) * x.b[i]);
      }
      for (std::int64_t begin = 0; begin < k; begin += 128) {
        const auto partial = static_cast<float>(tensor_sum(&x.plain_a[begin], &x.plain_b[begin],
                                                           std::min<std::int64_t>(128, k - begin)));
        sum += x.scales_a[begin / 128] * x.scales_b[begin / 128] * partial;
      }
      EXPECT_LE(std::abs(sum - exact), bound.at(abs_products, 0)) << k << " " << seed;
      if (k < 16384 || seed % 2 != 0) continue;
      double plain = 0;
      for (std::int64_t i = 0; i < k; ++i)
        plain += static_cast<double>(x.plain_a[i]) * x.plain_b[i];
      const double one_sum = tensor_sum(x.plain_a.data(), x.plain_b.data(), k);
      EXPECT_GT(std::abs(one_sum - plain), bound.at(plain, 0)) << seed;
    }
  }
}

enum class Bug { kNone, kNoScales, kScalesOfTheNextBlock, kScalesOfA, kLastElement };

template <Bug kBug>
Status multiply(const Problem& p, const Operands& o, Stream) {
  const auto read = [&](const std::uint8_t* base, std::int64_t at) {
    return std::bit_cast<float>(decode(p.in, std::as_bytes(std::span(base + at, 1)))[0]);
  };
  const std::int64_t ld_b = extent_scales_b(p).ld;
  const std::int64_t blocks_k = extent_scales_a(p).lines;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      const std::int64_t end = kBug == Bug::kLastElement ? p.k - 1 : p.k;
      for (std::int64_t k = 0; reads_ab(p) && k < end; ++k) {
        std::int64_t block = k / kScaleBlock;
        if (kBug == Bug::kScalesOfTheNextBlock) block = (block + 1) % blocks_k;
        double scale = 1;
        if (kBug != Bug::kNoScales) scale = o.scales_a[block * p.m + i];
        if (kBug != Bug::kNoScales && kBug != Bug::kScalesOfA)
          scale *= o.scales_b[j / kScaleBlock * ld_b + block];
        sum += scale * read(o.a_as<std::uint8_t>(), i * p.lda + k) *
               read(o.b_as<std::uint8_t>(), j * p.ldb + k);
      }
      double result = p.alpha * sum;
      if (reads_c(p)) result += p.beta * o.c[i * p.ldc + j];
      o.c[i * p.ldc + j] = static_cast<float>(result);
    }
  }
  return Status::ok();
}

Outcome outcome_of(Status (*launch)(const Problem&, const Operands&, Stream)) {
  const KernelInfo kernel{.id = "bytes",
                          .rung = "bytes",
                          .idea = "bytes",
                          .place = Place::kHost,
                          .precision = Precision::kFp8,
                          .in = Type::kE4m3,
                          .scaling = Scaling::kBlock,
                          .k_major = true,
                          .accepts =
                              [](const Problem& p, const Device&) {
                                return p.op_a == Op::kNone && p.op_b == Op::kTranspose &&
                                               p.layout == Layout::kRowMajor
                                           ? Status::ok()
                                           : Status(Code::kUnsupportedProblem, "K-major only");
                              },
                          .launch = launch};
  ReferenceStore store;
  std::vector<Case> cases = make_battery(Battery::kQuick, 1);
  for (Case& which : cases_of(make_problem(7, 140, 300), 1)) cases.push_back(which);
  return verify(kernel, cases, host_device(), {}, store).outcome;
}

TEST(Bytes, AnHonestKernelPassesAndBrokenOnesAreRejected) {
  EXPECT_EQ(outcome_of(multiply<Bug::kNone>), Outcome::kPassed);
  EXPECT_EQ(outcome_of(multiply<Bug::kNoScales>), Outcome::kWrongValue);
  EXPECT_EQ(outcome_of(multiply<Bug::kScalesOfTheNextBlock>), Outcome::kWrongValue);
  EXPECT_EQ(outcome_of(multiply<Bug::kScalesOfA>), Outcome::kWrongValue);
  EXPECT_EQ(outcome_of(multiply<Bug::kLastElement>), Outcome::kWrongValue);
}

TEST(Bytes, AKMajorKernelGetsTransposedBAndTheSameGaps) {
  KernelInfo kernel;
  kernel.in = Type::kE5m2;
  kernel.out = Type::kBf16;
  kernel.scaling = Scaling::kTensor;
  kernel.k_major = true;
  kernel.accepts = [](const Problem&, const Device&) { return Status::ok(); };
  Problem p = make_problem(3, 4, 50);
  p.ldb += 6;
  const Problem typed = in_types_of(kernel, p);
  EXPECT_EQ(to_string(typed), "3x4x50 (e5m2 to bf16, tensor scales, op NT, ldb 56)");
  EXPECT_TRUE(accepts(kernel, typed, host_device()));
  Problem blocks = typed;
  blocks.scaling = Scaling::kBlock;
  const Status refused = accepts(kernel, blocks, host_device());
  EXPECT_NE(refused.message().find("takes e5m2 operands with tensor scales and gives bf16"),
            std::string::npos)
      << refused.message();
}

}  // namespace
}  // namespace ladder
