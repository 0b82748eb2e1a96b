// SPDX-License-Identifier: Apache-2.0
// The bound holds for FP32 sums in every order that kernels use, and is not wider than stated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "operands/input.hpp"
#include "verify/bound.hpp"

namespace ladder {
namespace {

enum class Order { kForward, kBackward, kPairwise, kStrided, kFused };
constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kPairwise, Order::kStrided,
                             Order::kFused};

float pairwise(const std::vector<float>& x, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return x[begin];
  const std::size_t middle = (begin + end) / 2;
  return pairwise(x, begin, middle) + pairwise(x, middle, end);
}

float dot(const std::vector<float>& a, const std::vector<float>& b, Order order) {
  const std::size_t k = a.size();
  std::vector<float> products(k);
  for (std::size_t i = 0; i < k; ++i) products[i] = a[i] * b[i];
  float sum = 0;
  switch (order) {
    case Order::kForward:
      for (const float product : products) sum += product;
      return sum;
    case Order::kBackward:
      for (std::size_t i = k; i-- > 0;) sum += products[i];
      return sum;
    case Order::kPairwise: return pairwise(products, 0, k);
    case Order::kStrided: {
      float lanes[8] = {};
      for (std::size_t i = 0; i < k; ++i) lanes[i % 8] += products[i];
      for (const float lane : lanes) sum += lane;
      return sum;
    }
    case Order::kFused:
      for (std::size_t i = 0; i < k; ++i) sum = std::fma(a[i], b[i], sum);
      return sum;
  }
  return sum;
}

class BoundHolds : public ::testing::TestWithParam<Values> {};

TEST_P(BoundHolds, ForEverySummationOrder) {
  double closest = 0;
  for (const std::int64_t k : {1, 2, 3, 8, 31, 128, 1000}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Problem problem =
          make_problem(1, 1, k, seed % 2 == 0 ? 1.0F : -1.7F, seed % 3 == 0 ? 0.0F : 0.3F);
      const auto images = make_images(problem, {GetParam(), seed}, Precision::kIeee);
      ASSERT_TRUE(images);
      const std::vector<float>&a = images.value().a, &b = images.value().b, &c = images.value().c;
      double exact = 0;
      double abs_products = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        exact += static_cast<double>(a[i]) * b[i];
        abs_products += std::abs(static_cast<double>(a[i]) * b[i]);
      }
      const double before = reads_c(problem) ? static_cast<double>(problem.beta) * c[0] : 0.0;
      exact = problem.alpha * exact + before;
      const auto bound = error_bound(problem, Precision::kIeee);
      ASSERT_TRUE(bound);
      const double limit =
          bound.value().at(std::abs(problem.alpha) * abs_products, std::abs(before));
      for (const Order order : kOrders) {
        float result = problem.alpha * dot(a, b, order);
        if (reads_c(problem)) result += problem.beta * c[0];
        const double error = std::abs(result - exact);
        EXPECT_LE(error, limit) << "k " << k << " seed " << seed << " order "
                                << static_cast<int>(order);
        closest = std::max(closest, error / limit);
      }
    }
  }
  // A bound that no computation approaches would prove little: k = 1 comes within a small factor.
  EXPECT_GT(closest, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Inputs, BoundHolds, ::testing::Values(Values::kUniform, Values::kScaled));

float cut_to_tf32(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFFE000U);
}

TEST(Bound, Tf32HoldsForTruncatedOperandsAndIeeeDoesNot) {
  int beyond_ieee = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = make_problem(1, 1, 4);
    const auto images = make_images(problem, {Values::kUniform, seed}, Precision::kTf32);
    ASSERT_TRUE(images);
    const std::vector<float>&a = images.value().a, &b = images.value().b;
    double exact = 0;
    double abs_products = 0;
    float sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      exact += static_cast<double>(a[i]) * b[i];
      abs_products += std::abs(static_cast<double>(a[i]) * b[i]);
      sum = std::fma(cut_to_tf32(a[i]), cut_to_tf32(b[i]), sum);
    }
    const double error = std::abs(sum - exact);
    EXPECT_LE(error, error_bound(problem, Precision::kTf32).value().at(abs_products, 0));
    if (error > error_bound(problem, Precision::kIeee).value().at(abs_products, 0)) ++beyond_ieee;
  }
  EXPECT_GT(beyond_ieee, 180);
}

TEST(Bound, RefusesKWithoutABound) {
  EXPECT_TRUE(error_bound(make_problem(1, 1, 1 << 20), Precision::kIeee));
  EXPECT_EQ(error_bound(make_problem(1, 1, 1 << 24), Precision::kIeee).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(error_bound(make_problem(1, 1, 1 << 22), Precision::kTf32).status().code(),
            Code::kInvalidArgument);
}

TEST(Bound, GrowsWithKAndCountsSubnormals) {
  const auto small = error_bound(make_problem(1, 1, 10), Precision::kIeee).value();
  const auto large = error_bound(make_problem(1, 1, 1000), Precision::kIeee).value();
  EXPECT_GT(large.products, 50 * small.products);
  EXPECT_GT(small.at(0, 0), 0);
  EXPECT_LT(small.at(0, 0), 1e-43);
}

}  // namespace
}  // namespace ladder
