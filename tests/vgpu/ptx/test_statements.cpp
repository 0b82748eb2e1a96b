// SPDX-License-Identifier: Apache-2.0
// Scopes, labels, tables, guards, source locations.
#include <gtest/gtest.h>

#include <tuple>

#include "corpus.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

TEST(Statements, InnerNamesHideOuterOnes) {
  const Module m =
      parse(kernel_text(".reg .b32 t, %r<4>; mov.b32 t, 0;\n{ .reg .b64 t, %r<2>; mov.b64 t, %r1; "
                        "mov.b64 t, %r3; }\nmov.b32 t, %r1;"));
  const Function& k = m.functions[0];
  EXPECT_EQ(k.body[0].operands[0].reg, k.body[3].operands[0].reg);
  EXPECT_NE(k.body[0].operands[0].reg, k.body[1].operands[0].reg);
  EXPECT_EQ(k.register_types[k.body[1].operands[0].reg], Type::kB64);
  EXPECT_EQ(k.register_types[k.body[1].operands[1].reg], Type::kB64);  // the inner %r<2>
  // there is no %r3 here: the outer one
  EXPECT_EQ(k.register_types[k.body[2].operands[1].reg], Type::kB32);
  EXPECT_EQ(k.register_types[k.body[3].operands[1].reg], Type::kB32);
}

TEST(Statements, ASingleNameAndARangeDoNotCollide) {
  const Module m = parse(kernel_text(
      ".reg .b32 x<2>; { .reg .b64 x1; mov.b64 x1, 0; mov.b32 x0, 0; } mov.b32 x1, 0;"));
  const Function& k = m.functions[0];
  EXPECT_EQ(k.register_types[k.body[0].operands[0].reg], Type::kB64);
  EXPECT_EQ(k.register_types[k.body[1].operands[0].reg], Type::kB32);
  EXPECT_EQ(k.register_types[k.body[2].operands[0].reg], Type::kB32);
}

TEST(Statements, LabelsBelongToTheirScopes) {
  const Module m = parse(kernel_text(
      "{ L: bra L; bra OUT; }\n{ add.s32 1, 2, 3; L: bra L; { bra L; } }\nL: bra L; OUT:"));
  const auto& body = m.functions[0].body;
  ASSERT_EQ(body.size(), 6u);
  EXPECT_EQ(body[0].operands[0].target, 0u);
  EXPECT_EQ(body[1].operands[0].target, 6u);  // the end
  EXPECT_EQ(body[3].operands[0].target, 3u);
  EXPECT_EQ(body[4].operands[0].target, 3u);
  EXPECT_EQ(body[5].operands[0].target, 5u);
}

TEST(Statements, LabelsHideFunctions) {
  const Module m = parse(
      ".version 8.0 .target sm_80 .func loop() { ret; } .entry k() { loop: bra loop; call loop; }");
  EXPECT_EQ(m.functions[1].body[0].operands[0].kind, Operand::Kind::kLabel);
  EXPECT_EQ(m.functions[1].body[1].operands[0].kind, Operand::Kind::kSymbol);
}

TEST(Statements, FunctionsMayFollowTheirCalls) {
  const Module m =
      parse(".version 8.0 .target sm_80 .entry k() { call f; ret; } .func f() { ret; }");
  EXPECT_EQ(m.functions[0].body[0].operands[0].symbol, (Symbol{Symbol::Kind::kFunction, 1}));
}

TEST(Statements, BranchTables) {
  const Module m = parse(
      kernel_text(".reg .b32 %r<2>; T: .branchtargets A, B, A; brx.idx %r1, T; A: ret; B: exit; "
                  "brx.idx %r0, U; U: .branchtargets B;"));
  const Function& k = m.functions[0];
  ASSERT_EQ(k.branch_tables.size(), 2u);
  EXPECT_EQ(k.branch_tables[0].targets, (std::vector<std::uint32_t>{1, 2, 1}));
  EXPECT_EQ(k.body[0].operands[1].kind, Operand::Kind::kBranchTable);
  EXPECT_EQ(k.body[3].operands[1].target, 1u);
}

TEST(Statements, CallTables) {
  const Module m = parse(
      ".version 8.0 .target sm_80 .func f(); .func g(); .entry k() { .reg .b64 a; T: .calltargets "
      "f, g; call a, T; }");
  const Function& k = m.functions[2];
  EXPECT_EQ(k.body[0].operands[1].kind, Operand::Kind::kCallees);
}

TEST(Statements, Guards) {
  const Module m = parse(kernel_text(".reg .pred %p<2>, q;\n@%p1 bra L;\n@!q  exit ;\nL: ret;"));
  const auto& body = m.functions[0].body;
  EXPECT_EQ(body[0].guard, 1u);
  EXPECT_FALSE(body[0].guard_negated);
  EXPECT_EQ(body[1].guard, 2u);
  EXPECT_TRUE(body[1].guard_negated);
  EXPECT_EQ(body[1].text, "@!q  exit");
  EXPECT_EQ(body[1].line, 6);
  EXPECT_EQ(body[2].guard, kNone);
}

TEST(Statements, PragmasStandBetweenInstructions) {
  const Module m = parse(kernel_text("ret; .pragma \"nounroll\", \"x\"; ret;"));
  EXPECT_EQ(m.functions[0].body.size(), 2u);
}

TEST(Statements, LocationsAreThoseOfTheInlinedFunction) {
  const Module m = parse(
      ".version 8.0\n.target sm_80\n.file 1 \"a.cu\"\n.file 2 \"b.h\", 12, 34\n.entry k() {\n.loc "
      "1 10 5\nret;\n"
      ".loc 2 7 3, function_name $L__info_string0, inlined_at 1 10 5\nexit;\n"
      ".loc 2 9 1, function_name $L__info_string0+2, inlined_at 2 7 3\ntrap; }\n"
      ".entry none() { ret; }\n.section .debug_str\n{\n$L__info_string0:\n.b8 95,90,102\n.b8 "
      "0\n}\n.section .debug_info { .b32 1 { } }");
  const auto& body = m.functions[0].body;
  for (const auto& [i, file, line] :
       {std::tuple(0, "a.cu", 10u), std::tuple(1, "b.h", 7u), std::tuple(2, "b.h", 9u)}) {
    const Location& location = m.locations.at(body[i].location);
    EXPECT_EQ(m.file_name(location.file), file);
    EXPECT_EQ(location.line, line);
  }
  EXPECT_EQ(m.functions[1].body[0].location, kNone);  // no function inherits another's location
}

}  // namespace
}  // namespace vgpu::ptx
