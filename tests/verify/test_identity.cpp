// SPDX-License-Identifier: Apache-2.0
// The O(n^2) identity accepts correct results and finds any single element that is wrong by more
// than twice its row's bound.
#include "verify/identity.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ladder {
namespace {

struct Fixture {
  Problem problem;
  Input input;
  Images images;
  Operation operation;
  ErrorBound bound;
  std::vector<float> c;  // a correct result: the reference, rounded once

  Fixture(const Problem& p, Values values) : problem(p), input{values, 5} {
    images = make_images(problem, input, Precision::kIeee).value();
    operation = as_operation(problem, images);
    bound = error_bound(problem, Precision::kIeee).value();
    const Reference reference = make_reference(operation, ReferenceKind::kHost).value();
    const Problem& q = operation.problem;
    c.assign(static_cast<std::size_t>(extent_c(q).elements()), 0.0F);
    for (std::int64_t i = 0; i < q.m; ++i) {
      for (std::int64_t j = 0; j < q.n; ++j)
        c[i * q.ldc + j] = static_cast<float>(reference.c[i * q.n + j]);
    }
  }
  IdentityResult check() const { return check_identity(operation, input, bound, c.data()); }

  // The largest common error of all elements of a row: the bound of a correct kernel, times a
  // factor.
  double row_bound(std::int64_t row) const {
    const Reference reference = make_reference(operation, ReferenceKind::kHost).value();
    const Problem& q = operation.problem;
    double sum = 0;
    for (std::int64_t j = 0; j < q.n; ++j) {
      const double before =
          reads_c(q) ? std::abs(static_cast<double>(q.beta) * operation.c[row * q.ldc + j]) : 0;
      sum += bound.at(reference.abs_products[row * q.n + j], before);
    }
    return sum;
  }
};

Problem odd() {
  Problem problem = make_problem(37, 53, 41, -2, 3);
  problem.lda += 3, problem.ldb += 2, problem.ldc += 5;
  return problem;
}

TEST(Identity, AcceptsRightResultsInEveryLayout) {
  for (const Values values : {Values::kIntegers, Values::kUniform, Values::kScaled}) {
    EXPECT_TRUE(Fixture(odd(), values).check().ok);
    EXPECT_TRUE(
        Fixture(make_problem(9, 8, 7, 2, 1, Op::kTranspose, Op::kTranspose, Layout::kColMajor),
                values)
            .check()
            .ok);
    EXPECT_TRUE(Fixture(make_problem(9, 8, 7, 1, 0, Op::kTranspose), values).check().ok);
    EXPECT_TRUE(Fixture(make_problem(64, 200, 300), values).check().ok);
  }
}

TEST(Identity, SeesOneIntegerOffByOneAnywhere) {
  const Fixture right(odd(), Values::kIntegers);
  for (std::int64_t i = 0; i < 37; i += 4) {
    for (std::int64_t j = 0; j < 53; j += 3) {
      Fixture wrong = right;
      wrong.operation = as_operation(wrong.problem, wrong.images);
      wrong.c[i * wrong.problem.ldc + j] += 1;
      const IdentityResult result = wrong.check();
      EXPECT_FALSE(result.ok) << i << "," << j;
      EXPECT_NE(result.reason.find("row " + std::to_string(i)), std::string::npos) << result.reason;
    }
  }
}

TEST(Identity, SeesOneElementBeyondTwiceItsRowsBound) {
  const Fixture right(odd(), Values::kUniform);
  for (std::int64_t i = 0; i < 37; i += 9) {
    const double row = right.row_bound(i);
    for (std::int64_t j = 0; j < 53; j += 13) {
      Fixture wrong = right;
      wrong.operation = as_operation(wrong.problem, wrong.images);
      wrong.c[i * wrong.problem.ldc + j] += static_cast<float>(2.1 * row);
      EXPECT_FALSE(wrong.check().ok) << i << "," << j;
    }
  }
}

TEST(Identity, RejectsNanAndZeros) {
  Fixture setup(make_problem(20, 20, 20), Values::kUniform);
  setup.c[7] = NAN;
  EXPECT_FALSE(setup.check().ok);
  std::ranges::fill(setup.c, 0.0F);
  EXPECT_FALSE(setup.check().ok);
}

TEST(Identity, RejectsAnUnprovableZeroReference) {
  Fixture setup(make_problem(20, 20, 20), Values::kUniform);
  std::ranges::fill(setup.images.a, 0.0F);
  std::ranges::fill(setup.c, 0.0F);
  EXPECT_FALSE(setup.check().ok);
}

}  // namespace
}  // namespace ladder
