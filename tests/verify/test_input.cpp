// SPDX-License-Identifier: Apache-2.0
#include "operands/input.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "verify/battery.hpp"
#include "verify/reference.hpp"

namespace ladder {
namespace {

TEST(Integers, NoPartialSumReaches2To24) {
  for (const std::int64_t k : {1, 2, 7, 100, 4096, 65536, 1 << 23, (1 << 23) + 5, 1 << 27}) {
    for (const float alpha : {0.0F, 1.0F, -3.0F, 64.0F}) {
      for (const float beta : {0.0F, 1.0F, -5.0F, 64.0F}) {
        const auto range = integer_range(make_problem(1, 1, k, alpha, beta), Precision::kIeee);
        ASSERT_TRUE(range);
        const auto [operand, c, stride] = range.value();
        const std::int64_t terms = (k + stride - 1) / stride;
        const double scale = std::max(1.0, std::abs(static_cast<double>(alpha)));
        EXPECT_LT(scale * static_cast<double>(operand * operand * terms) +
                      std::abs(beta) * static_cast<double>(c),
                  0x1p24);
        EXPECT_GE(operand, 1);
        EXPECT_GE(c, 1);
      }
    }
  }
}

TEST(Integers, FitTf32WhereTheKernelIsTf32) {
  EXPECT_EQ(integer_range(make_problem(1, 1, 1), Precision::kTf32).value().operand, 2048);
  // They are not exact for ieee kernels, so that tf32 instead of FP32 is detected.
  EXPECT_GT(integer_range(make_problem(1, 1, 1), Precision::kIeee).value().operand, 2048);
}

TEST(Integers, RefuseFractionalScalars) {
  EXPECT_EQ(integer_range(make_problem(1, 1, 1, 0.5F), Precision::kIeee).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(integer_range(make_problem(1, 1, 1, 1, NAN), Precision::kIeee).status().code(),
            Code::kInvalidArgument);
}

TEST(Images, ValuesDoNotDependOnLeadingDimensionsOrLayout) {
  const Problem tight = make_problem(5, 7, 3, 1, 1);
  Problem wide = tight;
  wide.lda += 2, wide.ldb += 3, wide.ldc += 4;
  const Problem columns = make_problem(5, 7, 3, 1, 1, Op::kTranspose, Op::kNone, Layout::kColMajor);
  for (const Values values : {Values::kIntegers, Values::kUniform, Values::kScaled}) {
    const Images one = make_images(tight, {values, 9}, Precision::kIeee).value();
    const Images two = make_images(wide, {values, 9}, Precision::kIeee).value();
    const Images three = make_images(columns, {values, 9}, Precision::kIeee).value();
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t k = 0; k < 3; ++k) {
        EXPECT_EQ(one.a[i * 3 + k], two.a[i * wide.lda + k]);
        EXPECT_EQ(one.a[i * 3 + k], three.a[k + i * 3]);  // op(A) = A' of a column-major 3 x 5
      }
      for (std::int64_t j = 0; j < 7; ++j) {
        EXPECT_EQ(one.c[i * 7 + j], two.c[i * wide.ldc + j]);
        EXPECT_EQ(one.c[i * 7 + j], three.c[j * 5 + i]);
      }
    }
    for (std::int64_t k = 0; k < 3; ++k) {
      for (std::int64_t j = 0; j < 7; ++j) EXPECT_EQ(one.b[k * 7 + j], three.b[j * 3 + k]);
    }
    EXPECT_TRUE(std::isnan(two.a[3]));
    EXPECT_TRUE(std::isnan(two.b[7]));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(two.c[7]), kPoisonBits);
  }
}

TEST(Images, PoisonCWhereBetaIsZeroAndOperandsWhereAsked) {
  const Images images =
      make_images(make_problem(2, 2, 2, 0, 0), {Values::kIntegers, 1, true}, Precision::kIeee)
          .value();
  for (const float x : images.a) EXPECT_TRUE(std::isnan(x));
  for (const float x : images.c) EXPECT_EQ(std::bit_cast<std::uint32_t>(x), kPoisonBits);
}

TEST(Images, SeedsDiffer) {
  const Problem problem = make_problem(4, 4, 4);
  EXPECT_NE(make_images(problem, {Values::kUniform, 1}, Precision::kIeee).value().a,
            make_images(problem, {Values::kUniform, 2}, Precision::kIeee).value().a);
}

TEST(Images, ScaledInputsCancel) {
  const Problem problem = make_problem(16, 16, 64);
  const Images images = make_images(problem, {Values::kScaled, 4}, Precision::kIeee).value();
  const Reference reference =
      make_reference(as_operation(problem, images), ReferenceKind::kHost).value();
  double smallest = 1;
  for (std::size_t i = 0; i < reference.c.size(); ++i) {
    smallest = std::min(smallest, std::abs(reference.c[i]) / reference.abs_products[i]);
  }
  EXPECT_LT(smallest, 1e-3);
}

TEST(Battery, HasEveryContractAndNoCaseTwice) {
  const auto quick = make_battery(Battery::kQuick, 1);
  std::set<std::string> names;
  bool k0 = false, alpha0 = false, beta1 = false, m0 = false, n0 = false, nan = false;
  bool lda = false, ldb = false, ldc = false, scaled = false, prime = false;
  for (const Case& which : quick) {
    EXPECT_TRUE(names.insert(which.name).second) << which.name;
    const Problem& p = which.problem;
    EXPECT_TRUE(validate(p)) << which.name;
    k0 |= p.k == 0;
    alpha0 |= p.alpha == 0;
    beta1 |= p.beta == 1;
    m0 |= p.m == 0;
    n0 |= p.n == 0;
    nan |= which.input.nan_operands;
    lda |= p.lda > p.k;
    ldb |= p.ldb > p.n;
    ldc |= p.ldc > p.n;
    scaled |= which.input.values == Values::kScaled;
    prime |= p.m == 67 && p.n == 61 && p.k == 71;
  }
  EXPECT_TRUE(k0 && alpha0 && beta1 && m0 && n0 && nan && lda && ldb && ldc && scaled && prime);
  EXPECT_GT(make_battery(Battery::kFull, 1).size(), quick.size() + 200);
}

}  // namespace
}  // namespace ladder
