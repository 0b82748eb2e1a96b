// SPDX-License-Identifier: Apache-2.0
// Products of real numbers and of special values by the C interface, compared with FP64 within
// bounds that are derived (docs/verification.md): on every GPU, in every precision that it
// computes, for every layout and pair of operations. A, B and C lie among NaNs, which nothing may
// read or write.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "library/support.hpp"
#include "problem/split_error.hpp"

namespace ladder::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();
constexpr ladder_layout kLayouts[] = {LADDER_ROW_MAJOR, LADDER_COL_MAJOR};

// A matrix with gaps and guards of NaN, on both sides. `at` is the index of an element of op(X).
struct Matrix {
  std::int64_t rows, cols, ld;
  bool along_rows;  // in memory, of op(X)
  std::vector<float> host;
  OnDevice<float> there;
  static constexpr std::int64_t kGuard = 64;

  Matrix(std::int64_t m, std::int64_t n, std::int64_t pad, bool is_along_rows)
      : rows(m),
        cols(n),
        ld(std::max<std::int64_t>(1, is_along_rows ? n : m) + pad),
        along_rows(is_along_rows),
        host(static_cast<std::size_t>(2 * kGuard + ld * (is_along_rows ? m : n)), kNan) {}

  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(kGuard + (along_rows ? i * ld + j : j * ld + i));
  }
  float& operator()(std::int64_t i, std::int64_t j) { return host[at(i, j)]; }
  float operator()(std::int64_t i, std::int64_t j) const { return host[at(i, j)]; }
  template <class F>
  void fill(F value) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) (*this)(i, j) = value();
    }
  }
  float* upload() {
    there = test::upload(host);
    return there.get() + kGuard;
  }
};

struct Product {
  Shape shape;
  Form form;
  std::int64_t pad;
  float alpha = 1.5F, beta = -0.5F;
  Matrix a, b, c;

  Product(Shape s, const Form& of, std::int64_t gap)
      : shape(s),
        form(of),
        pad(gap),
        a(s.m, s.k, gap, (of.op_a == LADDER_OP_N) == (of.layout == LADDER_ROW_MAJOR)),
        b(s.k, s.n, gap, (of.op_b == LADDER_OP_N) == (of.layout == LADDER_ROW_MAJOR)),
        c(s.m, s.n, gap, of.layout == LADDER_ROW_MAJOR) {}

  void draw(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> real(-1, 1);
    const auto next = [&] { return real(random); };
    a.fill(next);
    b.fill(next);
    if (beta != 0) c.fill(next);
  }

  ladder_gemm_call call(ladder_precision precision) {
    ladder_gemm_call x;
    ladder_gemm_call_init(&x);
    x.layout = form.layout, x.op_a = form.op_a, x.op_b = form.op_b;
    x.precision = precision;
    x.m = shape.m, x.n = shape.n, x.k = shape.k;
    x.lda = a.ld, x.ldb = b.ld, x.ldc = c.ld;
    x.alpha = &alpha, x.beta = &beta;
    x.a = a.upload(), x.b = b.upload(), x.c = c.upload();
    return x;
  }

  std::string name(ladder_precision precision) const {
    return std::string(ladder_precision_string(precision)) + " " + std::to_string(shape.m) + "x" +
           std::to_string(shape.n) + "x" + std::to_string(shape.k) + " layout " +
           std::to_string(form.layout) + " ops " + std::to_string(form.op_a) +
           std::to_string(form.op_b) + " gaps " + std::to_string(pad);
  }
};

double largest(const Matrix& x, std::int64_t line, bool row) {
  double most = 0;
  for (std::int64_t l = 0; l < (row ? x.cols : x.rows); ++l)
    most = std::max(most, std::abs(double{row ? x(line, l) : x(l, line)}));
  return most;
}

// The precision that a call computes in, for its bound.
Precision precision_of(ladder_precision precision) {
  switch (precision) {
    case LADDER_PRECISION_TF32X3: return Precision::kTf32x3;
    case LADDER_PRECISION_BF16X3: return Precision::kBf16x3;
    case LADDER_PRECISION_BF16X6: return Precision::kBf16x6;
    case LADDER_PRECISION_BF16X9: return Precision::kBf16x9;
    case LADDER_PRECISION_FP16X3: return Precision::kFp16x3;
    default: return Precision::kIeee;  // auto promises its bound
  }
}

