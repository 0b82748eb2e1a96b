// SPDX-License-Identifier: Apache-2.0
// Variables, parameters, registers, headers of functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "corpus.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

Module module_of(const std::string& text) {
  return parse(".version 8.0\n.target sm_80\n.address_size 64\n" + text);
}

template <class T>
T element(const Variable& variable, std::size_t index) {
  T value{};
  EXPECT_LE((index + 1) * sizeof value, variable.initial.size());
  std::memcpy(&value, variable.initial.data() + index * sizeof value, sizeof value);
  return value;
}

TEST(Declarations, ModuleHeader) {
  const Module module = parse(".version 8.7 .target sm_100a, debug .address_size 32");
  EXPECT_EQ(module.target, 100);
}

TEST(Declarations, VariablesOfEverySpace) {
  const Module m = module_of(
      ".visible .global .align 16 .v4 .f32 g[3];\n.const .u16 c, d;\n.extern .shared .align 8 .b8 "
      "s[];\n"
      ".weak .global .attribute(.managed) .b64 w;\n.common .global .s32 k;\n.global .texref t;");
  ASSERT_EQ(m.variables.size(), 7u);
  EXPECT_EQ(m.variables[0].vector, 4u);
  EXPECT_EQ(m.variables[0].size, 48u);
  EXPECT_EQ(m.variables[0].alignment, 16u);
  EXPECT_EQ(m.variables[0].linkage, Linkage::kVisible);
  EXPECT_EQ(m.variables[0].line, 4);
  EXPECT_EQ(m.variables[2].name, "d");
  EXPECT_EQ(m.variables[2].space, Space::kConst);
  EXPECT_EQ(m.variables[2].alignment, 2u);
  EXPECT_EQ(m.variables[3].size, 0u);
  EXPECT_EQ(m.variables[4].name, "w");
  EXPECT_EQ(m.variables[5].linkage, Linkage::kCommon);
  EXPECT_EQ(m.variables[6].type, Type::kTexref);
}

TEST(Declarations, NestedInitialisersFillRows) {
  const Module m = module_of(
      ".global .s32 a[2][3] = {{1, 2}, {-3}};\n.global .u8 open[] = {1, 2, 3, };\n"
      ".global .u16 grid[][2] = {{1}, {2, 3}, {4}};\n.global .v2 .f32 v[2] = {{1.5, 2}, "
      "{0f40400000}};");
  EXPECT_EQ(element<int>(m.variables[0], 1), 2);
  EXPECT_EQ(element<int>(m.variables[0], 2), 0);
  EXPECT_EQ(element<int>(m.variables[0], 3), -3);
  EXPECT_EQ(m.variables[0].size, 24u);
  EXPECT_EQ(m.variables[1].size, 3u);
  EXPECT_EQ(m.variables[2].dimensions, (std::vector<std::uint64_t>{3, 2}));
  EXPECT_EQ(m.variables[2].size, 12u);
  EXPECT_EQ(element<std::uint16_t>(m.variables[2], 3), 3);
  EXPECT_EQ(element<std::uint16_t>(m.variables[2], 4), 4);
  EXPECT_EQ(element<float>(m.variables[3], 0), 1.5f);
  EXPECT_EQ(element<float>(m.variables[3], 1), 2.0f);
  EXPECT_EQ(element<float>(m.variables[3], 2), 3.0f);
}

TEST(Declarations, ConstantExpressions) {
  const Module m = module_of(
      ".global .s64 a[8] = {2+3*4, (2+3)*4, -7/2, 1<<4+1, ~0, -(5), 10-2-3, "
      "0xFFFFFFFFFFFFFFFF/2};");
  const std::int64_t expected[] = {14, 20, -3, 32, -1, -5, 5, 0x7FFFFFFFFFFFFFFF};
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(element<std::int64_t>(m.variables[0], i), expected[i]) << i;
}

TEST(Declarations, FloatsKeepTheirBits) {
  const Module m = module_of(
      ".global .f32 f[3] = {0f7FC00123, 0.1, -0f3F800000};\n.global .f64 d[2] = "
      "{0d7FF8000000000001, 3};");
  EXPECT_EQ(element<std::uint32_t>(m.variables[0], 0), 0x7FC00123u);
  EXPECT_EQ(element<float>(m.variables[0], 1), 0.1f);
  EXPECT_EQ(element<float>(m.variables[0], 2), -1.0f);
  EXPECT_EQ(element<std::uint64_t>(m.variables[1], 0), 0x7FF8000000000001u);
  EXPECT_EQ(element<double>(m.variables[1], 1), 3.0);
}

TEST(Declarations, AddressesInInitialisers) {
  const Module m = module_of(
      ".global .u64 p[4] = {generic(later)+8, later-4, f, 7};\n.global .u8 pieces[3] = "
      "{0xFF(later), 0xFF00(later), 0xFF0000(later)};\n"
      ".global .u32 later[4];\n.func f() { ret; }");
  ASSERT_EQ(m.variables[0].relocations.size(), 3u);
  const std::vector<Relocation>& r = m.variables[0].relocations;
  EXPECT_TRUE(r[0].is_generic);
  EXPECT_EQ(r[0].addend, 8);
  EXPECT_EQ(r[0].symbol, (Symbol{Symbol::Kind::kModule, 2}));
  EXPECT_FALSE(r[1].is_generic);
  EXPECT_EQ(r[1].addend, -4);
  EXPECT_EQ(r[1].offset, 8u);
  EXPECT_EQ(r[2].symbol, (Symbol{Symbol::Kind::kFunction, 0}));
  EXPECT_EQ(element<std::uint64_t>(m.variables[0], 3), 7u);
  ASSERT_EQ(m.variables[1].relocations.size(), 3u);
  EXPECT_EQ(m.variables[1].relocations[2].shift, 16u);
  EXPECT_EQ(m.variables[1].relocations[2].size, 1u);
}

