// SPDX-License-Identifier: Apache-2.0
// What earlier searches left on disk: the tile of a tuned file, the candidates of a --json file;
// and how far the order of those candidates agrees with today's.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tune/tuner.hpp"

namespace ladder::tune {

struct SavedTile {
  Point point;
  std::string problem;  // as to_string says it
  double gflops = 0;    // 0 where it was not timed
};
// The rung's entry in a tuned file; none where there is no file ("") or no entry that fits the
// space.
std::optional<SavedTile> saved_tile(const std::string& text, const SearchSpace& space);

// Whether what is known so far may take the saved tile's place before the search has ended: there
// is none, or it is slower on the same problem.
bool may_replace(const std::optional<SavedTile>& saved, const Job& job, const Tuning& so_far);

struct EarlierCandidate {
  Point point;
  double ms = 0;  // 0 where it was not timed
};
// The candidates of a file that --json wrote, without those that spilled or did not compile. Errors
// (kIo): no such file of this rung.
Result<std::vector<EarlierCandidate>> earlier_candidates(const std::string& text,
                                                         const SearchSpace& space);

struct Agreement {
  std::size_t candidates = 0;  // with a figure in both
  double rank_correlation = 0;
  // How far from the earlier best, by the earlier times, one ends who trusts today's order: rate
  // over best rate.
  double first_choice = 0, best_of_ten = 0;
};
// None for fewer than two candidates in common.
std::optional<Agreement> agreement(const std::vector<EarlierCandidate>& earlier,
                                   const Tuning& today);

}  // namespace ladder::tune
