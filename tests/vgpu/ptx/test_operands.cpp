// SPDX-License-Identifier: Apache-2.0
// Operands of instructions, one kind after the other.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

using Kind = Operand::Kind;

class Operands : public testing::Test {
 protected:
  // The operands of one instruction in a kernel with registers of every type and some variables.
  std::span<const Operand> of(const std::string& statement) {
    module_ = parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 table[8];\n.func f(.param "
        ".b32 a);\n"
        ".entry k(.param .u64 in) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 "
        "%rd<4>;\n"
        ".shared .b8 tile[64]; .param .b32 argument; .reg .v4 .f32 vec;\n" +
        statement + ";\nL: ret; }");
    return module_.functions[1].body[0].operands;
  }
  const Function& kernel() const { return module_.functions[1]; }
  Module module_;
};

TEST_F(Operands, None) { EXPECT_TRUE(of("bar.warp.sync").empty()); }

TEST_F(Operands, Registers) {
  const auto o = of("add.s32 %r1, %r2, %r7");
  ASSERT_EQ(o.size(), 3u);
  for (const Operand& operand : o) EXPECT_EQ(operand.kind, Kind::kRegister);
  EXPECT_EQ(o[2].reg, 11u);  // four of %p, then %r0
  EXPECT_EQ(kernel().register_types[o[0].reg], Type::kB32);
}

TEST_F(Operands, SpecialRegistersKeepTheirNames) {
  EXPECT_EQ(of("mov.u32 %r1, %ctaid.z")[1].name, "%ctaid.z");
  EXPECT_EQ(of("mov.u64 %rd1, %clock64")[1].kind, Kind::kSpecial);
}

TEST_F(Operands, SelectorsOfRegisters) {
  const auto o = of("vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1");
  EXPECT_EQ(o[1].selector, "b0");
  EXPECT_EQ(o[1].kind, Kind::kRegister);
  EXPECT_EQ(o[1].name, "%r2");
  EXPECT_EQ(of("mov.f32 %f1, vec.y")[1].selector, "y");
}

TEST_F(Operands, Immediates) {
  EXPECT_EQ(of("add.s32 %r1, %r2, -5")[2].integer(), -5);
  EXPECT_EQ(of("add.s32 %r1, %r2, 0xFFFFFFFF")[2].bits, 0xFFFFFFFFu);
  EXPECT_TRUE(of("add.u32 %r1, %r2, 3U")[2].is_unsigned);
  EXPECT_EQ(of("add.s32 %r1, %r2, (1 << 4) - 3")[2].integer(), 13);
  EXPECT_EQ(of("add.s32 %r1, %r2, WARP_SZ")[2].integer(), 32);
  const Operand single = of("mov.f32 %f1, 0fBF800000")[1];
  EXPECT_EQ(single.kind, Kind::kFloat32);
  EXPECT_EQ(single.bits, 0xBF800000u);
  const Operand decimal = of("mov.f32 %f1, -1.5")[1];
  EXPECT_EQ(decimal.kind, Kind::kFloat64);
  EXPECT_EQ(std::bit_cast<double>(decimal.bits), -1.5);
}

TEST_F(Operands, Symbols) {
  const auto o = of("mov.u64 %rd1, table+8");
  EXPECT_EQ(o[1].kind, Kind::kSymbol);
  EXPECT_EQ(o[1].symbol, (Symbol{Symbol::Kind::kModule, 0}));
  EXPECT_EQ(o[1].offset, 8);
  EXPECT_EQ(of("mov.u64 %rd1, f")[1].symbol, (Symbol{Symbol::Kind::kFunction, 0}));
  EXPECT_EQ(of("mov.u64 %rd1, in")[1].symbol, (Symbol{Symbol::Kind::kParam, 0}));
  EXPECT_EQ(of("mov.u32 %r1, tile")[1].symbol, (Symbol{Symbol::Kind::kBody, 0}));
  EXPECT_TRUE(of("mov.u64 %rd1, generic(table)+4")[1].is_generic);
}

