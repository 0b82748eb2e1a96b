// SPDX-License-Identifier: Apache-2.0
// Triangular systems.
#pragma once
#include "blas/vectors.hpp"

namespace vgpu::blas {

// Solves T x = b in place for triangular T, of which `at` gives the element (i, j).
template <class W, class At, class Entry>
void solve(std::int64_t n, bool lower, bool unit, At at, Entry x) {
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? step : n - 1 - step;
    W value = x(i);
    for (std::int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) value -= at(i, j) * x(j);
    x(i) = unit ? value : value / at(i, i);
  }
}

// op(A) X = factor B, or X op(A) = factor B, of a triangle of A; X takes B's place.
template <class W>
void solve_system(cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                  cublasDiagType_t diagonal, W factor, const Matrix<W>& a, const Matrix<W>& b) {
  const bool left = side == CUBLAS_SIDE_LEFT, unit = diagonal == CUBLAS_DIAG_UNIT;
  // On the right, op(A) transposed is on the left of every row.
  const bool lower = (fill == CUBLAS_FILL_MODE_LOWER) == ((op == CUBLAS_OP_N) == left);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return left ? element(a, op, i, j) : element(a, op, j, i);
  };
  for (std::int64_t line = 0; line < (left ? b.columns : b.rows); ++line) {
    const auto x = [&](std::int64_t i) -> W& { return left ? b.at(i, line) : b.at(line, i); };
    for (std::int64_t i = 0; i < a.rows; ++i)
      x(i) = factor == W{0} ? W{0} : factor * x(i);  // alpha = 0 does not read B
    if (factor != W{0}) solve<W>(a.rows, lower, unit, at, x);
  }
  b.mark();
}

}  // namespace vgpu::blas
