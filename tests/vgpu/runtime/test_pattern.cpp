// SPDX-License-Identifier: Apache-2.0
#include "runtime/pattern.hpp"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace vgpu {
namespace {

bool found(const std::string& pattern, const std::string& text) {
  Pattern parsed;
  EXPECT_EQ(parsed.parse(pattern), "") << pattern;
  return parsed.found_in(text);
}

TEST(Pattern, FindsWhatNamesOfKernelsAreFoundBy) {
  const std::string name = "void sgemm<(int)128, float>(int, int, const float *)";
  for (const char* pattern : {"", "sgemm", "^void", "\\*\\)$", "s?gemm<.*128", "[a-z]+gemm",
                              "(dgemm|sgemm)<", "\\bfloat\\b", "gemm.{2,9}128", "[^a-z<]128",
                              "(?:x|s)g", "\\(int\\)\\d+", "gem{2}", "^.*$"})
    EXPECT_TRUE(found(pattern, name)) << pattern;
  for (const char* pattern :
       {"^sgemm", "void$", "gemm>", "\\bloat", "gem{3}", "[0-9]{4}", "(a|b)gemm", "x+"})
    EXPECT_FALSE(found(pattern, name)) << pattern;
}

TEST(Pattern, RefusesWhatIsNone) {
  for (const char* pattern :
       {"(", ")", "a)", "[", "[a", "*", "a|*", "\\", "{1}", "a{", "a{2,1}", "a{1001}", "(?=a)",
        "(a)\\1", "[[:alpha:]]", "[z-a]", "\\q", "^*", "((a{1000}){1000}){1000}"}) {
    Pattern parsed;
    EXPECT_NE(parsed.parse(pattern), "") << pattern;
  }
  Pattern parsed;
  EXPECT_NE(parsed.parse(std::string(500'000, '(')), "");
}

TEST(Pattern, TakesLongTextsAndHardPatterns) {
  const std::string text(500'000, 'a');
  EXPECT_TRUE(found(".*a$", text));
  EXPECT_FALSE(found("^.*b", text));
  EXPECT_FALSE(found("(a*)*b", text));
  EXPECT_FALSE(found("^(a|aa)+$", text + "b"));
}

// On short texts of two letters, against the standard library.
TEST(Pattern, AgreesWithTheStandardLibrary) {
  std::minstd_rand random(7);
  const auto pick = [&](std::string_view from) { return from[random() % from.size()]; };
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string pattern, text;
    for (auto n = 1 + random() % 7; n > 0; --n) pattern += pick("aabb.|()*+?^$[]");
    for (auto n = random() % 7; n > 0; --n) text += pick("ab");
    Pattern parsed;
    if (!parsed.parse(pattern).empty()) continue;
    try {
      EXPECT_EQ(parsed.found_in(text), std::regex_search(text, std::regex(pattern)))
          << pattern << " in " << text;
      ++compared;
    } catch (const std::regex_error&) {
      continue;  // "a**", which repeats a repetition
    }
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace vgpu