TEST_F(Operands, Addresses) {
  const Operand plain = of("ld.global.f32 %f1, [%rd1]")[1];
  EXPECT_EQ(plain.kind, Kind::kAddress);
  EXPECT_EQ(plain.elements[0].kind, Kind::kRegister);
  EXPECT_EQ(plain.offset, 0);
  EXPECT_EQ(of("ld.global.f32 %f1, [%rd1+-8]")[1].offset, -8);
  EXPECT_EQ(of("ld.global.f32 %f1, [%rd1 - 8]")[1].offset, -8);
  EXPECT_EQ(of("ld.global.f32 %f1, [%rd1 + 4*4 + 2]")[1].offset, 18);
  const Operand symbol = of("ld.shared.b32 %r1, [tile+12]")[1];
  EXPECT_EQ(symbol.offset, 12);
  EXPECT_EQ(symbol.elements[0].kind, Kind::kSymbol);
  EXPECT_EQ(symbol.elements[0].offset, 0);
  EXPECT_EQ(of("ld.shared.b32 %r1, [64]")[1].elements[0].bits, 64u);
  const Operand tensor = of("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1, %r2}]")[1];
  ASSERT_EQ(tensor.elements.size(), 2u);
  EXPECT_EQ(tensor.elements[1].kind, Kind::kVector);
  EXPECT_EQ(tensor.elements[1].elements[1].name, "%r2");
}

TEST_F(Operands, Vectors) {
  const Operand v = of("ld.global.v4.b32 {%r1, _, %r3, 7}, [%rd1]")[0];
  ASSERT_EQ(v.elements.size(), 4u);
  EXPECT_EQ(v.elements[1].kind, Kind::kSink);
  EXPECT_EQ(v.elements[3].kind, Kind::kInteger);
}

TEST_F(Operands, PairsAndNegation) {
  const auto o = of("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3");
  ASSERT_EQ(o[0].kind, Kind::kPair);
  EXPECT_EQ(o[0].elements[0].name, "%p1");
  EXPECT_EQ(o[0].elements[1].name, "%p2");
  EXPECT_TRUE(o[3].negated);
  EXPECT_EQ(o[3].kind, Kind::kRegister);
  EXPECT_EQ(of("elect.sync _|%p1, %r1")[0].elements[0].kind, Kind::kSink);
}

TEST_F(Operands, Calls) {
  const auto o = of("call.uni (argument), f, (argument, %r1)");
  ASSERT_EQ(o.size(), 3u);
  EXPECT_EQ(o[0].kind, Kind::kList);
  EXPECT_EQ(o[1].symbol, (Symbol{Symbol::Kind::kFunction, 0}));
  ASSERT_EQ(o[2].elements.size(), 2u);
  EXPECT_EQ(o[2].elements[0].symbol, (Symbol{Symbol::Kind::kBody, 1}));
  EXPECT_EQ(of("call f")[0].kind, Kind::kSymbol);
  const auto indirect =
      of("P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) "
         ".noreturn;\ncall (argument), %rd1, (argument), P");
  ASSERT_EQ(indirect.size(), 4u);
  EXPECT_EQ(indirect[3].kind, Kind::kCallees);
  EXPECT_EQ(indirect[3].name, "P");
}

TEST_F(Operands, Labels) {
  const auto o = of("bra.uni L");
  EXPECT_EQ(o[0].kind, Kind::kLabel);
  EXPECT_EQ(o[0].target, 1u);
}

TEST_F(Operands, OpcodesAreShared) {
  of("add.s32 %r1, %r2, %r3; add.s32 %r2, %r2, %r3; sub.s32 %r1, %r1, 1");
  const auto& body = kernel().body;
  EXPECT_EQ(body[0].opcode, body[1].opcode);
  EXPECT_NE(body[0].opcode, body[2].opcode);
  EXPECT_EQ(body[2].opcode->base(), "sub");
  EXPECT_TRUE(body[2].opcode->has("s32"));
  EXPECT_FALSE(body[2].opcode->has("s3"));
}

}  // namespace
}  // namespace vgpu::ptx
