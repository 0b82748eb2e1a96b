// SPDX-License-Identifier: Apache-2.0
// Charts as characters.
#include "report/text_chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ladder {
namespace {

std::size_t full_blocks(const std::string& line) {
  std::size_t count = 0;
  for (std::size_t at = line.find("█"); at != std::string::npos; at = line.find("█", at + 1))
    ++count;
  return count;
}

TEST(ClimbText, BarsAreInProportion) {
  const std::vector<Bar> bars{{"r01", "", 10, false, false, 25.0},
                              {"r02", "", 40, false, true, std::nullopt}};
  const auto lines = climb_text(bars, 100);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NEAR(static_cast<double>(full_blocks(lines[1])),
              4.0 * static_cast<double>(full_blocks(lines[0])), 4);
  EXPECT_NE(lines[0].find("10.0 (25%)"), std::string::npos);
  EXPECT_NE(lines[1].find("40.0 predicted"), std::string::npos);
  EXPECT_TRUE(climb_text({}, 80).empty());
}

TEST(RooflineText, HigherRatesStandHigherAndRoofsAboveThem) {
  const std::vector<Roof> roofs{{"FP32", 60, 0}, {"L2", 0, 16e12}};
  const std::vector<RooflinePoint> points{{"slow", 1, false, 2, 600},
                                          {"quick", 40, false, 30, 600}};
  const auto lines = roofline_text(roofs, points, 80);
  const auto line_of = [&](char mark) {
    return std::ranges::find_if(
               lines,
               [&](const std::string& line) { return line.find(mark, 8) != std::string::npos; }) -
           lines.begin();
  };
  EXPECT_LT(line_of('-'), line_of('B'));  // from above
  EXPECT_LT(line_of('B'), line_of('A'));
  EXPECT_LT(lines[static_cast<std::size_t>(line_of('A'))].find('A', 8),
            lines[static_cast<std::size_t>(line_of('B'))].find('B', 8));
  EXPECT_NE(lines.back().find("B quick: 40.0 TFLOP/s, 30.0 FLOP a byte"), std::string::npos);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_TRUE(roofline_text(roofs, {}, 80).empty());
}

}  // namespace
}  // namespace ladder
