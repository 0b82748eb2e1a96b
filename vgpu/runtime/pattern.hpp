// SPDX-License-Identifier: Apache-2.0
// Regular expressions over names. std::regex takes a stack frame per character and exponential
// time; this takes time proportional to the text, and no recursion.
#pragma once
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

// Of ECMAScript's expressions those that need no memory of what matched: characters, . [] [^] \d \w
// \s \b and their opposites, ^ $, groups, |, * + ? {m,n}. Lookahead and backreferences are refused.
class Pattern {
 public:
  // "" or what is wrong with the text. A pattern that was not parsed matches everything.
  std::string parse(std::string_view text);
  bool found_in(std::string_view text) const;

  struct Step {
    enum class Kind : unsigned char { kSet, kSplit, kJump, kBegin, kEnd, kBoundary, kNoBoundary };
    Kind kind = Kind::kSet;
    int first = 1, second = 1;  // where it goes on, relative; a split at both
    std::bitset<256> set;       // characters that kSet takes
  };
  using Steps = std::vector<Step>;  // matched when the end is reached

 private:
  Steps steps_;
};

}  // namespace vgpu
