// SPDX-License-Identifier: Apache-2.0
// What the table of instructions says of operands (opcodes.def, lower/operands.hpp), and what the
// passes over decoded code conclude from it.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "corpus.hpp"
#include "sass/decode/decode.hpp"
#include "sass/lower/lower.hpp"
#include "sass/lower/operands.hpp"

namespace {

using namespace vgpu::sass;

Operand operand(Kind kind, std::uint8_t index) {
  Operand o;
  o.kind = kind;
  o.index = index;
  return o;
}
Operand reg(std::uint8_t index) { return operand(Kind::kRegister, index); }
Operand uniform(std::uint8_t index) { return operand(Kind::kUniform, index); }
Operand predicate(std::uint8_t index) { return operand(Kind::kPredicate, index); }
Operand address(std::uint8_t index) { return operand(Kind::kAddress, index); }
Operand uniform_address(std::uint8_t index) {
  Operand o = address(kZeroRegister);
  o.uniform = index;
  return o;
}

Instruction insn(Op op, std::initializer_list<Operand> operands, std::uint8_t bytes = 0) {
  Instruction i;
  i.op = op;
  i.guard = predicate(kTrue);
  i.bytes = bytes;
  for (const Operand& o : operands) i.operands[i.count++] = o;
  return i;
}
Instruction conversion(Op op, std::uint8_t type, std::uint8_t source_type) {
  Instruction i = insn(op, {reg(2), reg(4)});
  i.type = type;
  i.source_type = source_type;
  return i;
}
Instruction guarded(Instruction i, std::uint8_t by) {
  i.guard = predicate(by);
  return i;
}

// Every instruction that has register operands must have registers in the table.
TEST(SassOperands, TheTableHasTheOperandsOfTheCorpus) {
  for (const int architecture : kArchitectures) {
    for (const Line& line : corpus(architecture)) {
      Instruction i;
      try {
        i = decode(line.word, line.address, architecture);
      } catch (const UnknownInstruction&) {
        continue;
      }
      const Results results = results_of(i);
      // A vote may have a predicate alone as its result, and BMOV a barrier.
      const bool optional = i.op == Op::kVote || i.op == Op::kBmov;
      const bool has_result = result_registers(i).most != 0 && !optional;
      const bool compares =
          columns_of(i.op).result == Registers::kPredicates && i.op != Op::kSetmaxreg;
      EXPECT_TRUE(!has_result || results.has_register()) << line.text;
      EXPECT_TRUE(!compares || results.predicates != 0) << line.text;
      for (std::size_t k = results.end; k < i.count; ++k) {
        const unsigned least = i[k].pair ? 2 : is_register(i[k]) ? 1 : 0;
        EXPECT_GE(source_registers(i, k), least) << line.text;
      }
    }
  }
}

TEST(SassOperands, Results) {
  const struct {
    Instruction insn;
    std::size_t predicates, end;
    unsigned least, most;
  } kCases[] = {
      {insn(Op::kFadd, {reg(0), reg(1), reg(2)}), 0, 1, 1, 1},
      {insn(Op::kDadd, {reg(0), reg(2), reg(4)}), 0, 1, 2, 2},
      {insn(Op::kFchk, {predicate(0), reg(1), reg(2)}), 1, 1, 0, 0},
      {insn(Op::kIsetp, {predicate(0), predicate(1), reg(1), reg(2), predicate(2)}), 2, 2, 0, 0},
      {insn(Op::kVote, {predicate(0), predicate(1)}), 1, 1, 1, 1},
      {insn(Op::kShfl, {predicate(0), reg(1), reg(2), reg(3), reg(4)}), 1, 2, 1, 1},
      {insn(Op::kTex, {reg(0), reg(2), reg(4), reg(6), uniform(4)}), 0, 2, 1, 2},
      {insn(Op::kNanosleep, {reg(0)}), 0, 0, 0, 0},
      {insn(Op::kStg, {address(0), reg(2)}, 16), 0, 0, 0, 0},
      {insn(Op::kLdg, {reg(0), address(2)}, 16), 0, 1, 4, 4},
      {insn(Op::kLdg, {reg(0), address(2)}, 1), 0, 1, 1, 1},
      {insn(Op::kMatch, {reg(0), reg(2)}, 8), 0, 1, 1, 1},
      {insn(Op::kLdsm, {reg(0), address(8)}, 16), 0, 1, 1, 4},
      {conversion(Op::kF2f, kF64, kF32), 0, 1, 2, 2},
      {conversion(Op::kF2f, kF32, kF64), 0, 1, 1, 1},
  };
  for (const auto& [i, predicates, end, least, most] : kCases) {
    const std::string name = "operation " + std::to_string(static_cast<int>(i.op));
    EXPECT_EQ(results_of(i).predicates, predicates) << name;
    EXPECT_EQ(results_of(i).end, end) << name;
    EXPECT_EQ(result_registers(i).least, least) << name;
    EXPECT_EQ(result_registers(i).most, most) << name;
  }
}

TEST(SassOperands, Sources) {
  Instruction vector = insn(Op::kRed, {address(2), reg(4)}, 4);  // RED.ADD.F32x4
  vector.floating = true;
  vector.shift = 4;
  EXPECT_EQ(source_registers(vector, 1), 4u);
  EXPECT_EQ(source_registers(vector, 0), 2u);
  EXPECT_EQ(source_registers(insn(Op::kMatch, {reg(0), reg(2)}, 8), 1), 2u);
  EXPECT_EQ(source_registers(insn(Op::kDmma, {reg(0), reg(8), reg(24), reg(0)}), 1), 16u);
  EXPECT_EQ(source_registers(conversion(Op::kF2f, kF32, kF64), 1), 2u);
  EXPECT_EQ(source_registers(conversion(Op::kF2f, kF64, kF32), 1), 1u);
  // The coordinates follow the addresses of shared memory and of the barrier.
  EXPECT_GE(source_registers(insn(Op::kUtmaLoad, {uniform_address(8), uniform_address(4)}), 0), 7u);
}

// Which words a 16-byte load of R4 to R7 has that `use` does not read.
unsigned dead_before(const Instruction& use) {
  std::vector<Instruction> code = {insn(Op::kLds, {reg(4), address(30)}, 16), use,
                                   insn(Op::kExit, {})};
  mark_dead_words(code);
  return code[0].dead;
}

TEST(SassOperands, DeadWords) {
  EXPECT_EQ(dead_before(insn(Op::kNop, {})), 0b1111u);
  EXPECT_EQ(dead_before(insn(Op::kFadd, {reg(8), reg(5), reg(6)})), 0b1001u);
  EXPECT_EQ(dead_before(insn(Op::kDadd, {reg(8), reg(4), reg(8)})), 0b1100u);
  EXPECT_EQ(dead_before(insn(Op::kStg, {address(8), reg(4)}, 8)), 0b1100u);
  EXPECT_EQ(dead_before(insn(Op::kStg, {address(5), reg(10)}, 8)), 0b1001u);
  EXPECT_EQ(dead_before(insn(Op::kShfl, {predicate(7), reg(4), reg(5), reg(6), reg(7)})), 0b0001u);
  EXPECT_EQ(dead_before(insn(Op::kSust, {address(4), reg(10), uniform(4)}, 4)), 0u);
  EXPECT_EQ(dead_before(insn(Op::kCall, {})), 0u);
  // A of DMMA.16x8x16 has 16 registers: here R0 to R15.
  EXPECT_EQ(dead_before(insn(Op::kDmma, {reg(40), reg(0), reg(24), reg(40)})), 0u);
  EXPECT_EQ(dead_before(insn(Op::kHmma, {reg(40), reg(2), reg(24), reg(40)})), 0b1100u);
}

// What the result of an atomic, R4 and R5, decides through `code`.
vgpu::ir::u32 decided_by(std::initializer_list<Instruction> code) {
  std::vector<Instruction> all = {insn(Op::kAtom, {predicate(7), reg(4), address(30), reg(6)}, 8)};
  all.insert(all.end(), code);
  all.push_back(insn(Op::kExit, {}));
  return OrderTraits(all).of(all[0]);
}

TEST(SassOperands, OrderDecides) {
  using vgpu::ir::kDecidesAddresses, vgpu::ir::kDecidesBranches;
  const Instruction load = insn(Op::kLdg, {reg(9), address(4)}, 4);
  const Instruction guarded_move = guarded(insn(Op::kMov, {reg(9), reg(8)}), 0);
  EXPECT_EQ(decided_by({}), 0u);
  EXPECT_EQ(decided_by({load}), kDecidesAddresses);
  // NANOSLEEP only reads its register; the result of a move and MATCH's of 32 bits replace one.
  EXPECT_EQ(decided_by({insn(Op::kNanosleep, {reg(4)}), load}), kDecidesAddresses);
  EXPECT_EQ(decided_by({insn(Op::kMov, {reg(4), reg(8)}), insn(Op::kMov, {reg(5), reg(8)}), load}),
            0u);
  EXPECT_EQ(decided_by({insn(Op::kMatch, {reg(4), reg(8)}, 8), load}), kDecidesAddresses);
  // FCHK has one predicate, and two sources.
  EXPECT_EQ(decided_by({insn(Op::kFchk, {predicate(0), reg(4), reg(8)}), guarded_move}),
            kDecidesBranches);
  // Both results of a texture fetch.
  for (const auto& result : {address(10), address(12)}) {
    EXPECT_EQ(decided_by({insn(Op::kTex, {reg(10), reg(12), reg(4), reg(8), uniform(4)}),
                          insn(Op::kLdg, {reg(9), result}, 4)}),
              kDecidesAddresses);
  }
  // The coordinates of a tensor copy.
  EXPECT_EQ(decided_by({insn(Op::kR2ur, {uniform(11), reg(5)}),
                        insn(Op::kUtmaLoad, {uniform_address(8), uniform_address(4)})}),
            kDecidesAddresses);
}

}  // namespace
