// SPDX-License-Identifier: Apache-2.0
// How far two orders of the same things agree: what a ranking by a model is worth against times.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace ladder::tune {

// Spearman's rank correlation, ties at the mean of their ranks: 1 for the same order, -1 for the
// reverse. None for fewer than two pairs, or where one side is all ties. The vectors are equally
// long.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

// Ranks from 1, the least value first; equal values share the mean of their places.
std::vector<double> ranks(const std::vector<double>& values);

}  // namespace ladder::tune
