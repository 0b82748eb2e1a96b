// SPDX-License-Identifier: Apache-2.0
#include "verify/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "operands/parallel.hpp"

namespace ladder {
namespace {

using Vector = std::vector<double>;
constexpr int kVectors = 2;
constexpr std::uint64_t kStreamSign = 101;

// op(X) x and |op(X)| |x|; op(X) has the size rows x columns.
struct Products {
  Vector plain, absolute;
};
Products multiply(const float* matrix, Op op, std::int64_t ld, std::int64_t rows,
                  std::int64_t columns, const Vector& x, const Vector& abs_x) {
  Products y{Vector(static_cast<std::size_t>(rows)), Vector(static_cast<std::size_t>(rows))};
  const std::int64_t grain =
      std::max<std::int64_t>(1, kParallelGrain / std::max<std::int64_t>(1, columns));
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    if (op == Op::kNone) {
      for (std::int64_t i = begin; i < end; ++i) {
        double plain = 0;
        double absolute = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          const double value = matrix[i * ld + j];
          plain += value * x[j];
          absolute += std::abs(value) * abs_x[j];
        }
        y.plain[i] = plain;
        y.absolute[i] = absolute;
      }
      return;
    }
    // op(X) is transposed in memory: its columns are contiguous
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double value = matrix[j * ld + i];
        y.plain[i] += value * x[j];
        y.absolute[i] += std::abs(value) * abs_x[j];
      }
    }
  });
  return y;
}

// The first vector holds random signs, so that every column has the same weight. The others have
// different magnitudes, so that errors in two columns do not cancel. For exact checks the elements
// are integers: |t| <= 2^28 / n keeps every sum below 2^53.
Vector random_vector(std::int64_t size, int which, const Input& input) {
  const std::int64_t most = std::clamp<std::int64_t>(
      (std::int64_t{1} << 28) / std::max<std::int64_t>(1, size), 1, 1 << 20);
  Vector t(static_cast<std::size_t>(size));
  for (std::int64_t j = 0; j < size; ++j) {
    const std::uint64_t bits = random_bits(
        input.seed, kStreamSign + static_cast<std::uint64_t>(which), static_cast<std::uint64_t>(j));
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    double magnitude = 1;
    if (input.values == Values::kIntegers) {
      magnitude = 1 + std::floor(unit * static_cast<double>(most - 1));
    } else if (which > 0) {
      magnitude = 0.5 + 0.5 * unit;
    }
    t[j] = (bits & 1U) != 0 ? magnitude : -magnitude;
  }
  return t;
}

Vector absolute_of(Vector values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

}  // namespace

IdentityResult check_identity(const Operation& operation, const Input& input,
                              const ErrorBound& bound, const float* c) {
  const Problem& p = operation.problem;
  const double alpha = p.alpha;
  const double beta = p.beta;
  const double own = gamma(static_cast<double>(p.n + p.k + 4), 0x1p-53);
  const Lines lines =
      bound.floor > 0 && input.values != Values::kIntegers ? lines_of(operation) : Lines{};
  IdentityResult result;
  result.errors.known = true;
  double error_norm = 0;
  double reference_norm = 0;
  for (int which = 0; which < kVectors; ++which) {
    const Vector t = random_vector(p.n, which, input);
    const Vector abs_t = absolute_of(t);
    double sum_t = 0;
    for (const double value : abs_t) sum_t += value;
    const Products after = multiply(c, Op::kNone, p.ldc, p.m, p.n, t, abs_t);
    Products product{Vector(static_cast<std::size_t>(p.m)), Vector(static_cast<std::size_t>(p.m))};
    Products before = product;
    if (reads_ab(p)) {
      const Products inner = multiply(operation.b, p.op_b, p.ldb, p.k, p.n, t, abs_t);
      product = multiply(operation.a, p.op_a, p.lda, p.m, p.k, inner.plain, inner.absolute);
    }
    if (reads_c(p)) before = multiply(operation.c, Op::kNone, p.ldc, p.m, p.n, t, abs_t);
    double largest_t = 0;  // sums over j of (largest |b_j|) |t_j|, and of (sum |b_j|) |t_j|
    double sums_t = 0;
    for (std::size_t j = 0; j < lines.b.sum.size(); ++j) {
      largest_t += lines.b.largest[j] * abs_t[j];
      sums_t += lines.b.sum[j] * abs_t[j];
    }
    for (std::int64_t i = 0; i < p.m; ++i) {
      const double line =
          lines.b.sum.empty()
              ? 0
              : lines.scale * (lines.a.largest[i] * sums_t + lines.a.sum[i] * largest_t);
      const double expected = alpha * product.plain[i] + beta * before.plain[i];
      const double error = std::abs(after.plain[i] - expected);
      const double abs_products = std::abs(alpha) * product.absolute[i];
      const double abs_c = std::abs(beta) * before.absolute[i];
      // Rounding to C's type: |R| <= |C| / (1 - unit), which is at most 2 |C|.
      const double rounding = 2 * bound.result * after.absolute[i] + bound.least * sum_t;
      const double limit = input.values == Values::kIntegers
                               ? rounding
                               : bound.products * abs_products + bound.floor * line +
                                     bound.c * abs_c + bound.underflow * sum_t +
                                     own * (after.absolute[i] + abs_products + abs_c) + rounding;
      const bool row_ok = error <= limit;  // false for NaN
      if (!row_ok && result.rows_wrong++ == 0) {
        result.reason = fmt::format(
            "row {} of C: C t is {:.9g} where alpha A (B t) + beta C t is {:.9g}, bound {:.3g}", i,
            after.plain[i], expected, limit);
      }
      error_norm += error * error;
      reference_norm += expected * expected;
      if (error > 0) {
        result.errors.componentwise =
            std::max(result.errors.componentwise, error / (abs_products + abs_c));
        if (limit > 0) result.errors.of_bound = std::max(result.errors.of_bound, error / limit);
      }
    }
  }
  if (reference_norm > 0) result.errors.normwise = std::sqrt(error_norm / reference_norm);
  const bool empty = p.m == 0 || p.n == 0 || (!reads_ab(p) && !reads_c(p));
  if (!empty && !(reference_norm > 0)) {
    result.reason = "the reference is zero: nothing would be proved";
    return result;
  }
  result.ok = result.rows_wrong == 0;
  return result;
}

}  // namespace ladder
