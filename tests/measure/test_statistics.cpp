// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

namespace ladder {
namespace {

TEST(Statistics, OfNothingAreZero) {
  const Statistics s = describe({});
  EXPECT_EQ(s.n, 0U);
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.noise(), 0);
}

TEST(Statistics, OfOneSample) {
  const Statistics s = describe({3});
  EXPECT_EQ(s.n, 1U);
  EXPECT_EQ(s.min, 3);
  EXPECT_EQ(s.p25, 3);
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.p75, 3);
  EXPECT_EQ(s.max, 3);
  EXPECT_EQ(s.mad, 0);
}

TEST(Statistics, InterpolateAndIgnoreOrder) {
  const Statistics s = describe({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(s.p5, 1.15);
  EXPECT_DOUBLE_EQ(s.p25, 1.75);
  EXPECT_DOUBLE_EQ(s.median, 2.5);
  EXPECT_DOUBLE_EQ(s.p75, 3.25);
  EXPECT_DOUBLE_EQ(s.p95, 3.85);
  EXPECT_DOUBLE_EQ(s.mad, 1.0);  // deviations 1.5, 1.5, 0.5, 0.5
}

TEST(Statistics, OneSlowSampleMovesNeitherMedianNorMad) {
  const Statistics s = describe({10, 10.1, 9.9, 10.05, 500});
  EXPECT_DOUBLE_EQ(s.median, 10.05);
  EXPECT_NEAR(s.mad, 0.05, 1e-12);
  EXPECT_EQ(s.max, 500);
  EXPECT_NEAR(s.noise(), 0.05 / 10.05, 1e-12);
}

}  // namespace
}  // namespace ladder
