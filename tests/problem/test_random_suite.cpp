// SPDX-License-Identifier: Apache-2.0
#include "problem/random_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "problem/suites.hpp"

namespace ladder {
namespace {

using namespace random_suite;

std::vector<Problem> drawn(const std::string& name) {
  const auto problems = find_suite(name);
  EXPECT_TRUE(problems) << problems.status().message();
  return problems ? problems.value() : std::vector<Problem>();
}

const std::vector<Problem>& many() {
  static const std::vector<Problem> problems = drawn("random:1:4096");
  return problems;
}

double share(bool (*holds)(const Problem&)) {
  const auto count = std::ranges::count_if(many(), holds);
  return static_cast<double>(count) / static_cast<double>(many().size());
}

TEST(RandomSuite, KeepsItsBounds) {
  ASSERT_EQ(many().size(), 4096U);
  std::set<std::string> names;
  for (const Problem& p : many()) {
    EXPECT_TRUE(validate(p));
    EXPECT_GE(std::min(p.m, p.n), kLeastMn);
    EXPECT_GE(p.k, kLeastK);
    EXPECT_LE(std::max({p.m, p.n, p.k}), kMost);
    EXPECT_LE(4 * (p.m * p.k + p.k * p.n + p.m * p.n), kMostBytes);
    EXPECT_EQ(p, make_problem(p.m, p.n, p.k, 1, 0, p.op_a, p.op_b));
    EXPECT_TRUE(names.insert(to_string(p)).second) << to_string(p);
  }
  EXPECT_TRUE(std::ranges::is_sorted(
      many(), [](const Problem& a, const Problem& b) { return flops(a) < flops(b); }));
}

TEST(RandomSuite, DrawsEveryAlignmentAndTransposition) {
  std::map<std::pair<Op, Op>, int> ops;
  for (const Problem& p : many()) ++ops[{p.op_a, p.op_b}];
  ASSERT_EQ(ops.size(), 4U);
  for (const auto& [op, count] : ops) EXPECT_NEAR(count, 1024, 150);
  // A quarter of the problems is drawn with each alignment; sizes may be multiples of more.
  const auto all = [](const Problem& p, std::int64_t step) {
    return (p.m % step == 0 || p.m == 1) && (p.n % step == 0 || p.n == 1) &&
           (p.k % step == 0 || p.k == 8);
  };
  std::map<std::int64_t, int> aligned;
  for (const Problem& p : many()) {
    const auto* const step = std::find_if(std::rbegin(kAlignments), std::rend(kAlignments),
                                          [&](std::int64_t a) { return all(p, a); })
                                 .base() -
                             1;
    ++aligned[*step];
  }
  for (const std::int64_t step : kAlignments) EXPECT_NEAR(aligned[step], 1024, 200) << step;
}

TEST(RandomSuite, IsLogUniform) {
  // log2 of a size is uniform over 14 octaves for m and n, over 11 for k. Rounding to multiples of
  // up to 128 moves no size across 1024, and the bound of memory removes few.
  EXPECT_NEAR(share([](const Problem& p) { return p.m >= 1024; }), 4.0 / 14, 0.03);
  EXPECT_NEAR(share([](const Problem& p) { return p.n >= 1024; }), 4.0 / 14, 0.03);
  EXPECT_NEAR(share([](const Problem& p) { return p.k >= 1024; }), 4.0 / 11, 0.03);
  EXPECT_NEAR(share([](const Problem& p) { return p.m >= 4096; }), 2.0 / 14, 0.03);
  EXPECT_GT(share([](const Problem& p) { return p.m == 1; }), 0.05);
}

TEST(RandomSuite, IsTheSameEverywhere) {
  EXPECT_EQ(drawn("random:7:100"), drawn("random:7:100"));
  EXPECT_NE(drawn("random:7:100"), drawn("random:8:100"));
  EXPECT_EQ(drawn("random:18446744073709551615:1").size(), 1U);
  std::string names;
  for (const Problem& p : drawn("random:7:4")) names += to_string(p) + '\n';
  EXPECT_EQ(names, "24x4x188 (op NT)\n1x6256x680\n1568x704x32\n4736x4352x512 (op TN)\n");
  // A larger number adds problems.
  const std::vector<Problem> more = drawn("random:7:200");
  for (const Problem& p : drawn("random:7:100"))
    EXPECT_NE(std::ranges::find(more, p), more.end()) << to_string(p);
}

TEST(RandomSuite, QuotesWhatIsWrong) {
  for (const std::string bad :
       {"random", "random:", "random:1", "random:1:", "random::4", "random:1:0", "random:1:4097",
        "random:-1:4", "random:1:-4", "random:1:4:5", "random:x:4", "random: 1:4", "random:1:4 ",
        "random:18446744073709551616:4", "random:1:99999999999999999999"}) {
    const auto problems = find_suite(bad);
    ASSERT_FALSE(problems) << bad;
    EXPECT_EQ(problems.status().code(), Code::kInvalidArgument) << bad;
    EXPECT_NE(problems.status().message().find("'" + bad + "' is not random:SEED:N"),
              std::string::npos)
        << problems.status().message();
  }
  EXPECT_NE(find_suite("randomly").status().message().find("no suite 'randomly'"),
            std::string::npos);
}

}  // namespace
}  // namespace ladder
