// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples; robust against the few slow outliers of any machine.
#pragma once
#include <cstddef>
#include <vector>

namespace ladder {

struct Statistics {
  std::size_t n = 0;
  double min = 0, p5 = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, max = 0;
  double mad = 0;  // median absolute deviation from the median, not scaled

  // MAD / median, used by the stopping rule; 0 without samples.
  double noise() const { return median > 0 ? mad / median : 0; }
};

// Quantiles interpolate linearly between neighbours (type 7 of Hyndman and Fan 1996). All zero
// without samples.
Statistics describe(std::vector<double> samples);

}  // namespace ladder
