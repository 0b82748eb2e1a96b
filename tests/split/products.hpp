// SPDX-License-Identifier: Apache-2.0
// Products of split operands, and SGEMM's results for them.
#pragma once
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "operands/input.hpp"
#include "support/device_memory.hpp"
#include "verify/bound.hpp"

namespace ladder::split_test {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLargest = std::numeric_limits<float>::max();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

inline const KernelInfo& kernel(const std::string& id) { return *find_kernels(id).value().front(); }

struct Matrices {
  Problem p;
  std::vector<float> a, b, c;
  float& at_a(std::int64_t i, std::int64_t k) {
    return a[p.op_a == Op::kNone ? i * p.lda + k : k * p.lda + i];
  }
  float& at_b(std::int64_t k, std::int64_t j) {
    return b[p.op_b == Op::kNone ? k * p.ldb + j : j * p.ldb + k];
  }
};

inline Matrices uniform(const Problem& p, std::uint64_t seed = 3) {
  const Images images = make_images(p, {Values::kUniform, seed}, Precision::kIeee).value();
  return {p, images.a, images.b, images.c};
}

inline std::vector<float> run(const KernelInfo& which, const Matrices& x) {
  const auto a = test::upload(x.a), b = test::upload(x.b), c = test::upload(x.c);
  const Status status = which.launch(x.p, {a.get(), b.get(), c.get()}, nullptr);
  EXPECT_TRUE(status) << status.message();
  return test::download(c, x.c.size());
}

struct Sums {
  double sum = 0, absolute = 0;
  bool finite = true, nan = false;
};
inline Sums exact(Matrices& x, std::int64_t i, std::int64_t j) {
  Sums s;
  for (std::int64_t k = 0; k < x.p.k; ++k) {
    const double product = static_cast<double>(x.at_a(i, k)) * x.at_b(k, j);
    s.sum += product;
    s.absolute += std::abs(product);
  }
  s.nan = std::isnan(s.sum);
  s.finite = std::isfinite(s.sum) && std::abs(s.sum) <= kLargest;
  return s;
}

// Inf and NaN where SGEMM has them, finite elements within the bound of `precision`.
inline void expect_as_sgemm(Matrices x, const std::string& id) {
  const KernelInfo& which = kernel(id);
  const std::vector<float> c = run(which, x);
  const ErrorBound bound = error_bound(x.p, which.precision).value();
  int wrong = 0;
  for (std::int64_t i = 0; i < x.p.m; ++i) {
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      const float got = c[i * x.p.ldc + j];
      const Sums s = exact(x, i, j);
      bool ok = false;
      if (s.nan) {
        ok = std::isnan(got);
      } else if (!s.finite) {
        ok = std::isinf(got) && std::signbit(got) == (s.sum < 0);
      } else {
        ok = std::abs(got - s.sum) <= bound.at(s.absolute, 0);
      }
      if (!ok && wrong++ < 3)
        ADD_FAILURE() << id << " C(" << i << "," << j << ") is " << got << ", exactly " << s.sum;
    }
  }
  EXPECT_EQ(wrong, 0) << id;
}

inline const std::vector<std::string> kAll{"ladder_bf16x6", "ladder_bf16x9", "ladder_fp16x3",
                                           "ladder_fp16x3_fused", "ladder_guarded"};
inline const std::pair<Op, Op> kOps[] = {
    {Op::kNone, Op::kNone}, {Op::kNone, Op::kTranspose}, {Op::kTranspose, Op::kNone}};

}  // namespace ladder::split_test
