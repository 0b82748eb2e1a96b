// SPDX-License-Identifier: Apache-2.0
// Divergence in machine code: who runs first, who waits, and how often hardware executes the
// instructions at which lanes meet. The rules are those of machine/converge.hpp.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "ir/operations.hpp"
#include "machine/converge.hpp"
#include "machine/grid.hpp"
#include "memory/memory.hpp"

namespace {

using namespace vgpu::ir;

// BREAK in a recursive function: lanes 0 to 15 are in an inner activation, lanes 16 to 31 wait in
// the outer one, whose barrier all 32 take part in.
TEST(Converge, LanesLeaveTheBarrierOfTheirOwnActivation) {
  constexpr u32 kInner = 0xffff, kOuter = 0xffffffff, kLeaves = 0xff;
  std::array<u32, 32> row;
  for (std::size_t lane = 0; lane < 32; ++lane) row[lane] = lane < 16 ? kInner : kOuter;
  vgpu::machine::leave(row.data(), kLeaves);
  for (std::size_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(row[lane], lane < 16 ? kInner & ~kLeaves : kOuter) << lane;
  // The inner activation returns, and lanes 0 to 15 restore the outer barrier.
  for (std::size_t lane = 0; lane < 16; ++lane) row[lane] = kOuter;
  vgpu::machine::leave(row.data(), kLeaves);
  for (const u32 members : row) EXPECT_EQ(members, kOuter & ~kLeaves);
}

// A program of one warp, written by hand: predicates P0 to P6 are masks of lanes, B0 to B3 rows of
// the window. Each instruction is a run of its own, so that each is counted.
class Code {
 public:
  static constexpr u32 kTrue = 7, kBarriers = 128, kRows = 4;

  explicit Code(std::initializer_list<u32> predicates) {
    program_.machine_code.emplace();
    FunctionCode& function = program_.functions.emplace_back();
    function.constants.resize(kBarriers);
    function.window_bytes = kBarriers + kRows * 4 * kLanes;
    u32 at = 0;
    for (const u32 mask : predicates) std::memcpy(&function.constants[4 * at++], &mask, 4);
    const u32 all = kAllLanes;
    std::memcpy(&function.constants[4 * kTrue], &all, 4);
  }

  // Appends an instruction and returns its index.
  u32 add(const char* operation, u32 guard = kTrue, bool negated = false) {
    Insn insn;
    insn.op = *find_operation(operation);
    insn.d = insn.s[0] = kBarriers;
    insn.s[3] = 4 * kTrue;
    if (guard != kTrue) {
      insn.guard = 4 * guard;
      insn.guard_negated = negated;
      insn.guard_site = program_.guard_sites++;
    }
    const u32 pc = static_cast<u32>(program_.code.size());
    program_.code.push_back(insn);
    program_.origin.push_back({pc, 0, false, {}});
    program_.statements.push_back({operation, 16 * pc, "", 0, 0});
    program_.machine_code->pc_at.push_back(pc);
    const bool control = operations()[insn.op].control;
    const bool branch =
        insn.op == *find_operation("sass.bra") || insn.op == *find_operation("sass.exit.if");
    program_.runs.push_back({pc, pc, control, branch, 1});
    program_.run_at.push_back(pc);
    return pc;
  }
  Insn& operator[](u32 pc) { return program_.code[pc]; }

  vgpu::observer::Counters run() {
    vgpu::Memory memory(std::size_t{1} << 20);
    vgpu::LaunchConfig config;
    config.block = {32, 1, 1};
    std::optional<vgpu::machine::GridWorkspace> workspace;
    vgpu::machine::check_config(program_, config, {});
    const vgpu::machine::GridRun result =
        vgpu::machine::run_grid(vgpu::machine::prepare(program_, config, {}, memory, workspace));
    if (result.error) std::rethrow_exception(result.error);
    return result.counters;
  }

 private:
  Program program_;
};

void expect_run(const vgpu::observer::Counters& counters, u32 pc, u64 executions, u64 lanes) {
  EXPECT_EQ(counters.runs[pc].executions, executions) << pc;
  EXPECT_EQ(counters.runs[pc].lanes, lanes) << pc;
}
void expect_again(const vgpu::observer::Counters& counters, u32 pc, u64 executions, u64 lanes,
                  u64 repeated) {
  EXPECT_EQ(counters.again[pc].executions, executions) << pc;
  EXPECT_EQ(counters.again[pc].lanes, lanes) << pc;
  EXPECT_EQ(counters.again[pc].repeated, repeated) << pc;
}

// if (P0) goto join; work; join. The lanes that jump are at the BSYNC at once.
struct If {
  explicit If(u32 jumping) : code{jumping} {
    code.add("sass.bssy");
    branch = code.add("sass.bra", 0);
    work = code.add("nop");
    join = code.add("sass.bsync");
    end = code.add("sass.exit");
    code[branch].target = join;
  }
  Code code;
  u32 branch, work, join, end;
};

// Fewer lanes jump: they run first and wait at the BSYNC, which each side executes once.
TEST(Converge, TheSmallerSideRunsFirst) {
  If program(0x000000ff);
  const auto counters = program.code.run();
  EXPECT_EQ(counters.divergent[program.branch], 1u);
  expect_run(counters, program.work, 1, 24);
  expect_run(counters, program.join, 2, 32);
  expect_again(counters, program.join, 0, 0, 0);
  expect_run(counters, program.end, 1, 32);
}

// More lanes jump, or as many: the others run first. Nothing is executed again.
TEST(Converge, TheLargerSideWaits) {
  for (const u32 jumping : {0x00ffffffu, 0x0000ffffu}) {
    If program(jumping);
    const auto counters = program.code.run();
    expect_run(counters, program.work, 1, 32 - static_cast<u64>(std::popcount(jumping)));
    expect_run(counters, program.join, 2, 32);
    expect_again(counters, program.join, 0, 0, 0);
    expect_run(counters, program.end, 1, 32);
  }
}

// The work diverges, too: when one of its sides is chosen, the lanes that jumped have arrived
// without executing the BSYNC. All execute it once more when the others arrive.
TEST(Converge, LanesArriveEarly) {
  constexpr u32 kJumping = 0x0000ffff, kInner = 0x000f0000;
  Code code{kJumping, kInner};
  code.add("sass.bssy");
  const u32 branch = code.add("sass.bra", 0);
  const u32 inner_set = code.add("sass.bssy"), inner_branch = code.add("sass.bra", 1);
  const u32 work = code.add("nop"), inner_join = code.add("sass.bsync");
  const u32 join = code.add("sass.bsync"), end = code.add("sass.exit");
  code[branch].target = join;
  code[inner_branch].target = inner_join;
  code[inner_set].d = code[inner_join].s[0] = Code::kBarriers + 4 * kLanes;
  code[inner_set].sub = code[inner_join].sub = 1;
  const auto counters = code.run();
  expect_run(counters, work, 1, 12);
  expect_run(counters, inner_join, 2, 16);
  expect_again(counters, inner_join, 0, 0, 0);
  expect_run(counters, join, 1, 16);
  expect_again(counters, join, 1, 32, 16);
  expect_run(counters, end, 1, 32);
  EXPECT_FALSE(counters.broke);
}

TEST(Converge, OneSideOnly) {
  for (const u32 jumping : {0u, kAllLanes}) {
    If program(jumping);
    const auto counters = program.code.run();
    EXPECT_EQ(counters.divergent[program.branch], 0u);
    expect_run(counters, program.join, 1, 32);
    expect_again(counters, program.join, 0, 0, 0);
  }
}

// A branch with a condition besides its guard: lanes that meet the guard alone are counted.
TEST(Converge, ABranchCountsLanesThatMeetBoth) {
  Code code{0x0000ffff, 0x00ff00ff};
  const u32 branch = code.add("sass.bra", 0);
  const u32 falls = code.add("nop"), end = code.add("sass.exit");
  code[branch].target = end;
  code[branch].s[3] = 4 * 1;
  const auto counters = code.run();
  expect_run(counters, branch, 1, 32);
  EXPECT_EQ(counters.guards[0].lanes, 16u);
  EXPECT_EQ(counters.again[branch].refused, 8u);
  expect_run(counters, falls, 1, 24);
}

// Lanes wait at the BSYNC; the last ones that they wait for leave by BREAK. The BSYNC is executed
// again with the lanes that waited.
TEST(Converge, ABsyncIsExecutedAgainAfterABreak) {
  constexpr u32 kWaiting = 0x0000000f;
  Code code{kWaiting};
  code.add("sass.bssy");
  const u32 branch = code.add("sass.bra", 0);
  code.add("sass.break");
  const u32 away = code.add("sass.exit"), join = code.add("sass.bsync"),
            end = code.add("sass.exit");
  code[branch].target = join;
  const auto counters = code.run();
  expect_run(counters, away, 1, 28);
  expect_run(counters, join, 1, 4);
  expect_again(counters, join, 1, 4, 4);
  expect_run(counters, end, 1, 4);
  EXPECT_FALSE(counters.broke);
}

// @P1 BREAK P2: lanes of both predicates leave the barrier, those of P1 alone wait with the others.
TEST(Converge, ABreakWithACondition) {
  constexpr u32 kWaiting = 0x000000ff, kBoth = 0xffff0000;
  Code code{kWaiting, 0xffffff00, 0xffff000f};
  code.add("sass.bssy");
  const u32 branch = code.add("sass.bra", 0), leave = code.add("sass.break", 1);
  code[leave].s[3] = 4 * 2;
  const u32 away = code.add("sass.bra", 2), join = code.add("sass.bsync"),
            together = code.add("sass.exit"), alone = code.add("sass.exit");
  code[branch].target = join;
  code[away].target = alone;
  const auto counters = code.run();
  expect_run(counters, alone, 1, std::popcount(kBoth));
  expect_run(counters, together, 1, 32 - std::popcount(kBoth));
}

// The same after an EXIT.
TEST(Converge, ABsyncIsExecutedAgainAfterAnExit) {
  Code code{0x0000000f};
  code.add("sass.bssy");
  const u32 branch = code.add("sass.bra", 0);
  code.add("sass.exit");
  const u32 join = code.add("sass.bsync"), end = code.add("sass.exit");
  code[branch].target = join;
  const auto counters = code.run();
  expect_run(counters, join, 1, 4);
  expect_again(counters, join, 1, 4, 4);
  expect_run(counters, end, 1, 4);
}

// WARPSYNC.ALL is executed again by all lanes where some have waited there.
TEST(Converge, AWarpsyncOfAllIsExecutedAgain) {
  Code code{0x0000000f};
  const u32 branch = code.add("sass.bra", 0), apart = code.add("nop");
  const u32 join = code.add("sass.warpsync"), end = code.add("sass.exit");
  code[branch].target = join;
  code[join].s[0] = vgpu::ir::kNone;
  const auto counters = code.run();
  expect_run(counters, apart, 1, 28);
  expect_run(counters, join, 2, 32);
  expect_again(counters, join, 1, 32, 32);
  expect_run(counters, end, 1, 32);
}

// @P0 EXIT P1: lanes of both predicates exit. All others stay together, those of P0 too, because
// what the warp has in common (uniform registers) is computed once.
TEST(Converge, AnExitWithACondition) {
  Code code{0x0000ffff, 0x00ff00ff};
  const u32 leave = code.add("sass.exit.if", 0);
  code[leave].s[3] = 4 * 1;
  const u32 after = code.add("nop");
  code.add("sass.exit");
  expect_run(code.run(), after, 1, 24);
}

// BRA.DIV is taken if lanes of a mask are elsewhere, BRA.CONV if none is. The mask is that of the
// BSSY before: all lanes; of them some have jumped away, to wait at a BSYNC.
TEST(Converge, BranchesByConvergence) {
  for (const u32 away : {0u, 0x000000ffu}) {
    for (const bool if_converged : {false, true}) {
      Code code{away};
      code.add("sass.bssy");
      const u32 part = code.add("sass.bra", 0), branch = code.add("sass.bra.div"),
                falls = code.add("nop"), join = code.add("sass.bsync");
      code.add("sass.exit");
      code[part].target = code[branch].target = join;
      code[branch].sub = if_converged ? 1 : 0;
      const bool taken = (away == 0) == if_converged;
      EXPECT_EQ(code.run().runs[falls].executions, taken ? 0u : 1u) << away << if_converged;
    }
  }
}

}  // namespace
