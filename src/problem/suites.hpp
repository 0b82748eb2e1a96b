// SPDX-License-Identifier: Apache-2.0
// Shapes to measure: named suites, and lists and ranges in text form.
#pragma once
#include <ladder/problem.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ladder {

struct Suite {
  std::string_view name, what;
  std::vector<Problem> problems;
};
std::span<const Suite> suites();

// Finds a suite of the list, or draws random:SEED:N (random_suite.hpp). Errors (kInvalidArgument):
// no such suite, and the message lists all suites; or the rule that a random suite breaks.
Result<std::vector<Problem>> find_suite(std::string_view name);

// Parses shapes separated by commas, each MxNxK, or N for a cube. A range FIRST..LAST*FACTOR or
// FIRST..LAST+STEP may replace a number: "128..1024*2" is four cubes, "4096x64..256+64x4096" is
// four problems. Errors (kInvalidArgument): the message quotes the text and the rule.
Result<std::vector<Problem>> parse_shapes(const std::string& text);

}  // namespace ladder
