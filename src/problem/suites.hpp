// SPDX-License-Identifier: Apache-2.0
// Shapes to measure: suites by name, and lists and ranges as text.
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

// Errors (kInvalidArgument): no such suite; the message lists all.
Result<std::vector<Problem>> find_suite(std::string_view name);

// Shapes with commas between, each MxNxK or N for a cube; in place of a number a range
// FIRST..LAST*FACTOR or FIRST..LAST+STEP. "128..1024*2" is four cubes, "4096x64..256+64x4096" four
// problems. Errors (kInvalidArgument) quote the text and the rule.
Result<std::vector<Problem>> parse_shapes(const std::string& text);

}  // namespace ladder
