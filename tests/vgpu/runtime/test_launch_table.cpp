// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "app/launch_table.hpp"

namespace vgpu::app {
namespace {

TEST(LaunchTable, JoinsEqualLaunchesInARow) {
  const std::string launch =
      R"json({"kernel": "void sgemm<32>(int, float*)", "grid": [8, 8, 1], "block": [256, 1, 1],
      "engine": "ptx", "metrics": {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1050624}, "estimates": {}})json";
  const std::string table =
      launch_table(R"({"device": "h200", "launches": [)" + launch + "," + launch + "]}");
  EXPECT_EQ(table,
            "times  kernel      grid    block   ld req  ld sectors  st req  st sectors  ffma\n"
            "    2  sgemm<32>  8x8x1  256x1x1  1050624           -       -           -     -\n");
}

TEST(LaunchTable, OfNothingHasOnlyItsTitles) {
  const std::string titles = "times  kernel  grid  block  ld req  ld sectors  st req  st sectors  ffma\n";
  EXPECT_EQ(launch_table(""), titles);
  EXPECT_EQ(launch_table(R"({"device": "h200", "launches": []})"), titles);
}

}  // namespace
}  // namespace vgpu::app
