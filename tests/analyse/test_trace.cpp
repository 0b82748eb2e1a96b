// SPDX-License-Identifier: Apache-2.0
#include "analyse/trace.hpp"

#include <gtest/gtest.h>

namespace ladder::analyse {
namespace {

TracedInstruction load(std::uint64_t first, std::uint64_t step, std::uint64_t executions = 10) {
  TracedInstruction i;
  i.operation = "load";
  i.executions = executions;
  i.access.memory = Memory::kShared;
  i.access.bytes = 4;
  i.access.mask = 0xffffffff;
  for (std::uint64_t lane = 0; lane < 32; ++lane) i.access.addresses[lane] = first + step * lane;
  return i;
}

TEST(MergedAccesses, neighbouring_words_become_one_wide_load) {
  Trace trace{"k",
              "ptx",
              {load(64, 32), load(76, 32), load(68, 32), load(72, 32), load(80, 32), load(84, 32)}};
  const auto merged = merged_accesses(trace);
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].access.bytes, 16);
  EXPECT_EQ(merged[0].merged, 4);
  EXPECT_EQ(merged[0].access.addresses[1], 96U);
  EXPECT_EQ(merged[1].access.bytes, 8);
}

TEST(MergedAccesses, what_is_not_aligned_for_every_lane_stays) {
  EXPECT_EQ(merged_accesses({"k", "ptx", {load(0, 4), load(4, 4)}}).size(),
            2U);  // lanes 4 bytes apart
  // from address 4
  EXPECT_EQ(merged_accesses({"k", "ptx", {load(4, 32), load(8, 32)}}).size(), 2U);
  EXPECT_EQ(merged_accesses({"k", "ptx", {load(0, 32), load(4, 32, 9)}}).size(),
            2U);  // not consecutive
  EXPECT_EQ(merged_accesses({"k", "sass", {load(0, 32), load(4, 32)}}).size(),
            2U);  // decided by ptxas
}

TEST(ParseTrace, reads_instructions_and_samples) {
  const auto traces =
      parse_trace(R"({"launches": [{"kernel": "k", "engine": "ptx", "instructions": [
    {"text": "add.s32 %r1, %r2, 1", "place": 3, "file": "a.cu", "line": 7, "operation": "integer", "executions": 4,
     "lanes": 128},
    {"text": "ld.global.f32 %f1, [%rd1]", "place": 4, "file": "a.cu", "line": 8, "operation": "load", "executions": 4,
     "lanes": 128, "global_requests": 4, "global_sectors": 16, "shared_requests": 0, "shared_wavefronts": 0,
     "sample": {"block": 0, "warp": 1, "mask": 3, "bytes": 4, "shared": false, "addresses":
       [8,12,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}}]}]})");
  ASSERT_TRUE(traces) << traces.status().message();
  ASSERT_EQ(traces.value().size(), 1U);
  const Trace& trace = traces.value()[0];
  ASSERT_EQ(trace.instructions.size(), 2U);
  EXPECT_EQ(trace.instructions[0].access.mask, 0U);
  EXPECT_EQ(trace.instructions[1].access.addresses[1], 12U);
  EXPECT_EQ(trace.instructions[1].global_sectors, 16U);
  EXPECT_FALSE(trace.instructions[1].access.store);
}

TEST(ParseTrace, other_text_is_refused) {
  EXPECT_FALSE(parse_trace("{}"));
  EXPECT_FALSE(parse_trace("not json"));
  EXPECT_FALSE(parse_trace(R"({"launches": [{"kernel": 3}]})"));
}

}  // namespace
}  // namespace ladder::analyse
