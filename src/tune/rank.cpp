// SPDX-License-Identifier: Apache-2.0
#include "tune/rank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ladder::tune {

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + 1 + end) / 2;
    for (; first < end; ++first) result[order[first]] = mean;
  }
  return result;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> of_a = ranks(a);
  const std::vector<double> of_b = ranks(b);
  if (of_a.size() < 2 || of_a.size() != of_b.size()) return std::nullopt;
  const double mean = static_cast<double>(of_a.size() + 1) / 2;
  double together = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    together += (of_a[i] - mean) * (of_b[i] - mean);
    square_a += (of_a[i] - mean) * (of_a[i] - mean);
    square_b += (of_b[i] - mean) * (of_b[i] - mean);
  }
  if (!(square_a > 0) || !(square_b > 0)) return std::nullopt;
  return together / std::sqrt(square_a * square_b);
}

}  // namespace ladder::tune
