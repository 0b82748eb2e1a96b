// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace ladder {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Statistics describe(std::vector<double> samples) {
  Statistics s;
  s.n = samples.size();
  if (samples.empty()) return s;
  std::ranges::sort(samples);
  s.min = samples.front();
  s.p5 = quantile(samples, 0.05);
  s.p25 = quantile(samples, 0.25);
  s.median = quantile(samples, 0.5);
  s.p75 = quantile(samples, 0.75);
  s.p95 = quantile(samples, 0.95);
  s.max = samples.back();
  for (double& sample : samples) sample = std::abs(sample - s.median);
  std::ranges::sort(samples);
  s.mad = quantile(samples, 0.5);
  return s;
}

}  // namespace ladder
