// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/sampling.hpp"

namespace vgpu {
namespace {

std::set<std::uint64_t> all_of(const std::vector<Stratum>& strata) {
  std::set<std::uint64_t> blocks;
  for (const Stratum& stratum : strata) blocks.insert(stratum.blocks.begin(), stratum.blocks.end());
  return blocks;
}

TEST(Sample, HasAsManyBlocksAsAskedForWithTheCorners) {
  for (const Dim3 grid : {Dim3{64, 48, 1}, Dim3{3000, 1, 1}, Dim3{1, 900, 1}, Dim3{20, 7, 9}}) {
    for (const std::uint64_t wanted : {8u, 9u, 16u, 100u, 500u}) {
      const auto strata = sample(grid, wanted);
      const auto blocks = all_of(strata);
      EXPECT_EQ(blocks.size(), wanted);
      EXPECT_TRUE(blocks.contains(0));
      EXPECT_TRUE(blocks.contains(grid.count() - 1));
      EXPECT_TRUE(blocks.contains(grid.x - 1));
      std::uint64_t sizes = 0, counted = 0;
      for (const Stratum& stratum : strata) {
        sizes += stratum.size;
        counted += stratum.blocks.size();
        EXPECT_GE(stratum.blocks.size(), 1u);
        EXPECT_LE(stratum.blocks.size(), stratum.size);
        EXPECT_TRUE(std::ranges::is_sorted(stratum.blocks));
      }
      EXPECT_EQ(sizes, grid.count()) << "the strata are the whole grid";
      EXPECT_EQ(counted, blocks.size()) << "no block is in two strata";
    }
  }
}

TEST(Sample, IsTheCornersAtLeast) {
  EXPECT_EQ(all_of(sample({10, 10, 1}, 1)), (std::set<std::uint64_t>{0, 9, 90, 99}));
}

TEST(Sample, IsTheSameEveryTime) {
  EXPECT_EQ(all_of(sample({64, 64, 1}, 77)), all_of(sample({64, 64, 1}, 77)));
}

TEST(Sample, OfNoMoreThanTheGridIsNone) {
  EXPECT_TRUE(sample({4, 4, 1}, 16).empty());
  EXPECT_TRUE(sample({1, 1, 1}, 1).empty());
  EXPECT_TRUE(sample({2, 2, 1}, 1).empty()) << "all are corners";
}

// A kernel whose blocks count 10, in the last column 7, in the last row 3, in the corner 1.
TEST(Scaling, IsExactWhereOnlyTheLastBlocksDiffer) {
  const Dim3 grid{40, 30, 1};
  LaunchReport whole;
  std::uint64_t executed = 0;
  for (const Stratum& stratum : sample(grid, 20)) {
    LaunchReport part;
    std::uint64_t sum = 0;
    for (const std::uint64_t block : stratum.blocks) {
      const bool column = block % grid.x == grid.x - 1, row = block / grid.x == grid.y - 1;
      sum += column && row ? 1 : column ? 7 : row ? 3 : 10;
    }
    part.exact["a.sum"] = sum;
    part.estimates["b.sum"] = 2 * sum;
    part.exact["launch__grid_size"] = grid.count();
    part.lines = {{"f.cu", 3, {{"a.sum", sum}}, {}}, {"f.cu", 5, {}, {{"b.sum", sum}}}};
    part.lines[0].schedule.instructions = 7;
    part.hot_loop.emplace().iterations = sum;
    part.lane_instructions = stratum.blocks.size();
    add_scaled(whole, part, stratum);
    executed += stratum.blocks.size();
  }
  const std::uint64_t expected = 39 * 29 * 10 + 29 * 7 + 39 * 3 + 1;
  EXPECT_EQ(whole.estimates.at("a.sum"), expected);
  EXPECT_EQ(whole.estimates.at("b.sum"), 2 * expected);
  EXPECT_FALSE(whole.exact.contains("a.sum")) << "nothing that was scaled is exact";
  EXPECT_EQ(whole.exact.at("launch__grid_size"), grid.count());
  ASSERT_EQ(whole.lines.size(), 2u);
  EXPECT_EQ(whole.lines[0].estimates.at("a.sum"), expected);
  EXPECT_EQ(whole.lines[1].estimates.at("b.sum"), expected);
  EXPECT_EQ(whole.lines[0].schedule.instructions, 7u) << "a property of the code";
  ASSERT_TRUE(whole.hot_loop.has_value());
  EXPECT_EQ(whole.hot_loop->iterations, expected);
  EXPECT_EQ(whole.lane_instructions, executed) << "what was executed is not scaled";
}

}  // namespace
}  // namespace vgpu
