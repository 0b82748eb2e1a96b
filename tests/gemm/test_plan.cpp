// SPDX-License-Identifier: Apache-2.0
// The planner's decisions for a table of shapes on an H200. This program includes no CUDA header.
#include <gtest/gtest.h>

#include "gemm/plan/choice.hpp"
#include "gemm/plan/menus.hpp"

#ifdef CUDART_VERSION
#error "the planner is compiled without CUDA"
#endif

namespace ladder {
namespace {

struct Row {
  std::int64_t m, n, k;
  bool few_tiles, by_words, fused;
};

TEST(Plan, ChoosesTheKernelByShape) {
  for (const Row& row :
       {Row{4096, 4096, 4096, false, true, false}, Row{512, 512, 512, true, false, false},
        Row{768, 768, 768, true, true, false}, Row{64, 8192, 4096, true, true, true},
        Row{256, 256, 16384, true, true, false}, Row{1, 4096, 4096, true, false, true}}) {
    SCOPED_TRACE(to_string(make_problem(row.m, row.n, row.k)));
    const Problem p = make_problem(row.m, row.n, row.k);
    EXPECT_EQ(has_few_tiles(p), row.few_tiles);
    EXPECT_EQ(gains_by_words(p), row.by_words);
    EXPECT_EQ(gains_by_fusing(p), row.fused);
  }
}

TEST(Plan, ChoosesTilesOfTheMenus) {
  const DeviceFacts h200;
  const TensorPlan cube =
      plan_tensor_tiles(make_problem(4096, 4096, 4096), true, k16BitTiles, h200);
  EXPECT_GT(k16BitTiles[cube.tile].narrow, 0);
  const TensorPlan deep =
      plan_split_tiles(make_problem(128, 128, 8192), {3, 256, 128}, split_tiles(64), h200.sms);
  EXPECT_GT(deep.parts * deep.plan.blocks, 1);
  const SidedPartPlan small =
      plan_sides({128, 128, 8192, true, false, true, true}, kPartTiles, h200.sms);
  EXPECT_GT(small.part.cluster * small.part.parts, 1);
  EXPECT_GT(plan_fused(make_problem(256, 256, 16384), 64, h200.sms).parts, 1);
}

TEST(Plan, CostsHaveAUnitAndACommand) {
  for (const CostRow& row : kCostsOfH200) {
    EXPECT_GT(row.value, 0) << row.name;
    EXPECT_FALSE(row.unit.empty() || row.meaning.empty()) << row.name;
    EXPECT_TRUE(row.measured_by.starts_with("bench/")) << row.name;
  }
}

}  // namespace
}  // namespace ladder
