// SPDX-License-Identifier: Apache-2.0
// The atlas measures errors of results that are off by known amounts, and its data have the
// properties that give the distributions their names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "verify/atlas.hpp"

namespace ladder {
namespace {

TEST(AtlasErrors, AreThoseOfTheDefinitions) {
  const Problem p = make_problem(1, 4, 1);
  Reference reference;
  reference.c = {1.0, -2.0, 4.0, 0.0};
  reference.abs_products = {2.0, 2.0, 8.0, 1.0};
  const float ulp = std::numeric_limits<float>::epsilon();  // of 1
  const std::vector<float> c{1.0F, -2.0F - 2 * ulp, 4.0F + 64 * ulp, 0.0F};
  const AtlasErrors errors = errors_of(p, reference, c);
  EXPECT_DOUBLE_EQ(errors.componentwise, 8 * ulp);
  EXPECT_DOUBLE_EQ(errors.largest, 16 * ulp);
  EXPECT_NEAR(errors.normwise, std::sqrt((4 + 64.0 * 64) / 21) * ulp, 1e-12);
  EXPECT_EQ(errors.ulps[0], 2U);  // exact
  EXPECT_EQ(errors.ulps[1], 1U);  // one unit in the last place of 2
  EXPECT_EQ(errors.ulps[5], 1U);  // sixteen of 4
  EXPECT_EQ(errors.not_finite, 0U);
}

TEST(AtlasErrors, NanIsCountedAndNoError) {
  Reference reference;
  reference.c = {1.0, 1.0};
  reference.abs_products = {1.0, 1.0};
  const std::vector<float> c{std::nanf(""), 1.0F};
  const AtlasErrors errors = errors_of(make_problem(1, 2, 1), reference, c);
  EXPECT_EQ(errors.not_finite, 1U);
  EXPECT_EQ(errors.normwise, 0);
}

double spread_of(const std::vector<float>& x) {  // binades
  float least = HUGE_VALF, most = 0;
  for (const float value : x) {
    if (value == 0) continue;
    least = std::min(least, std::abs(value));
    most = std::max(most, std::abs(value));
  }
  return std::log2(most) - std::log2(least);
}

TEST(AtlasData, IsWhatItsNameSays) {
  const Problem p = make_problem(40, 30, 200);
  for (const Distribution distribution : distributions()) {
    const Images one = draw(p, distribution, 1), same = draw(p, distribution, 1),
                 other = draw(p, distribution, 2);
    EXPECT_EQ(one.a, same.a) << to_string(distribution);
    EXPECT_NE(one.a, other.a) << to_string(distribution);
    EXPECT_EQ(one.b.size(), 200U * 30U);
  }
  for (const float x : draw(p, Distribution::kPositive, 1).a) EXPECT_GE(x, 0);
  EXPECT_GT(spread_of(draw(p, Distribution::kSpread4, 1).a),
            spread_of(draw(p, Distribution::kSpread1, 1).a) + 10);
  EXPECT_GT(spread_of(draw(p, Distribution::kGraded, 1).a), 40);
}

TEST(AtlasData, CancellingCancels) {
  const Problem p = make_problem(8, 8, 64);
  const Images x = draw(p, Distribution::kCancelling, 3);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t k = 0; k < p.k; k += 2) {
        const double first = static_cast<double>(x.a[i * p.k + k]) * x.b[k * p.n + j];
        const double second = static_cast<double>(x.a[i * p.k + k + 1]) * x.b[(k + 1) * p.n + j];
        EXPECT_LE(std::abs(first + second), 0x1.01p-10 * std::abs(first));
      }
    }
  }
}

}  // namespace
}  // namespace ladder