// Compares with FP64: NaN and infinities as the definition has them, other elements within the
// bound, everything else unchanged in every bit.
void expect_right(const Product& x, ladder_precision precision, const std::vector<float>& result) {
  const auto [m, n, k] = x.shape;
  const Precision computed = precision_of(precision);
  SplitError error{ieee_error(static_cast<double>(k)), 0};
  if (computed != Precision::kIeee) error = split_error(computed, static_cast<double>(k));
  // Where terms do not hold an element, the kernels of mma.sync do not use terms.
  const double floor = is_hopper() ? error.floor : 0;
  const double underflow = (std::abs(double{x.alpha}) * static_cast<double>(k) + 2) * 0x1p-149;
  std::vector<float> rest = x.c.host;
  int wrong = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, all = 0, of_a = 0, of_b = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double product = double{x.a(i, l)} * x.b(l, j);
        sum += product;
        all += std::abs(product);
        of_a += std::abs(double{x.a(i, l)});
        of_b += std::abs(double{x.b(l, j)});
      }
      const double before = x.beta == 0 ? 0 : double{x.beta} * x.c(i, j),
                   expected = x.alpha * sum + before;
      const double lines = largest(x.a, i, true) * of_b + of_a * largest(x.b, j, false);
      const double bound = std::abs(x.alpha) * (error.products * all + floor * lines) +
                           gamma(3, 0x1p-24) * std::abs(before) + underflow;
      const std::size_t at = x.c.at(i, j);
      const double found = result[at];
      rest[at] = result[at];
      const bool right = std::isnan(expected)   ? std::isnan(found)
                         : std::isinf(expected) ? found == expected
                                                : std::abs(found - expected) <= bound;
      if (right || ++wrong > 5) continue;
      ADD_FAILURE() << x.name(precision) << ": (" << i << ", " << j << ") is " << found
                    << ", expected " << expected << " within " << bound;
    }
  }
  const auto bits = [](float value) {
    std::uint32_t of = 0;
    std::memcpy(&of, &value, sizeof of);
    return of;
  };
  for (std::size_t at = 0; at < rest.size(); ++at)
    ASSERT_EQ(bits(rest[at]), bits(result[at])) << x.name(precision) << ": beside C, at " << at;
}

class Products : public WithDevice {
 protected:
  // Those that this GPU computes with an error bound.
  static std::vector<ladder_precision> precisions() {
    std::vector<ladder_precision> all;
    for (const ladder_precision precision : kPrecisions) {
      if (computes(precision) && precision != LADDER_PRECISION_TF32) all.push_back(precision);
    }
    return all;
  }
  void compute(Product& x, ladder_precision precision) const {
    const ladder_gemm_call call = x.call(precision);
    std::vector<float> first;
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(cudaMemcpy(x.c.there.get(), x.c.host.data(), x.c.host.size() * sizeof(float),
                           cudaMemcpyHostToDevice),
                cudaSuccess);
      ASSERT_EQ(ladder_gemm(handle, &call), LADDER_STATUS_OK)
          << x.name(precision) << ": " << ladder_last_error();
      const auto result = download(x.c.there, x.c.host.size());
      if (round == 0) expect_right(x, precision, result);
      if (round == 0) first = result;
      ASSERT_EQ(std::memcmp(first.data(), result.data(), first.size() * sizeof(float)), 0)
          << x.name(precision) << ": other bits the second time";
    }
  }
  const Handle handle;
};

