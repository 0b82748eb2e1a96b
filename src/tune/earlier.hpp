// SPDX-License-Identifier: Apache-2.0
// Reads the results of earlier searches: the tile of a tuned file and the candidates of a --json
// file. Computes how well the order of those candidates agrees with today's.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tune/tuner.hpp"

namespace ladder::tune {

struct SavedTile {
  Point point;
  std::string problem;  // as formatted by to_string()
  double gflops = 0;    // 0 if it was not timed
};
// The rung's entry in the text of a tuned file; empty if the text is "" or has no entry that fits
// the space.
std::optional<SavedTile> saved_tile(const std::string& text, const SearchSpace& space);

// Whether the results so far may replace the saved tile before the search has ended: there is no
// saved tile, or it is slower on the same problem.
bool may_replace(const std::optional<SavedTile>& saved, const Job& job, const Tuning& so_far);

struct EarlierCandidate {
  Point point;
  double ms = 0;  // 0 if it was not timed
};
// The candidates in a file written by --json, without those that spilled or did not compile. Errors
// (kIo): not such a file for this rung.
Result<std::vector<EarlierCandidate>> earlier_candidates(const std::string& text,
                                                         const SearchSpace& space);

struct Agreement {
  std::size_t candidates = 0;  // timed in both searches
  double rank_correlation = 0;
  // By the earlier times: rate of today's first choice, and of the best of today's first ten,
  // relative to the earlier best rate.
  double first_choice = 0, best_of_ten = 0;
};
// Empty if fewer than two candidates are in both.
std::optional<Agreement> agreement(const std::vector<EarlierCandidate>& earlier,
                                   const Tuning& today);

// Spearman's rank correlation, with ties at their mean rank: 1 for the same order, -1 for the
// reverse. Empty for fewer than two pairs, or if one side is all ties. The vectors must have equal
// length.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

// Ranks from 1 for the least value; equal values share their mean rank.
std::vector<double> ranks(const std::vector<double>& values);

}  // namespace ladder::tune
