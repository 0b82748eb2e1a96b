// SPDX-License-Identifier: Apache-2.0
// h01_naive: the definition of the product, three loops.
// NEW:     The problem itself.
// WHY:     Every later kernel computes this sum in another order.
// PREDICT: The inner loop walks down a column of B, one new cache line per step; far below 1% of
//          peak.
// LIMITS:  Any M, N, K, leading dimensions, transposition, layout, alpha, beta.
// NEXT:    h02 changes the loop order.
#include <ladder/kernel.hpp>

#include <span>

#include "problem/accept.hpp"

namespace ladder::h01_naive {

// Distance in elements between neighbours of op(X) along its rows and its columns.
struct Strides {
  std::int64_t row, col;
};

static Strides strides(Op op, std::int64_t ld) {
  return op == Op::kNone ? Strides{ld, 1} : Strides{1, ld};
}

static Status launch(const Problem& problem, const Operands& operands, Stream) {
  // Who am I: a column-major product is the row-major product of the exchanged operands.
  const auto [p, swapped] = as_row_major(problem);
  const float* a = swapped ? operands.b : operands.a;
  const float* b = swapped ? operands.a : operands.b;
  const Strides sa = strides(p.op_a, p.lda);
  const Strides sb = strides(p.op_b, p.ldb);
  const std::int64_t depth = reads_ab(p) ? p.k : 0;
  const float alpha = depth == 0 ? 0.0F : p.alpha;

  // Main loop
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float acc = 0.0F;
      for (std::int64_t k = 0; k < depth; ++k)
        acc += a[i * sa.row + k * sa.col] * b[k * sb.row + j * sb.col];

      // Epilogue
      float& c = operands.c[i * p.ldc + j];
      c = p.beta == 0.0F ? alpha * acc : alpha * acc + p.beta * c;
    }
  }
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {host_rung("h01_naive", "three loops on the CPU", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::h01_naive
