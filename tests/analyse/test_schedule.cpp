// SPDX-License-Identifier: Apache-2.0
#include "analyse/schedule.hpp"

#include <gtest/gtest.h>

namespace ladder::analyse {
namespace {

Machine h200() { return find_machine("h200").value(); }

MachineInstruction instruction(Kind kind, int stall, int sets = 7, int waits = 0) {
  MachineInstruction i;
  i.kind = kind;
  i.stall = static_cast<std::uint8_t>(stall);
  i.sets_result = static_cast<std::uint8_t>(sets);
  i.waits = static_cast<std::uint8_t>(waits);
  return i;
}

const PipeSlots& pipe(const Schedule& schedule, const std::string& name) {
  static const PipeSlots kNone;
  for (const PipeSlots& p : schedule.pipes) {
    if (p.name == name) return p;
  }
  return kNone;
}

TEST(Schedule, CountsSlotsAndBoundsByPipe) {
  const std::vector<MachineInstruction> loop{
      instruction(Kind::kLoadShared, 1, 0), instruction(Kind::kFfma, 4, 7, 1),
      instruction(Kind::kFfma, 2),          instruction(Kind::kImad, 2),
      instruction(Kind::kInteger, 1),       instruction(Kind::kBranch, 5)};
  std::vector<MemoryCost> costs(loop.size());
  costs[0].pipe = 4;
  const Machine machine = h200();
  const Schedule s = schedule_of(loop, costs, {}, machine);
  EXPECT_EQ(s.stall, 15);
  EXPECT_EQ(pipe(s, "issue").slots, 6);
  EXPECT_EQ(pipe(s, "FP32").slots, 2);
  EXPECT_EQ(pipe(s, "control").slots, 1);
  // 8 warps on 4 schedulers: 2 each. FP32 has 32 lanes per scheduler, integers 16.
  EXPECT_EQ(pipe(s, "issue").bound(8, machine), 12);
  EXPECT_EQ(pipe(s, "FP32").bound(8, machine), 4);
  EXPECT_EQ(pipe(s, "integer MAD").bound(8, machine), 4);
  EXPECT_EQ(pipe(s, "integer ALU").bound(8, machine), 4);
  EXPECT_EQ(pipe(s, "L1/shared").bound(8, machine), 32) << "one pipe per SM";
  EXPECT_EQ(pipe(s, "control").bound(8, machine), 0);
  ASSERT_NE(s.binding(8, machine), nullptr);
  EXPECT_EQ(s.binding(8, machine)->name, "L1/shared");
}

TEST(Schedule, AChainHasTheWaitsWhoseLatenciesAddUp) {
  // A pointer is loaded, then what it points to; beside them an independent load.
  const std::vector<MachineInstruction> loop{
      instruction(Kind::kLoadGlobal, 1, 0), instruction(Kind::kLoadGlobal, 1, 2),
      instruction(Kind::kLoadGlobal, 1, 1, 1), instruction(Kind::kFfma, 1, 7, 2 | 4)};
  const Schedule s = schedule_of(loop, std::vector<MemoryCost>(4), {}, h200());
  EXPECT_EQ(s.waits.size(), 3U);
  ASSERT_EQ(s.chain.size(), 2U);
  EXPECT_EQ(s.chain[0].setter, 0U);
  EXPECT_EQ(s.chain[0].waiter, 2U);
  EXPECT_EQ(s.chain[1].setter, 2U);
  EXPECT_EQ(s.chain[1].waiter, 3U);
}

TEST(Schedule, ALoadForTheNextIterationIsWaitedForThere) {
  const std::vector<MachineInstruction> loop{instruction(Kind::kFfma, 4, 7, 1),
                                             instruction(Kind::kLoadShared, 1, 0)};
  const Schedule s = schedule_of(loop, std::vector<MemoryCost>(2), {}, h200());
  ASSERT_EQ(s.chain.size(), 1U);
  EXPECT_EQ(s.chain[0].setter, 1U);
  EXPECT_EQ(s.chain[0].waiter, 0U);
}

TEST(Schedule, IsGivenBySourceLine) {
  const std::vector<MachineInstruction> loop{instruction(Kind::kLoadShared, 2, 0),
                                             instruction(Kind::kFfma, 4, 7, 1),
                                             instruction(Kind::kFfma, 3)};
  const std::vector<SourcePlace> places{{"k.cu", 9}, {"k.cu", 12}, {"k.cu", 12}};
  const Schedule s = schedule_of(loop, std::vector<MemoryCost>(3), places, h200());
  ASSERT_EQ(s.lines.size(), 2U);
  EXPECT_EQ(s.lines[0].line, 9U);
  EXPECT_EQ(s.lines[0].stall, 2);
  EXPECT_EQ(s.lines[0].waits, 0);
  EXPECT_EQ(s.lines[1].slots, 2);
  EXPECT_EQ(s.lines[1].stall, 7);
  EXPECT_EQ(s.lines[1].waits, 1);
  EXPECT_EQ(s.lines[1].waits_for.at("LDS"), 1);
}

TEST(Schedule, OfNothingIsEmpty) { EXPECT_TRUE(schedule_of({}, {}, {}, h200()).pipes.empty()); }

TEST(Schedule, OfARungHasALineForEachInstruction) {
  const auto code = find_code(
      LADDER_PROGRAM,
      "void ladder::r05_block_tile_2d::kernel<ladder::r05_block_tile_2d::Tile<128, 128, 8, 8, 8> "
      ">(ladder::Problem, ladder::Operands)",
      90);
  ASSERT_TRUE(code) << code.status().message();
  const auto decoded = decode(code.value());
  const auto places = places_of(code.value());
  ASSERT_EQ(places.size(), decoded.size());
  const Loop loop = hot_loop(decoded).value();
  const auto body = std::span(decoded).subspan(loop.first, loop.size());
  const Schedule s = schedule_of(body, std::vector<MemoryCost>(body.size()),
                                 std::span(places).subspan(loop.first, loop.size()), h200());
  int slots = 0;
  bool own = false;
  for (const LineSchedule& line : s.lines) {
    slots += line.slots;
    own |= line.file.ends_with("r05_block_tile_2d.cu") && line.line > 0;
  }
  EXPECT_EQ(slots, static_cast<int>(body.size()));
  EXPECT_TRUE(own);
  EXPECT_EQ(pipe(s, "FP32").slots % 64, 0) << "8 x 8 outputs per thread";
  EXPECT_EQ(s.barriers, 2);
  EXPECT_FALSE(s.chain.empty()) << "shared loads follow a barrier";
}

}  // namespace
}  // namespace ladder::analyse
