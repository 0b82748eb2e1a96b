// SPDX-License-Identifier: Apache-2.0
// Regular expressions for names. std::regex uses a stack frame per character and can take
// exponential time. This implementation takes time proportional to the text and does not recurse
// while matching.
#pragma once
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

// The subset of ECMAScript expressions that needs no backtracking: characters, . [] [^] \d \w \s \b
// and their opposites, ^ $, groups, |, * + ? {m,n}. Lookahead and backreferences are refused.
class Pattern {
 public:
  // Returns "" or the error in the text. A pattern that was not parsed matches everything.
  std::string parse(std::string_view text);
  bool found_in(std::string_view text) const;

  struct Step {
    enum class Kind : unsigned char { kSet, kSplit, kJump, kBegin, kEnd, kBoundary, kNoBoundary };
    Kind kind = Kind::kSet;
    int first = 1, second = 1;  // relative positions of the next step; kSplit continues at both
    std::bitset<256> set;       // the characters that kSet matches
  };
  using Steps = std::vector<Step>;  // a match is complete when the end is reached

 private:
  Steps steps_;
};

}  // namespace vgpu
