// SPDX-License-Identifier: Apache-2.0
// Control codes and scoreboard waits. The words are those of a kernel that ptxas 13.0 has compiled
// for sm_90; their control codes were read by hand, since nvdisasm does not print them:
//
//   for (int i = 0; i < n; ++i) { at = next[at]; sum += x[at]; }
#include "ir/schedule.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "sass/decode/control_code.hpp"
#include "sass/decode/decode.hpp"

namespace vgpu::sass {
namespace {

struct Row {
  Word word;
  int stall, result, read, waits;
};

constexpr std::uint32_t kLoop = 13, kBack = 20;  // first and last instruction of the loop
const std::vector<Row> kRows{
    {{0x00000a00ff017b82, 0x000ff00000000800}, 8, 7, 7, 0},      // LDC R1
    {{0x00008a00ff007b82, 0x000e220000000800}, 1, 0, 7, 0},      // LDC R0
    {{0x0000000000037919, 0x000e620000002100}, 1, 1, 7, 0},      // S2R R3
    {{0x0000820000067ab9, 0x000fe20000000a00}, 1, 7, 7, 0},      // ULDC.64 UR6
    {{0x00000000ff0d7435, 0x000fca00000001ff}, 5, 7, 7, 0},      // HFMA2.MMA R13
    {{0x00008800ff067b82, 0x000e620000000a00}, 1, 1, 7, 0},      // LDC.64 R6
    {{0x000000010000780c, 0x001fe20003f06270}, 1, 7, 7, 0b1},    // ISETP R0
    {{0x0000000403067825, 0x002fd800078e0006}, 12, 7, 7, 0b10},  // IMAD.WIDE R3, R6
    {{0x0000000000308947, 0x000fea0003800000}, 5, 7, 7, 0},      // @!P0 BRA 0x150
    {{0x00008400ff087b82, 0x000e220000000a00}, 1, 0, 7, 0},      // LDC.64 R8
    {{0x000000ff000d7202, 0x000fe20000000f00}, 1, 7, 7, 0},      // MOV R13
    {{0x0000003f00047c82, 0x000fcc0008000000}, 6, 7, 7, 0},      // UMOV UR4
    {{0x00008600ff0a7b82, 0x000e640000000a00}, 2, 1, 7, 0},      // LDC.64 R10
    {{0x0000000403027825, 0x001fcc00078e0208}, 6, 7, 7, 0b1},    // IMAD.WIDE R2, R3, R8
    {{0x0000000602037981, 0x000e62000c1e1900}, 1, 1, 7, 0},      // LDG R3, [R2]
    {{0x0000000104047890, 0x000fcc000fffe03f}, 6, 7, 7, 0},      // UIADD3 UR4
    {{0x0000000400007c0c, 0x000fe2000bf03270}, 1, 7, 7, 0},      // ISETP
    {{0x0000000403047825, 0x002fcc00078e020a}, 6, 7, 7, 0b10},   // IMAD.WIDE R4, R3, R10
    {{0x0000000604047981, 0x000ea4000c1e1900}, 2, 2, 7, 0},      // LDG R4, [R4]
    {{0x0000000d040d7221, 0x004fc80000000000}, 4, 7, 7, 0b100},  // FADD R13, R4
    {{0xfffffffc00e08947, 0x000fea000383ffff}, 5, 7, 7, 0},      // @!P0 BRA 0xd0
    {{0x0000000d06007986, 0x000fe2000c101906}, 1, 7, 7, 0},      // STG [R6], R13
    {{0x000000000000794d, 0x000fea0003800000}, 5, 7, 7, 0},      // EXIT
};

using Pair = std::tuple<std::uint32_t, std::uint32_t, int, bool>;
std::vector<Pair> pairs(const std::vector<ir::ScoreboardWait>& waits) {
  std::vector<Pair> list;
  for (const ir::ScoreboardWait& w : waits)
    list.emplace_back(w.setter, w.waiter, int{w.scoreboard}, w.for_reads);
  return list;
}

std::vector<ir::ControlCode> codes() {
  std::vector<ir::ControlCode> list;
  for (const Row& row : kRows) list.push_back(control_code(row.word));
  return list;
}

TEST(ControlCode, IsReadFromTheWord) {
  for (std::size_t at = 0; at < kRows.size(); ++at) {
    const Row& row = kRows[at];
    const auto address = static_cast<std::uint32_t>(16 * at);
    const ir::ControlCode c = decode(row.word, address, 90).control;
    EXPECT_EQ(c.stall, row.stall) << at;
    EXPECT_EQ(c.sets_result, row.result) << at;
    EXPECT_EQ(c.sets_read, row.read) << at;
    EXPECT_EQ(c.waits, row.waits) << at;
    EXPECT_EQ(c.reuse, 0) << at;
  }
  // FFMA R2, R4.reuse, R5, R2: bit 122; a store that releases scoreboard 3 after its reads
  EXPECT_EQ(control_code({0, std::uint64_t{1} << 58}).reuse, 1);
  EXPECT_EQ(control_code({0, std::uint64_t{3} << 49}).sets_read, 3);
}

TEST(Scoreboards, OfAProgramWithALoop) {
  const std::vector<ir::ControlCode> code = codes();
  std::vector<ir::Ways> ways(code.size());
  ways[8].jump = 21;
  ways[kBack].jump = kLoop;
  ways.back().next = false;
  // The first iteration waits for the constants, later ones for the load of the one before.
  EXPECT_EQ(pairs(ir::waits_of(code, ways)), (std::vector<Pair>{{1, 6, 0, false},
                                                                {2, 7, 1, false},
                                                                {5, 7, 1, false},
                                                                {9, 13, 0, false},
                                                                {12, 17, 1, false},
                                                                {14, 17, 1, false},
                                                                {18, 19, 2, false}}));
}

TEST(Scoreboards, OfALoop) {
  const std::vector<ir::ControlCode> all = codes();
  const auto loop = std::span(all).subspan(kLoop, kBack + 1 - kLoop);
  int stall = 0;
  for (const ir::ControlCode& i : loop) stall += i.cycles();
  EXPECT_EQ(stall, 31);
  // The address in x depends on the loaded index: both latencies add up.
  const std::vector<Pair> chain{{1, 4, 1, false}, {5, 6, 2, false}};
  EXPECT_EQ(pairs(ir::waits_of_loop(loop)), chain);
  EXPECT_EQ(pairs(ir::longest_chain(loop)), chain);
}

TEST(Scoreboards, WhereControlFlowJoinsBothSidesAreWaitedFor) {
  std::vector<ir::ControlCode> code(5);
  code[1].sets_result = 4;  // one side of a branch
  code[3].sets_read = 4;    // the other
  code[4].waits = 1 << 4;
  std::vector<ir::Ways> ways(code.size());
  ways[0].jump = 3;
  ways[2] = {4, false};
  EXPECT_EQ(pairs(ir::waits_of(code, ways)),
            (std::vector<Pair>{{1, 4, 4, false}, {3, 4, 4, true}}));
}

TEST(Scoreboards, AnInstructionThatOnlyACallReachesIsLookedAt) {
  std::vector<ir::ControlCode> code(4);
  code[2].sets_result = 0;
  code[3].waits = 1;
  std::vector<ir::Ways> ways(code.size());
  ways[1] = {-1, false};  // EXIT
  EXPECT_EQ(pairs(ir::waits_of(code, ways)), (std::vector<Pair>{{2, 3, 0, false}}));
  EXPECT_TRUE(ir::waits_of({}, {}).empty());
  EXPECT_TRUE(ir::longest_chain({}).empty());
}

}  // namespace
}  // namespace vgpu::sass
