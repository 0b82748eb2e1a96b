// SPDX-License-Identifier: Apache-2.0
// Error bounds of correct kernels; docs/verification.md derives them.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include "problem/split_error.hpp"

namespace ladder {

// |C - R|_ij <= e + result (|R|_ij + e) + least, where
// e = products * (|alpha| (|A||B|)_ij) + floor * f_ij + c * |beta C0|_ij + underflow.
// e bounds the error of the binary32 result. `result` and `least` bound the rounding to C's type;
// both are zero if that is binary32. f is Lines::of(). `floor` is the absolute error of split
// operands, relative to the largest element of a row of op(A) or column of op(B).
struct ErrorBound {
  double products = 0;
  double floor = 0;
  double c = 0;
  double underflow = 0;
  double result = 0;
  double least = 0;

  constexpr double at(double abs_products, double abs_c, double abs_result = 0,
                      double line = 0) const {
    const double before = products * abs_products + floor * line + c * abs_c + underflow;
    return before + result * (abs_result + before) + least;
  }
};

// Errors (kInvalidArgument): k is so large that no bound holds in this precision.
Result<ErrorBound> error_bound(const Problem& problem, Precision precision);
// Returns the bound for a kernel that rounds alpha A B to C's type and then adds beta C
// (Rounding::kOnceOrTwice). Equal to `bound` if C is binary32 or is not read.
ErrorBound rounded_twice(ErrorBound bound, const Problem& problem);

}  // namespace ladder
