// SPDX-License-Identifier: Apache-2.0
// The largest magnitude and the sum of magnitudes of each row of op(A) and column of op(B) (each is
// a "line" here). They bound the error of split terms whose exponent range does not cover a line's
// smallest elements.
#pragma once
#include <vector>

#include "verify/reference.hpp"

namespace ladder {

struct LineMagnitudes {
  std::vector<double> largest, sum;  // one entry per line
};

struct Lines {
  LineMagnitudes a, b;
  double scale = 0;  // |alpha|

  // |alpha| (largest |a_i| sum |b_j| + sum |a_i| largest |b_j|)
  double of(std::int64_t i, std::int64_t j) const {
    return a.largest.empty() ? 0.0 : scale * (a.largest[i] * b.sum[j] + a.sum[i] * b.largest[j]);
  }
};

// Empty where A and B are not read.
Lines lines_of(const Operation& operation);

}  // namespace ladder
