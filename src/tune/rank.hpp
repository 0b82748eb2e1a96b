// SPDX-License-Identifier: Apache-2.0
// Rank correlation of two orders: measures how well a model's ranking agrees with measured times.
#pragma once
#include <optional>
#include <vector>

namespace ladder::tune {

// Spearman's rank correlation, with ties at their mean rank: 1 for the same order, -1 for the
// reverse. Empty for fewer than two pairs, or if one side is all ties. The vectors must have equal
// length.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

// Ranks from 1 for the least value; equal values share their mean rank.
std::vector<double> ranks(const std::vector<double>& values);

}  // namespace ladder::tune