TEST_F(Products, OfRealNumbers) {
  unsigned seed = 0;
  for (const ladder_precision precision : precisions()) {
    for (const Shape shape :
         {Shape{1, 1, 1}, Shape{129, 67, 35}, Shape{5, 260, 97}, Shape{64, 96, 160}}) {
      for (const Form& form : kForms) {
        const bool aligned = shape.m % 4 == 0;  // rows of 16 bytes, or none
        Product x(shape, form, aligned ? 0 : 1 + seed % 3);
        if (++seed % 2 == 0) x.beta = 0;
        x.draw(seed);
        compute(x, precision);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// One element of A is special. The sums that it has no part in stay within their bounds.
TEST_F(Products, OfSpecialValues) {
  constexpr float kSpecial[] = {kInfinity, -kInfinity, kNan,           0.0F,     -0.0F,
                                0x1p-149F, 0x1p-126F,  0x1.2345p-104F, 0x1p127F, 0x1.fffffep127F};
  for (const ladder_precision precision : precisions()) {
    for (const float special : kSpecial) {
      for (const ladder_layout layout : kLayouts) {
        Product x({70, 50, 45}, {layout, LADDER_OP_N, LADDER_OP_T}, 1);
        x.beta = 0;
        x.draw(3);
        x.a(33, 7) = special;
        x.b(7, 11) = 0;
        for (std::int64_t j = 0; j < 50; ++j) {
          if (std::abs(special) > 1 && std::isfinite(special)) x.b(7, j) *= 0x1p-3F;  // finite sums
        }
        compute(x, precision);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Both ends of the range of FP32: rows of A and columns of B that cancel.
TEST_F(Products, OfTinyAndHugeNumbers) {
  for (const ladder_precision precision : precisions()) {
    for (const int exponent : {-120, -105, -60, 60, 100, 124}) {
      Product x({66, 34, 40}, {LADDER_ROW_MAJOR, LADDER_OP_T, LADDER_OP_N}, 2);
      x.alpha = 1;
      x.beta = 0;
      x.draw(static_cast<unsigned>(exponent + 200));
      for (std::int64_t i = 0; i < 66; ++i) {
        for (std::int64_t l = 0; l < 40; ++l) x.a(i, l) = std::ldexp(x.a(i, l), exponent);
      }
      for (std::int64_t l = 0; l < 40; ++l) {
        for (std::int64_t j = 0; j < 34; ++j)
          x.b(l, j) = std::ldexp(x.b(l, j), j % 2 == 0 ? -exponent : 0);
      }
      compute(x, precision);
      if (HasFatalFailure()) return;
    }
  }
}

// Products of numbers that are not far below the largest overflow where the exact sum does.
TEST_F(Products, Overflow) {
  for (const ladder_precision precision : precisions()) {
    Product x({20, 20, 17}, {LADDER_COL_MAJOR, LADDER_OP_N, LADDER_OP_N}, 0);
    x.alpha = 1;
    x.beta = 0;
    x.draw(5);
    for (std::int64_t l = 0; l < 17; ++l) x.a(3, l) = 0x1p100F, x.b(l, 4) = 0x1p100F;
    const ladder_gemm_call call = x.call(precision);
    ASSERT_EQ(ladder_gemm(handle, &call), LADDER_STATUS_OK) << ladder_last_error();
    const auto result = download(x.c.there, x.c.host.size());
    EXPECT_EQ(result[x.c.at(3, 4)], kInfinity) << precision;
    EXPECT_TRUE(std::isfinite(result[x.c.at(3, 3)])) << precision;
    EXPECT_TRUE(std::isfinite(result[x.c.at(2, 4)])) << precision;
  }
}

class Plans : public WithDevice {
 protected:
  ladder_gemm_plan plan(std::int64_t side, ladder_precision precision) const {
    Product x({side, side, side}, {LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N}, 0);
    return plan_of(handle, x.call(precision));
  }
  const Handle handle;
};

// Elsewhere than on Hopper: the kernels of every GPU, and terms only where they gain and the bound
// is no larger than IEEE's.
TEST_F(Plans, OfOtherGpus) {
  if (is_hopper()) GTEST_SKIP() << "Calls.PlansNameKernelMemoryAndReason";
  const ladder_gemm_plan ieee = plan(2048, LADDER_PRECISION_IEEE);
  EXPECT_STREQ(ieee.kernel, "ladder_strided");
  EXPECT_EQ(ieee.precision, LADDER_PRECISION_IEEE);
  const bool gains = capability() == 80 || capability() == 100;
  const ladder_gemm_plan automatic = plan(2048, LADDER_PRECISION_AUTO);
  EXPECT_STREQ(automatic.kernel, gains ? "ladder_mma_bf16x6" : "ladder_strided");
  EXPECT_EQ(automatic.precision, gains ? LADDER_PRECISION_BF16X6 : LADDER_PRECISION_IEEE);
  EXPECT_EQ(automatic.batch_invariant, gains ? 0 : 1);
  EXPECT_EQ(automatic.workspace_bytes, 0U);
  EXPECT_NE(std::string(automatic.why)
                .find(gains               ? "error bound is no larger"
                      : capability() < 80 ? "no bf16 tensor cores"
                                          : "predicted to be faster"),
            std::string::npos)
      << automatic.why;
  if (gains) {
    EXPECT_NE(std::string(automatic.details).find("tile: 128x128x32"), std::string::npos)
        << automatic.details;
    EXPECT_STREQ(plan(64, LADDER_PRECISION_AUTO).kernel, "ladder_strided");
  }
  if (capability() >= 80) {
    EXPECT_STREQ(plan(64, LADDER_PRECISION_TF32X3).kernel, "ladder_mma_tf32x3");
  }
}

TEST_F(Products, ThatAutoGivesToTensorCores) {
  if (capability() != 80) GTEST_SKIP() << "auto takes CUDA cores, or Hopper's kernels";
  Product x({700, 712, 100}, {LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_T}, 0);
  x.draw(8);
  const ladder_gemm_plan found = plan_of(handle, x.call(LADDER_PRECISION_AUTO));
  ASSERT_STREQ(found.kernel, "ladder_mma_bf16x6") << found.why;
  compute(x, LADDER_PRECISION_AUTO);
}

}  // namespace
}  // namespace ladder::test
