// SPDX-License-Identifier: Apache-2.0
// h02_loop_order: the inner loop walks along rows.
// NEW:     Stride 1, the CPU's coalescing.
// WHY:     h01 steps down a column of B: it uses one element of each cache line, and no vector load
//          fits.
// PREDICT: Every loaded line is used whole, and the loop vectorises; ten times h01 while B fits a
//          cache.
// LIMITS:  Any M, N, K, leading dimensions, transposition, layout, alpha, beta.
// NEXT:    h03 keeps what it reads in a cache.
#include <ladder/kernel.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include "problem/accept.hpp"

namespace ladder::h02_loop_order {

static Status launch(const Problem& problem, const Operands& operands, Stream) {
  // Who am I: a column-major product is the row-major product of the exchanged operands.
  const auto [p, swapped] = as_row_major(problem);
  const float* a = swapped ? operands.b : operands.a;
  const float* b = swapped ? operands.a : operands.b;
  const std::int64_t depth = reads_ab(p) ? p.k : 0;
  const float alpha = depth == 0 ? 0.0F : p.alpha;
  const auto a_at = [&, &p = p](std::int64_t i, std::int64_t k) {
    return p.op_a == Op::kNone ? a[i * p.lda + k] : a[k * p.lda + i];
  };

  std::vector<float> row_a(depth), acc(p.n);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) row_a[k] = a_at(i, k);
    std::fill(acc.begin(), acc.end(), 0.0F);

    // Main loop: rows of B lie along n, or along k where B is transposed
    if (p.op_b == Op::kNone) {
      for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t j = 0; j < p.n; ++j) acc[j] += row_a[k] * b[k * p.ldb + j];
      }
    } else {
      for (std::int64_t j = 0; j < p.n; ++j) {
        for (std::int64_t k = 0; k < depth; ++k) acc[j] += row_a[k] * b[j * p.ldb + k];
      }
    }

    // Epilogue
    float* c = operands.c + i * p.ldc;
    for (std::int64_t j = 0; j < p.n; ++j)
      c[j] = p.beta == 0.0F ? alpha * acc[j] : alpha * acc[j] + p.beta * c[j];
  }
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {
    host_rung("h02_loop_order", "the inner loop has stride 1", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::h02_loop_order
