// SPDX-License-Identifier: Apache-2.0
// The bounds of operands that are sums of terms hold for the terms themselves, also for rows whose
// elements differ much in magnitude, and fail if a term or a product of the mode is omitted.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "operands/encode.hpp"
#include "operands/input.hpp"
#include "verify/bound.hpp"
#include "verify/reference.hpp"

namespace ladder {
namespace {

struct Mode {
  Precision precision;
  Type word;
  int words, products, top;  // the scaled line's largest element is in [2^top, 2^(top + 1))
};
constexpr Mode kFp16x3{Precision::kFp16x3, Type::kF16, 2, 3, 14};
constexpr Mode kBf16x3{Precision::kBf16x3, Type::kBf16, 2, 3, 0};
constexpr Mode kBf16x6{Precision::kBf16x6, Type::kBf16, 3, 6, 0};
constexpr Mode kBf16x9{Precision::kBf16x9, Type::kBf16, 3, 9, 0};

std::vector<std::vector<double>> words_of_line(const std::vector<float>& line, const Mode& mode) {
  float largest = 0;
  for (const float x : line) largest = std::max(largest, std::abs(x));
  const int scale = largest == 0 ? 0 : mode.top - std::ilogb(largest);
  std::vector<std::vector<double>> words(mode.words);
  for (float x : line) {
    x = std::ldexp(x, scale);
    for (auto& word : words) {
      const float w = round_to(mode.word, x);
      word.push_back(std::ldexp(static_cast<double>(w), -scale));
      x -= w;
    }
  }
  return words;
}

// Error of the terms' products, summed exactly, over the bound.
double of_bound(const Mode& mode, const Mode& computed, Values values, std::int64_t k,
                std::uint64_t seed) {
  const Problem problem = make_problem(1, 1, k);
  const Images images = make_images(problem, {values, seed}, mode.precision).value();
  const auto a = words_of_line(images.a, computed), b = words_of_line(images.b, computed);
  double error = 0, abs_products = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    double sum = -static_cast<double>(images.a[i]) * images.b[i];
    abs_products += std::abs(sum);
    for (int v = 0; v < computed.words; ++v) {
      for (int w = 0; w < computed.words; ++w) {
        if (computed.products == computed.words * computed.words || v + w < computed.words)
          sum += a[v][i] * b[w][i];
      }
    }
    error += sum;
  }
  const Operation operation = as_operation(problem, images);
  const ErrorBound bound = error_bound(problem, mode.precision).value();
  return std::abs(error) / bound.at(abs_products, 0, 0, lines_of(operation).of(0, 0));
}

TEST(SplitBound, HoldsForTheWordsOfEveryMode) {
  for (const Mode& mode : {kFp16x3, kBf16x3, kBf16x6, kBf16x9}) {
    for (const Values values : {Values::kUniform, Values::kScaled}) {
      for (const std::int64_t k : {1, 4, 33, 500}) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
          EXPECT_LE(of_bound(mode, mode, values, k, seed), 1)
              << to_string(mode.precision) << " " << to_string(values) << " k " << k << " seed "
              << seed;
        }
      }
    }
  }
}

TEST(SplitBound, IsTooNarrowForFewerWords) {
  Mode one_word = kFp16x3;
  one_word.words = one_word.products = 1;
  int beyond_fp16 = 0, beyond_bf16 = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    beyond_fp16 += of_bound(kFp16x3, one_word, Values::kUniform, 4, seed) > 1 ? 1 : 0;
    beyond_bf16 += of_bound(kBf16x6, kBf16x3, Values::kUniform, 4, seed) > 1 ? 1 : 0;
  }
  EXPECT_GT(beyond_fp16, 180);
  EXPECT_GT(beyond_bf16, 80);
}

TEST(SplitBound, CountsWhatAShortExponentLoses) {
  // A row of one large and one small element, the small one multiplied by a large one of B: the
  // second fp16 term underflows first.
  const Problem problem = make_problem(1, 1, 2);
  Images images = make_images(problem, {Values::kUniform, 1}, Precision::kFp16x3).value();
  images.a = {1.0F, 0x1.234568p-26F};
  images.b = {0x1p-26F, 1.0F};
  const auto a = words_of_line(images.a, kFp16x3);
  const double error = std::abs(a[0][1] + a[1][1] - images.a[1]);
  const double abs_products = static_cast<double>(images.a[0]) * images.b[0] +
                              static_cast<double>(images.a[1]) * images.b[1];
  const ErrorBound bound = error_bound(problem, Precision::kFp16x3).value();
  EXPECT_GT(error, bound.at(abs_products, 0) * 0.01);
  EXPECT_GT(bound.at(abs_products, 0, 0, lines_of(as_operation(problem, images)).of(0, 0)),
            bound.at(abs_products, 0));
  EXPECT_EQ(error_bound(problem, Precision::kIeee).value().floor, 0);
}

TEST(SplitBound, IsBelowSgemmsWhereKIsDeep) {
  for (const std::int64_t k : {512, 4096, 1 << 20}) {
    const Problem problem = make_problem(1, 1, k);
    const double ieee = error_bound(problem, Precision::kIeee).value().products;
    EXPECT_LT(error_bound(problem, Precision::kFp16x3).value().products, ieee);
    EXPECT_LT(error_bound(problem, Precision::kBf16x6).value().products, ieee);
    EXPECT_GT(error_bound(problem, Precision::kTf32).value().products, ieee);
  }
}

TEST(SplitBound, IntegersAreThoseOfTheFirstWordWhereProductsAreLeftOut) {
  EXPECT_EQ(integer_range(make_problem(1, 1, 1), Precision::kFp16x3).value().operand, 2048);
  EXPECT_EQ(integer_range(make_problem(1, 1, 1), Precision::kBf16x3).value().operand, 256);
  EXPECT_GT(integer_range(make_problem(1, 1, 1), Precision::kBf16x6).value().operand, 2048);
}

}  // namespace
}  // namespace ladder
