// SPDX-License-Identifier: Apache-2.0
// Guarded products: their choice, and their errors beside a chain of additions.
#pragma once
#include <ladder/guard.hpp>

#include "products.hpp"
#include "verify/atlas.hpp"

namespace ladder::split_test {

inline Precision chosen_on(Matrices x) {
  expect_as_sgemm(x, "ladder_guarded");
  const auto choice = guarded_choice(nullptr);
  EXPECT_TRUE(choice) << choice.status().message();
  return choice ? choice.value() : Precision::kTf32;
}

// Of all elements: the square root of the sum of squares of errors.
inline double error_of(Matrices& x, const std::vector<float>& c) {
  double squares = 0;
  for (std::int64_t i = 0; i < x.p.m; ++i) {
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      const double error = c[static_cast<std::size_t>(i * x.p.ldc + j)] - exact(x, i, j).sum;
      squares += error * error;
    }
  }
  return std::sqrt(squares);
}

// As SGEMM adds: one chain per element.
inline std::vector<float> chains_of(Matrices& x) {
  std::vector<float> c(x.c);
  for (std::int64_t i = 0; i < x.p.m; ++i) {
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < x.p.k; ++k) sum = std::fma(x.at_a(i, k), x.at_b(k, j), sum);
      c[static_cast<std::size_t>(i * x.p.ldc + j)] = sum;
    }
  }
  return c;
}

inline Matrices drawn(const Problem& p, Distribution distribution) {
  const Images images = draw(make_problem(p.m, p.n, p.k), distribution, 17);
  Matrices x = uniform(p);
  for (std::int64_t k = 0; k < p.k; ++k) {
    for (std::int64_t i = 0; i < p.m; ++i)
      x.at_a(i, k) = images.a[static_cast<std::size_t>(i * p.k + k)];
    for (std::int64_t j = 0; j < p.n; ++j)
      x.at_b(k, j) = images.b[static_cast<std::size_t>(k * p.n + j)];
  }
  return x;
}

// Integers, whose sums are exact in terms and in binary64.
inline void expect_exact(const Problem& p, bool proved) {
  const Images images = make_images(p, {Values::kIntegers, 5}, Precision::kIeee).value();
  Matrices x{p, images.a, images.b, images.c};
  if (!proved) x.at_a(1, 1) = 0x1p24F;
  const std::vector<float> c = run(kernel("ladder_guarded"), x);
  EXPECT_EQ(guarded_choice(nullptr).value(), proved ? Precision::kFp16x3 : Precision::kIeee);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const auto at = static_cast<std::size_t>(i * p.ldc + j);
      ASSERT_EQ(c[at], static_cast<float>(p.alpha * exact(x, i, j).sum +
                                          (p.beta == 0 ? 0.0 : p.beta * x.c[at])));
    }
  }
}

}  // namespace ladder::split_test
