// SPDX-License-Identifier: Apache-2.0
// Compares two kernels on one problem number by number, and writes sentences that say which numbers
// explain the difference. The sentences are generated from the largest changes, not written for
// particular pairs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analyse/explanation.hpp"

namespace ladder::analyse {

struct Compare {
  std::string name;
  double a = 0, b = 0;
};

// Compares resources, one block's work per iteration of the hot loop, pipes and times, in that
// order. Omits quantities that only one of the two has.
std::vector<Compare> compare(const Explanation& a, const Explanation& b);

// Compares the hot loops' instruction counts by name, per 1000 products (FFMA, HMMA or HGMMA,
// whichever both use). If they have no kind of product in common, counts are per 1000 instructions.
// mix_unit() returns the unit.
std::string_view mix_unit(const Explanation& a, const Explanation& b);
std::vector<Compare> compare_mixes(const Explanation& a, const Explanation& b);

// Two or three sentences that describe b relative to a.
std::vector<std::string> why(const Explanation& a, const Explanation& b);

}  // namespace ladder::analyse
