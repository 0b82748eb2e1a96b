// SPDX-License-Identifier: Apache-2.0
#include "verify/lines.hpp"

#include <algorithm>
#include <cmath>

namespace ladder {
namespace {

// For `count` rows of op(A) or columns of op(B) ("lines") of `k` elements. Element (line, k) is at
// line * ld + k, or, if `across`, at k * ld + line.
LineMagnitudes magnitudes(const float* matrix, std::int64_t ld, std::int64_t count, std::int64_t k,
                          bool across) {
  LineMagnitudes lines{std::vector<double>(count), std::vector<double>(count)};
  const auto add = [&](std::int64_t line, float value) {
    const double magnitude = std::abs(static_cast<double>(value));
    lines.largest[line] = std::max(lines.largest[line], magnitude);
    lines.sum[line] += magnitude;
  };
  for (std::int64_t i = 0; i < (across ? k : count); ++i) {
    for (std::int64_t j = 0; j < (across ? count : k); ++j) add(across ? j : i, matrix[i * ld + j]);
  }
  return lines;
}

}  // namespace

Lines lines_of(const Operation& operation) {
  const Problem& p = operation.problem;
  if (!reads_ab(p)) return {};
  return {magnitudes(operation.a, p.lda, p.m, p.k, p.op_a == Op::kTranspose),
          magnitudes(operation.b, p.ldb, p.n, p.k, p.op_b == Op::kNone),
          std::abs(static_cast<double>(p.alpha))};
}

}  // namespace ladder