TEST(Declarations, ADefinitionReplacesItsDeclaration) {
  const Module m = module_of(
      ".extern .global .u32 v;\n.visible .global .u32 v = 3;\n.extern .global .u32 v;\n.visible "
      ".func (.param .b32 r) f(.param .b32 a);\n"
      ".func g() { .reg .b32 x; .param .b32 a; .param .b32 b; call (b), f, (a); ret; }\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.func (.param .b32 r) f(.param .b32 a);");
  ASSERT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(element<std::uint32_t>(m.variables[0], 0), 3u);
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_EQ(m.functions[0].name, "f");
  EXPECT_FALSE(m.functions[0].is_declaration);
  EXPECT_EQ(m.functions[0].linkage, Linkage::kVisible);
  EXPECT_EQ(m.functions[1].body[0].operands[1].symbol, (Symbol{Symbol::Kind::kFunction, 0}));
}

TEST(Declarations, ParametersArePacked) {
  const Module m = module_of(
      ".entry k(.param .u8 a, .param .align 4 .b8 b[6], .param .u64 .ptr .global .align 16 c, "
      ".param .v2 .f32 d, .param .b64 .ptr .align 1 e) { ret; }");
  const Function& k = m.functions[0];
  ASSERT_EQ(k.params.size(), 5u);
  EXPECT_EQ(k.params[1].offset, 4u);
  EXPECT_EQ(k.params[1].size, 6u);
  EXPECT_EQ(k.params[2].offset, 16u);
  EXPECT_EQ(k.params[2].alignment, 8u);  // .ptr's alignment is that of the memory
  EXPECT_EQ(k.params[3].offset, 24u);
  EXPECT_EQ(k.param_bytes, 40u);
}

TEST(Declarations, FunctionDirectives) {
  const Module m = module_of(
      ".entry a() .maxntid 32, 4 .minnctapersm 2 .maxnreg 64 { ret; }\n.entry b() .reqntid 8,4,2 "
      ".explicitcluster .maxclusterrank 8 .blocksareclusters .pragma \"x\"; { ret; }\n"
      ".func .attribute(.unified(1, 2)) c(.reg .b32 %x) .noreturn { ret; }\n.func d();\n.alias d, "
      "c;");
  EXPECT_EQ(m.functions[0].max_threads, (std::array<std::uint32_t, 3>{32, 4, 1}));
  EXPECT_EQ(m.functions[1].required_threads, (std::array<std::uint32_t, 3>{8, 4, 2}));
  EXPECT_EQ(m.functions[2].params[0].reg, 0u);
  EXPECT_TRUE(m.functions[3].is_declaration);
  ASSERT_EQ(m.aliases.size(), 1u);
  EXPECT_EQ(m.aliases[0].name, 3u);
  EXPECT_EQ(m.aliases[0].of, 2u);
}

TEST(Declarations, Registers) {
  const Module m = parse(
      kernel_text(".reg .pred %p<3>, q; .reg .v2 .f32 v; .reg .b32 %r<2>; .reg .b64 %none<0>; "
                  "selp.b32 %r0, %r1, v.x, q; mov.pred %p0, %p2;"));
  const Function& k = m.functions[0];
  EXPECT_EQ(k.register_types, (std::vector<Type>{Type::kPred, Type::kPred, Type::kPred, Type::kPred,
                                                 Type::kF32, Type::kB32, Type::kB32}));
  std::vector<std::uint32_t> used;
  for (const Instruction& i : k.body) {
    for (const Operand& operand : i.operands) used.push_back(operand.reg);
  }
  EXPECT_EQ(used, (std::vector<std::uint32_t>{5, 6, 4, 3, 0, 2}));
}

TEST(Declarations, TypesHaveNamesAndSizes) {
  for (const auto& [name, size] :
       std::vector<std::pair<std::string_view, std::uint32_t>>{{"pred", 0},
                                                               {"b8", 1},
                                                               {"u16", 2},
                                                               {"s32", 4},
                                                               {"f64", 8},
                                                               {"b128", 16},
                                                               {"f16x2", 4}}) {
    const std::optional<Type> type = type_from(name);
    ASSERT_TRUE(type);
    EXPECT_EQ(to_string(*type), name);
    EXPECT_EQ(size_of(*type), size);
  }
  EXPECT_FALSE(type_from("f8"));
}

TEST(Declarations, TheModuleOwnsWhatItShows) {
  Module copy;
  {
    std::string text = kernel_text("ret;");
    const Module m = parse(text);
    std::ranges::fill(text, 'x');
    copy = m;
  }
  EXPECT_EQ(copy.functions[0].name, "k");
  EXPECT_EQ(copy.functions[0].body[0].text, "ret");
}

}  // namespace
}  // namespace vgpu::ptx
