// SPDX-License-Identifier: Apache-2.0
// Two kernels on one problem, number by number, and sentences that say which numbers explain the
// difference. Nothing is written for a pair: sentences come from what changed most.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analyse/explanation.hpp"

namespace ladder::analyse {

struct Compare {
  std::string name;
  double a = 0, b = 0;
  bool less_is_better = false;
};

// Resources, what one block does for a step of the hot loop's work, pipes and times: of both, in
// order. A quantity that one of them lacks is left out.
std::vector<Compare> compare(const Explanation& a, const Explanation& b);

// What the hot loops hold, by name, a thousand products (FFMA, HMMA or HGMMA: the kind of both);
// where they have none in common, a thousand instructions. mix_unit() says which.
std::string_view mix_unit(const Explanation& a, const Explanation& b);
std::vector<Compare> compare_mixes(const Explanation& a, const Explanation& b);

// Two or three sentences; b against a.
std::vector<std::string> why(const Explanation& a, const Explanation& b);

}  // namespace ladder::analyse
