// SPDX-License-Identifier: Apache-2.0
// The model of an SM on loops whose times follow from its rules by hand.
#include "analyse/simulate.hpp"

#include <gtest/gtest.h>

namespace ladder::analyse {
namespace {

const Machine& h200() {
  static const Machine machine = find_machine("h200").value();
  return machine;
}

MachineInstruction ffma(std::uint8_t a, std::uint8_t b, std::uint8_t c) {
  MachineInstruction i;
  i.kind = Kind::kFfma;
  i.sources = {a, b, c};
  return i;
}

MachineInstruction memory(Kind kind, std::uint8_t sets) {
  MachineInstruction i;
  i.kind = kind;
  i.sets_result = sets;
  return i;
}

SmRound round(const std::vector<MachineInstruction>& loop, SmLoad load,
              std::vector<MemoryCost> costs = {}) {
  costs.resize(loop.size());
  return simulate(loop, costs, load, h200());
}

TEST(IssueCycles, balanced_operands_take_one_cycle_each) {
  const std::vector<MachineInstruction> loop(64, ffma(2, 3, 255));
  EXPECT_NEAR(issue_cycles(loop) / 64, 1.0, 0.02);
}

// Rates measured on an H200 with patched machine code.
TEST(IssueCycles, registers_of_one_bank_are_read_one_a_cycle) {
  EXPECT_NEAR(issue_cycles(std::vector<MachineInstruction>(64, ffma(2, 4, 255))) / 64, 2.0, 0.05);
  EXPECT_NEAR(issue_cycles(std::vector<MachineInstruction>(64, ffma(2, 4, 6))) / 64, 3.0, 0.05);
  std::vector<MachineInstruction> balanced, runs;
  for (int i = 0; i < 32; ++i) {
    balanced.push_back(ffma(2, 4, 5));
    balanced.push_back(ffma(3, 5, 6));
  }
  EXPECT_NEAR(issue_cycles(balanced) / 64, 1.5, 0.03);
  for (int i = 0; i < 64; ++i) runs.push_back(i / 8 % 2 == 0 ? ffma(2, 4, 255) : ffma(3, 5, 255));
  EXPECT_NEAR(issue_cycles(runs) / 64, 1.88, 0.03);
}

TEST(IssueCycles, a_reused_operand_is_not_read_again) {
  std::vector<MachineInstruction> loop(64, ffma(2, 4, 255));
  for (MachineInstruction& i : loop) i.reuse = 1;
  EXPECT_NEAR(issue_cycles(loop) / 64, 1.0, 0.05);
}

TEST(Simulate, multiply_adds_fill_the_schedulers) {
  const SmRound r = round(std::vector<MachineInstruction>(100, ffma(2, 3, 255)),
                          {.warps_per_block = 8, .blocks = 1});
  EXPECT_NEAR(r.cycles, 100 * 8 / 4.0, 4);
  EXPECT_NEAR(r.ffma, 200, 4);
  EXPECT_NEAR(r.issue, 200, 4);
}

TEST(Simulate, half_as_many_lanes_take_twice_as_long) {
  Machine a100 = find_machine("a100").value();
  ASSERT_EQ(a100.fp32_lanes, 64);
  const std::vector<MachineInstruction> loop(100, ffma(2, 3, 255));
  const std::vector<MemoryCost> costs(loop.size());
  EXPECT_NEAR(simulate(loop, costs, {.warps_per_block = 8, .blocks = 1}, a100).cycles, 400, 8);
}

TEST(Simulate, wavefronts_of_all_warps_share_one_pipe) {
  std::vector<MachineInstruction> loop(10, memory(Kind::kLoadShared, 0));
  loop.front().waits = 1;
  const SmRound r = round(loop, {.warps_per_block = 8, .blocks = 2},
                          std::vector<MemoryCost>(10, MemoryCost{.pipe = 4}));
  EXPECT_NEAR(r.cycles, 10 * 8 * 4, 16);
  EXPECT_NEAR(r.l1, 10 * 8 * 4, 16);
}

TEST(Simulate, a_load_that_is_waited_for_shows_its_latency) {
  std::vector<MachineInstruction> loop{memory(Kind::kLoadGlobal, 0), ffma(2, 3, 255)};
  loop[1].waits = 1;
  const SmLoad one{.warps_per_block = 1, .blocks = 1};
  const SmRound far = round(loop, one);
  EXPECT_NEAR(far.cycles, h200().l2_latency, 6);
  SmLoad cached = one;
  cached.l1_hits = 1;
  EXPECT_NEAR(round(loop, cached).cycles, h200().l1_latency, 6);
  SmLoad from_memory = one;
  from_memory.from_memory = 1;
  EXPECT_NEAR(round(loop, from_memory).cycles, h200().memory_latency, 6);
}

TEST(Simulate, more_blocks_hide_latency) {
  std::vector<MachineInstruction> loop{memory(Kind::kLoadGlobal, 0)};
  for (int i = 0; i < 64; ++i) loop.push_back(ffma(2, 3, 255));
  loop[1].waits = 1;
  MachineInstruction barrier;
  barrier.kind = Kind::kBarrier;
  loop.push_back(barrier);
  const double alone = round(loop, {.warps_per_block = 4, .blocks = 1}).cycles;
  const double four = round(loop, {.warps_per_block = 4, .blocks = 4}).cycles;
  EXPECT_GT(alone, h200().l2_latency);
  EXPECT_LT(four, alone / 2);
  EXPECT_GE(four, 64);
}

TEST(Simulate, a_barrier_waits_for_the_slowest_warp) {
  std::vector<MachineInstruction> loop{memory(Kind::kLoadShared, 0), ffma(2, 3, 255)};
  loop[1].waits = 1;
  MachineInstruction barrier;
  barrier.kind = Kind::kBarrier;
  loop.push_back(barrier);
  // 32 warps load one after the other at 8 wavefronts each; none continues before the last one has
  // loaded.
  const std::vector<MemoryCost> costs{MemoryCost{.pipe = 8}, {}, {}};
  const SmRound r = round(loop, {.warps_per_block = 32, .blocks = 1}, costs);
  EXPECT_GT(r.cycles, 32 * 8 + h200().shared_latency - 2);
}

TEST(Simulate, asynchronous_copies_are_waited_for_by_group) {
  MachineInstruction copy = memory(Kind::kAsyncCopy, 7), commit, wait;
  commit.kind = Kind::kCommitCopies;
  wait.kind = Kind::kWaitCopies;
  wait.copies_left = 0;
  const SmLoad one{.warps_per_block = 1, .blocks = 1};
  const double at_once = round({copy, commit, wait}, one).cycles;
  EXPECT_GT(at_once, h200().l2_latency - 2);
  wait.copies_left = 3;
  EXPECT_LT(round({copy, commit, wait}, one).cycles, at_once / 3);
}

TEST(Simulate, nothing_to_do_takes_no_time) {
  EXPECT_EQ(simulate({}, {}, {.warps_per_block = 1, .blocks = 1}, h200()).cycles, 0);
  const std::vector<MachineInstruction> loop(1, ffma(2, 3, 4));
  EXPECT_EQ(simulate(loop, {}, {.warps_per_block = 1, .blocks = 1}, h200()).cycles, 0);
}

}  // namespace
}  // namespace ladder::analyse
