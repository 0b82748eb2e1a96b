// SPDX-License-Identifier: Apache-2.0
#include "problem/suites.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace ladder {
namespace {

std::vector<std::string> shapes(const std::string& text) {
  const auto problems = parse_shapes(text);
  EXPECT_TRUE(problems) << problems.status().message();
  std::vector<std::string> names;
  if (problems) {
    for (const Problem& problem : problems.value()) names.push_back(to_string(problem));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Shapes, ListsAndRanges) {
  EXPECT_EQ(shapes("12"), (Names{"12x12x12"}));
  EXPECT_EQ(shapes("1x2x3,4"), (Names{"1x2x3", "4x4x4"}));
  EXPECT_EQ(shapes("128..1024*2"),
            (Names{"128x128x128", "256x256x256", "512x512x512", "1024x1024x1024"}));
  EXPECT_EQ(shapes("5..9+2"), (Names{"5x5x5", "7x7x7", "9x9x9"}));
  EXPECT_EQ(shapes("4096x64..200+64x1"), (Names{"4096x64x1", "4096x128x1", "4096x192x1"}));
  EXPECT_EQ(shapes("1..2+1x3x4..8*2"), (Names{"1x3x4", "1x3x8", "2x3x4", "2x3x8"}));
  EXPECT_EQ(shapes("7..7*2"), (Names{"7x7x7"}));
  EXPECT_EQ(shapes("0"), (Names{"0x0x0"}));
}

TEST(Shapes, QuoteWhatIsWrong) {
  for (const std::string bad :
       {"", "x", "1x2", "1x2x3x4", "a", "1..", "1..8", "1..8*", "1..8*1", "0..8*2", "8..1+1",
        "1..8+0", "-4", "1,,2", "1..9223372036854775807*2", "1..99999+1",
        "9223372036854775000..9223372036854775807+1000", "99999999999999999999",
        "4611686018427387904"}) {
    const auto problems = parse_shapes(bad);
    ASSERT_FALSE(problems) << bad;
    EXPECT_EQ(problems.status().code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_NE(parse_shapes("1..8+0").status().message().find("step of at least 1"),
            std::string::npos);
  EXPECT_NE(parse_shapes("1,8..1+1").status().message().find("'8..1+1' ends before it begins"),
            std::string::npos);
}

TEST(Suites, AreNamedOnceAndValid) {
  std::set<std::string_view> names;
  for (const Suite& suite : suites()) {
    EXPECT_TRUE(names.insert(suite.name).second) << suite.name;
    EXPECT_FALSE(suite.problems.empty());
    EXPECT_FALSE(suite.what.empty());
    for (const Problem& problem : suite.problems)
      EXPECT_TRUE(validate(problem)) << to_string(problem);
  }
  EXPECT_EQ(find_suite("square").value().front(), make_problem(128, 128, 128));
  EXPECT_EQ(find_suite("square").value().back(), make_problem(16384, 16384, 16384));
  std::set<std::tuple<Op, Op, bool>> layouts;  // with odd leading dimensions or not
  for (const Problem& p : find_suite("layouts").value())
    layouts.insert({p.op_a, p.op_b, p.lda % 2 == 1 && p.ldb % 2 == 1 && p.ldc % 2 == 1});
  EXPECT_EQ(layouts.size(), 6U);
  int written = 0, added_to = 0;
  for (const Problem& p : find_suite("thin").value()) ++(p.beta == 0.0F ? written : added_to);
  EXPECT_GT(written, 0);
  EXPECT_EQ(written, added_to);
  EXPECT_NE(find_suite("round").status().message().find("square"), std::string::npos);
}

}  // namespace
}  // namespace ladder
