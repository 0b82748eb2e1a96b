// SPDX-License-Identifier: Apache-2.0
// Linking of PTX as text. What the texts compute, linked, is tested by link.cpp.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ptx/parse/ast.hpp"
#include "ptx/parse/linker.hpp"

namespace vgpu::ptx {
namespace {

std::string unit(const std::string& body, const std::string& version = "8.0",
                 const std::string& target = "sm_80") {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + body;
}

std::string link(const std::vector<std::string>& texts) {
  std::vector<PtxUnit> units;
  for (const std::string& text : texts)
    units.push_back({"unit " + std::to_string(units.size()), text});
  std::string linked = link_ptx(units);
  parse(linked);  // throws unless it is PTX
  return linked;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(LinkingPtx, TheNewestVersionAndTargetAreTaken) {
  const std::string linked =
      link({unit("", "7.8", "sm_80"), unit("", "8.3", "sm_90a"), unit("", "8.0", "sm_86")});
  EXPECT_EQ(count(linked, ".version"), 1);
  EXPECT_NE(linked.find(".version 8.3\n.target sm_90a\n"), linked.npos) << linked;
}

TEST(LinkingPtx, OneUnitKeepsItsNames) {
  const std::string linked = link({unit(".global .u32 own = 1;\n.entry k() { ret; }")});
  EXPECT_NE(linked.find(".global .u32 own = 1;"), linked.npos) << linked;
  EXPECT_NE(linked.find(".entry k()"), linked.npos);
}

TEST(LinkingPtx, NamesWithoutLinkageStayApart) {
  const std::string text =
      ".global .u32 own = 1;\n.func helper() { .reg .u32 %r; ld.global.u32 %r, [own]; ret; }\n";
  const std::string linked = link({unit(text + ".entry first() { call helper; ret; }"),
                                   unit(text + ".entry second() { call helper; ret; }")});
  EXPECT_EQ(count(linked, "[own]"), 1) << linked;
  EXPECT_EQ(count(linked, "[own__unit1]"), 1);
  EXPECT_EQ(count(linked, "call helper__unit1;"), 1);
  EXPECT_NE(linked.find(".entry second()"), linked.npos);  // kernels keep their names
}

TEST(LinkingPtx, ANameOfOneUnitAloneIsKept) {
  const std::string linked = link({unit(".entry k() { ret; }"), unit(".global .u32 own = 1;")});
  EXPECT_NE(linked.find(".global .u32 own = 1;"), linked.npos) << linked;
}

TEST(LinkingPtx, AnInternalNameGivesWayToAVisibleOneOfAnotherUnit) {
  const std::string linked = link({unit(".func f() { ret; }\n.entry k() { call f; ret; }"),
                                   unit(".visible .func f() { ret; }")});
  EXPECT_NE(linked.find("call f__unit0;"), linked.npos) << linked;
  EXPECT_NE(linked.find(".visible .func f()"), linked.npos);
}

TEST(LinkingPtx, OneWeakDefinitionIsKept) {
  const std::string weak = ".weak .func w() { ret; }\n";
  EXPECT_EQ(count(link({unit(weak), unit(weak), unit(weak)}), "func w()"), 1);
  const std::string with_strong = link({unit(weak), unit(".visible .func w() { ret; }")});
  EXPECT_EQ(count(with_strong, ".weak"), 0) << with_strong;
}

TEST(LinkingPtx, DeclarationsMeetDefinitionsInAnyOrder) {
  const std::string use =
      ".extern .func f();\n.extern .global .u32 v;\n"
      ".entry k() { .reg .u32 %r; call f; ld.global.u32 %r, [v]; ret; }";
  const std::string definition = ".visible .func f() { ret; }\n.visible .global .u32 v = 5;";
  link({unit(use), unit(definition)});
  link({unit(definition), unit(use)});
}

TEST(LinkingPtx, TwoVisibleDefinitionsAreAnError) {
  try {
    link({unit(".visible .global .u32 v;"), unit(".visible .func v() { ret; }")});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "'v' is defined in unit 0 and in unit 1");
  }
}

TEST(LinkingPtx, LinesNameTheirUnitsFiles) {
  const auto with_file = [](const std::string& name) {
    return unit(".entry " + name + "() { .loc 1 7 3\n ret; }\n.file 1 \"" + name + ".cu\"\n" +
                ".section .debug_str { .b8 1 }\n");
  };
  const std::string linked = link({with_file("one"), with_file("two")});
  EXPECT_EQ(count(linked, ".loc 1 7 3"), 1) << linked;
  EXPECT_EQ(count(linked, ".loc 2 7 3"), 1);
  EXPECT_NE(linked.find(".file 1 \"one.cu\""), linked.npos);
  EXPECT_NE(linked.find(".file 2 \"two.cu\""), linked.npos);
  EXPECT_EQ(count(linked, ".section"), 0);
}

TEST(LinkingPtx, CommentsAndStringsAreNoNames) {
  const std::string linked =
      link({unit(".global .u32 own;"),
            unit(".global .u32 own; // own of two\n/* own */ .pragma \"own\";\n"
                 ".entry k() { .reg .u32 %r; ld.global.u32 %r, [own]; ret; }")});
  EXPECT_EQ(count(linked, "own__unit1"), 2) << linked;
}

// What does not end, or is no PTX at all, must not be read past its end.
TEST(LinkingPtx, BrokenTextIsAnErrorOrIgnored) {
  for (const std::string text :
       {"", ".version", ".target", ".file", ".file 1", ".visible", ".func (", "{", "}", ";;;",
        ".section x {", ".entry k() {", ".pragma", "\"", "/*", ".global .u32 x = {1, 2"}) {
    std::vector<PtxUnit> units = {{"one", text}, {"two", unit("") + text}};
    try {
      link_ptx(units);
    } catch (const std::invalid_argument&) {
    }
  }
}

}  // namespace
}  // namespace vgpu::ptx
