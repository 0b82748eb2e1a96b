// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.hpp"

#include <gtest/gtest.h>

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
  for (const char* pattern :
       {"", "sgemm", "^void", "\\*\\)$", "s?gemm<.*128", "[a-z]+gemm", "(dgemm|sgemm)<",
        "\\bfloat\\b", "gemm.{2,9}128", "[^a-z<]128", "\\(int\\)[0-9]+", "gem{2}", "^.*$"})
    EXPECT_TRUE(found(pattern, name)) << pattern;
  for (const char* pattern :
       {"^sgemm", "void$", "gemm>", "\\bloat", "gem{3}", "[0-9]{4}", "(a|b)gemm", "x+"})
    EXPECT_FALSE(found(pattern, name)) << pattern;
}

TEST(Pattern, RefusesWhatIsNone) {
  for (const std::string& pattern :
       {std::string("("), std::string("["), std::string("[a"), std::string("*"), std::string("a|*"),
        std::string("\\"), std::string("a{"), std::string("a{2,1}"), std::string("(?=a)"),
        std::string("(?:a)"), std::string("(a)\\1"), std::string("[z-a]"), std::string("\\d"),
        std::string("((a{1000}){1000}){1000}"), std::string("a{9}{9}"),
        std::string(500'000, '(')}) {
    Pattern parsed;
    EXPECT_NE(parsed.parse(pattern), "") << pattern.substr(0, 30);
  }
}

TEST(Pattern, TakesLongTextsAndHardPatterns) {
  const std::string text(500'000, 'a');
  EXPECT_TRUE(found(".*a$", text));
  EXPECT_FALSE(found("^.*b", text));
  EXPECT_FALSE(found("(a*)*b", text));
  EXPECT_FALSE(found("^(a|aa)+$", text + "b"));
}

}  // namespace
}  // namespace vgpu
