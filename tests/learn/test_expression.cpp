// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "learn/expression.hpp"

namespace ladder::learn {
namespace {

double value_of(const std::string& text, Scope scope = {}) {
  const auto value = evaluate(text, scope);
  EXPECT_TRUE(value) << value.status().message();
  return value ? value.value() : NAN;
}

std::string error_of(const std::string& text) {
  Scope scope;
  const auto value = evaluate(text, scope);
  EXPECT_FALSE(value) << text;
  return value.status().message();
}

TEST(Expression, HasTheUsualPrecedence) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 3 - 2"), 5);
  EXPECT_EQ(value_of("12 / 4 / 3"), 1);
  EXPECT_EQ(value_of("-2 * 3 + 7 % 4"), -3);
  EXPECT_EQ(value_of("1 + 1 == 2 && 3 > 2 || 0"), 1);
  EXPECT_EQ(value_of("2 <= 1"), 0);
  EXPECT_EQ(value_of("1 < 2 ? 10 : 20 + 1"), 10);
}

TEST(Expression, HasFunctions) {
  EXPECT_EQ(value_of("min(3, max(1, 2)) + abs(-4)"), 6);
  EXPECT_EQ(value_of("floor(2.7) + ceil(2.1) + sqrt(16) + log2(8) + pow(2, 5)"), 44);
}

TEST(Expression, ReadsMetricsAndArrays) {
  Scope scope;
  scope.variables["smsp__inst_executed.sum"] = 6;
  scope.variables["n"] = 3;
  scope.arrays["a"] = {1, -2, 4};
  EXPECT_EQ(value_of("smsp__inst_executed.sum / n", scope), 2);
  EXPECT_EQ(value_of("sum(i, n, a[i])", scope), 3);
  EXPECT_EQ(value_of("sum(i, n, sum(j, i, a[j]))", scope), 0);
}

TEST(Expression, MagnitudeCountsTermsWithoutTheirSigns) {
  Scope scope;
  scope.arrays["a"] = {1, -2, 4};
  auto sum = Expression::parse("sum(i, 3, a[i] * a[2 - i])", scope);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.value().evaluate().value, 12);
  auto difference = Expression::parse("a[2] - a[0] - a[2]", scope);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference.value().evaluate().value, -1);
  EXPECT_EQ(difference.value().evaluate().magnitude, 9);
}

TEST(Expression, AnElementOutsideIsNotANumber) {
  Scope scope;
  scope.arrays["a"] = {1};
  EXPECT_TRUE(std::isnan(value_of("a[1]", scope)));
  EXPECT_TRUE(std::isnan(value_of("a[-1]", scope)));
  EXPECT_TRUE(std::isnan(value_of("1 / 0")));
}

TEST(Expression, NamesWhatIsWrong) {
  EXPECT_NE(error_of("1 + nobody").find("nobody"), std::string::npos);
  EXPECT_NE(error_of("b[1]").find("'b'"), std::string::npos);
  EXPECT_NE(error_of("sin(1)").find("'sin'"), std::string::npos);
  EXPECT_NE(error_of("(1").find("')' is missing"), std::string::npos);
  EXPECT_NE(error_of("1 2").find("unexpected"), std::string::npos);
  EXPECT_NE(error_of("").find("missing"), std::string::npos);
  EXPECT_NE(error_of("1.2.3").find("no number"), std::string::npos);
  EXPECT_NE(error_of(std::string(1000, '(')).find("too deeply"), std::string::npos);
}

}  // namespace
}  // namespace ladder::learn
