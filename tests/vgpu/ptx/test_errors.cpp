// SPDX-License-Identifier: Apache-2.0
// Invalid PTX is refused with its line and the reason.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "corpus.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

std::string reason(const std::string& text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

std::string in_kernel(const std::string& body) { return reason(kernel_text(body)); }
std::string in_module(const std::string& text) { return reason(".version 8.0\n" + text); }

TEST(Errors, Modules) {
  EXPECT_EQ(reason(""),
            "PTX line 1: expected '.version', with which PTX begins, found the end of the text");
  EXPECT_EQ(reason("\nhello"),
            "PTX line 2: expected '.version', with which PTX begins, found 'hello'");
  EXPECT_EQ(reason(".version x"), "PTX line 1: expected a version such as 8.0, found 'x'");
  EXPECT_EQ(in_module(".target sm_x"), "PTX line 2: no target of this name: 'sm_x'");
  EXPECT_EQ(in_module(".entri k() {}"),
            "PTX line 2: expected a directive of a module, found '.entri'");
  EXPECT_EQ(in_module(".entry k() { ret; }\n.entry k() { ret; }"),
            "PTX line 3: a second body for 'k'");
  EXPECT_EQ(in_module(".entry k() .fancy { ret; }"),
            "PTX line 2: no directive of a function: 'fancy'");
  EXPECT_EQ(in_module(".section .debug_info { {"),
            "PTX line 2: the section that begins here has no closing brace");
  EXPECT_EQ(in_module("/* "), "PTX line 2: the comment that begins here has no end");
}

TEST(Errors, Statements) {
  EXPECT_EQ(in_kernel(".reg .b32 a;\nadd.s32 a, a, 1\nret;"),
            "PTX line 6: expected ',' or ';' after an operand of 'add.s32', found 'ret'");
  EXPECT_EQ(in_kernel("add.s32 x, 1, 2;"), "PTX line 4: 'x' is not declared");
  EXPECT_EQ(in_kernel("bra NOWHERE;"), "PTX line 4: 'NOWHERE' is not declared");
  EXPECT_EQ(in_kernel("T: .branchtargets NOWHERE;"), "PTX line 4: label 'NOWHERE' is not defined");
  EXPECT_EQ(in_kernel("L: ret;\nL: ret;"), "PTX line 5: label 'L' is defined twice");
  EXPECT_EQ(in_kernel("{ L: ret; } bra L;"), "PTX line 4: 'L' is not declared");
  EXPECT_EQ(in_kernel("@p ret;"), "PTX line 4: predicate 'p' is not declared");
  EXPECT_EQ(in_kernel(".reg .b32 %r<3>; mov.b32 %r3, 0;"),
            "PTX line 4: register '%r3' is beyond the range declared");
  EXPECT_EQ(in_kernel(".reg .b32 a, b, a;"), "PTX line 4: register 'a' is declared twice");
  EXPECT_EQ(in_kernel(".reg .b33 a;"), "PTX line 4: expected a register's type, found '.b33'");
  EXPECT_EQ(in_kernel(".maxntid 3;"), "PTX line 4: no directive of a function's body: 'maxntid'");
  EXPECT_EQ(in_kernel("{ ret;"),
            "PTX line 6: the body of 'k', which begins in line 4, has no closing brace");
  EXPECT_EQ(in_kernel("ld.global.b32 {1, 2, [5;"),
            "PTX line 4: expected ']' after an address, found ';'");
  EXPECT_EQ(in_kernel("mov.b32 1/0, 1;"), "PTX line 4: division by zero");
  EXPECT_EQ(in_kernel("mov.b32 in.x, 1;"), "PTX line 4: 'in' is not declared");
}

TEST(Errors, Declarations) {
  EXPECT_EQ(in_module(".global .b32 a;\n.global .b32 a;"), "PTX line 3: 'a' is declared twice");
  EXPECT_EQ(in_module(".global .align 3 .b32 a;"), "PTX line 2: an alignment is a power of two");
  EXPECT_EQ(in_module(".global .b32 a[2] = {1, 2, 3};"),
            "PTX line 2: more initialisers than 'a' has elements");
  EXPECT_EQ(in_module(".global .b32 a[2] = {{1}};"),
            "PTX line 2: braces nested deeper than the array's dimensions");
  EXPECT_EQ(in_module(".global .b32 a[2][];"),
            "PTX line 2: only an array's first dimension may be open");
  EXPECT_EQ(in_module(".global .b64 a = b;"), "PTX line 2: 'b' is not declared");
  EXPECT_EQ(in_module(".global .b32 a = 1.5;"),
            "PTX line 2: a floating-point initialiser for an integer");
  EXPECT_EQ(in_module(".global .b8 a[0x1000000000000][2];"),
            "PTX line 2: an array of more than 2^48 bytes");
  EXPECT_EQ(in_module(".global a;"), "PTX line 2: expected a variable's type, found 'a'");
  EXPECT_EQ(in_module(".visible .version 8.0"),
            "PTX line 2: expected a variable or a function after its linkage, found '.version'");
}

// Short inputs that could exhaust memory or the stack.
TEST(Errors, Excess) {
  const auto repeated = [](const std::string& piece, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += piece;
    return result;
  };
  EXPECT_EQ(in_kernel(".reg .b32 %r<4000000000>;"), "PTX line 4: more than 2^24 registers");
  EXPECT_EQ(in_kernel(repeated("{", 100000)), "PTX line 4: scopes nested too deeply");
  EXPECT_EQ(in_kernel("mov.b32 " + repeated("{", 100000)),
            "PTX line 4: operands nested too deeply");
  EXPECT_EQ(in_kernel("mov.b32 " + repeated("(", 100000)),
            "PTX line 4: a constant expression nested too deeply");
  EXPECT_EQ(in_kernel("mov.b32 " + repeated("-", 100000)),
            "PTX line 4: a constant expression nested too deeply");
  EXPECT_EQ(in_kernel("ld.b32 " + repeated("[1,", 100000)),
            "PTX line 4: operands nested too deeply");
  EXPECT_EQ(in_module(".global .b8 a[2][0x100000000] = {{1}, {1}};"),
            "PTX line 2: an initialiser of more than 256 MB");
}

}  // namespace
}  // namespace vgpu::ptx
