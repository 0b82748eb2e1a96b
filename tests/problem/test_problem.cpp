// SPDX-License-Identifier: Apache-2.0
#include <ladder/problem.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace ladder {
namespace {

TEST(Problem, TightLeadingDimensionsFollowLayoutAndOp) {
  const Problem nn = make_problem(3, 5, 7);
  EXPECT_EQ(nn.lda, 7);
  EXPECT_EQ(nn.ldb, 5);
  EXPECT_EQ(nn.ldc, 5);
  const Problem tt = make_problem(3, 5, 7, 1, 0, Op::kTranspose, Op::kTranspose);
  EXPECT_EQ(tt.lda, 3);
  EXPECT_EQ(tt.ldb, 7);
  EXPECT_EQ(tt.ldc, 5);
  const Problem col = make_problem(3, 5, 7, 1, 0, Op::kNone, Op::kNone, Layout::kColMajor);
  EXPECT_EQ(col.lda, 3);
  EXPECT_EQ(col.ldb, 7);
  EXPECT_EQ(col.ldc, 3);
}

TEST(Problem, EmptySizesAreValidAndNeedLeadingDimensionOne) {
  for (const Problem& p : {make_problem(0, 5, 7), make_problem(3, 0, 7), make_problem(3, 5, 0)}) {
    EXPECT_TRUE(validate(p)) << to_string(p);
    EXPECT_GE(p.lda, 1);
    EXPECT_GE(p.ldb, 1);
    EXPECT_GE(p.ldc, 1);
  }
}

void expect_invalid(const Problem& p, const std::string& argument) {
  const Status status = validate(p);
  ASSERT_FALSE(status) << to_string(p);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message().find(argument + " = "), 0U) << status.message();
}

TEST(Problem, ErrorsNameTheArgument) {
  Problem p = make_problem(3, 5, 7);
  p.m = -1;
  expect_invalid(p, "m");
  p = make_problem(3, 5, 7);
  p.n = -1;
  expect_invalid(p, "n");
  p = make_problem(3, 5, 7);
  p.k = -2;
  expect_invalid(p, "k");
  p = make_problem(3, 5, 7);
  p.lda = 6;
  expect_invalid(p, "lda");
  p = make_problem(3, 5, 7);
  p.ldb = 4;
  expect_invalid(p, "ldb");
  p = make_problem(3, 5, 7);
  p.ldc = 4;
  expect_invalid(p, "ldc");
  p = make_problem(3, 0, 7);
  p.ldc = 0;
  expect_invalid(p, "ldc");
}

TEST(Problem, ExtentMustFitIn63Bits) {
  Problem p = make_problem(3, 5, 7);
  p.lda = std::numeric_limits<std::int64_t>::max() / 4;
  expect_invalid(p, "lda");
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_invalid(make_problem(huge, huge, 1), "ldc");
}

TEST(Problem, ColumnMajorIsTheRowMajorProductOfTheExchangedOperands) {
  const Problem p = make_problem(3, 5, 7, 2, 3, Op::kTranspose, Op::kNone, Layout::kColMajor);
  const auto [row, swapped] = as_row_major(p);
  EXPECT_TRUE(swapped);
  EXPECT_EQ(row.m, 5);
  EXPECT_EQ(row.n, 3);
  EXPECT_EQ(row.op_a, Op::kNone);
  EXPECT_EQ(row.op_b, Op::kTranspose);
  EXPECT_EQ(row.lda, p.ldb);
  EXPECT_EQ(row.ldb, p.lda);
  EXPECT_TRUE(validate(row));
  // The same memory is described: extents of the exchanged operands agree.
  EXPECT_EQ(extent_a(row).elements(), extent_b(p).elements());
  EXPECT_EQ(extent_b(row).elements(), extent_a(p).elements());
  EXPECT_EQ(extent_c(row).elements(), extent_c(p).elements());
}

TEST(Problem, WorkAndTrafficOfTheSeedsSize) {
  const Problem p = make_problem(4092, 4092, 4092, 1, 1);
  EXPECT_NEAR(flops(p) / 1e9, 137.0, 0.1);
  EXPECT_NEAR(least_bytes(p) / 1e6, 268.0, 0.5);  // 201 MB read, 67 MB written
  EXPECT_NEAR(flops(p) / least_bytes(p), 511.0, 1.0);
}

TEST(Problem, BetaZeroReadsNoC_AlphaOrKZeroReadsNoAB) {
  EXPECT_FALSE(reads_c(make_problem(2, 2, 2, 1, 0)));
  EXPECT_TRUE(reads_c(make_problem(2, 2, 2, 1, 1)));
  EXPECT_FALSE(reads_ab(make_problem(2, 2, 2, 0, 1)));
  EXPECT_FALSE(reads_ab(make_problem(2, 2, 0, 1, 1)));
  EXPECT_TRUE(reads_ab(make_problem(2, 2, 2, 1, 1)));
  EXPECT_EQ(least_bytes(make_problem(2, 2, 2, 0, 0)), 4 * 4);
}

TEST(Problem, TextShowsWhatDiffersFromTheDefaults) {
  EXPECT_EQ(to_string(make_problem(3, 5, 7)), "3x5x7");
  Problem p = make_problem(3, 5, 7, 0.5F, -1);
  p.lda = 8;
  EXPECT_EQ(to_string(p), "3x5x7 (lda 8, alpha 0.5, beta -1)");
}

TEST(ParseShape, TakesThreeSizesOrACube) {
  EXPECT_EQ(parse_shape("3x5x7").value(), make_problem(3, 5, 7));
  EXPECT_EQ(parse_shape("128").value(), make_problem(128, 128, 128));
  EXPECT_EQ(parse_shape("0x5x7").value(), make_problem(0, 5, 7));
}

class BadShape : public testing::TestWithParam<const char*> {};

TEST_P(BadShape, IsRefusedAndQuoted) {
  const auto result = parse_shape(GetParam());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().code(), Code::kInvalidArgument);
  EXPECT_NE(result.status().message().find("'" + std::string(GetParam()) + "'"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(ParseShape, BadShape,
                         testing::Values("", "x", "3x", "3x5", "3x5x7x9", "-1x2x3", "3x5xz",
                                         "3.5x2x2", " 3x5x7", "99999999999999999999x1x1",
                                         "4000000000x4000000000x4000000000", "3 5 7"));

}  // namespace
}  // namespace ladder
