// SPDX-License-Identifier: Apache-2.0
// Tokens.
#include "ptx/parse/lexer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>
#include <string>
#include <vector>

namespace vgpu::ptx {
namespace {

using Kind = Token::Kind;

std::vector<Token> tokens(const std::string& text) {  // views into `text`
  std::vector<Token> result;
  Lexer lexer(text);
  for (Token t = lexer.next(); t.kind != Kind::kEnd; t = lexer.next()) result.push_back(t);
  return result;
}

Token only(const std::string& text) {
  const std::vector<Token> all = tokens(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? Token{} : all.front();
}

TEST(Lexer, NamesKeepTheirDots) {
  for (const std::string text :
       {"ld.global.v4.f32", "%tid.x", "$L__BB0_1", "_", "_Z1kPf", "cp.async.shared::cta.global",
        "barrier.mbarrier::complete_tx::bytes.multicast::cluster", "%r1", "a.0x"}) {
    const Token t = only(text);
    EXPECT_EQ(t.kind, Kind::kName) << text;
    EXPECT_EQ(t.text, text);
  }
}

TEST(Lexer, ALabelEndsAtItsColon) {
  const std::string text = "LAB:add.s32 a";
  const std::vector<Token> all = tokens(text);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].text, "LAB");
  EXPECT_TRUE(all[1].is(':'));
}

TEST(Lexer, Integers) {
  const auto bits = [](const std::string& text) {
    const Token t = only(text);
    EXPECT_EQ(t.kind, Kind::kInteger) << text;
    return t.bits;
  };
  EXPECT_EQ(bits("0"), 0u);
  EXPECT_EQ(bits("42"), 42u);
  EXPECT_EQ(bits("0x1F"), 31u);
  EXPECT_EQ(bits("0XfFu"), 255u);
  EXPECT_EQ(bits("017"), 15u);
  EXPECT_EQ(bits("0b101"), 5u);
  EXPECT_EQ(bits("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_TRUE(only("7U").is_unsigned);
  EXPECT_FALSE(only("7").is_unsigned);
  EXPECT_TRUE(only("0x8000000000000000").is_unsigned);
}

TEST(Lexer, Floats) {
  EXPECT_EQ(only("0f3F800000").kind, Kind::kFloat32);
  EXPECT_EQ(only("0f3F800000").bits, 0x3F800000u);
  EXPECT_EQ(only("0F7fc00001").bits, 0x7fc00001u);
  EXPECT_EQ(only("0d3FF0000000000000").kind, Kind::kFloat64);
  EXPECT_EQ(only("0d3FF0000000000000").bits, 0x3FF0000000000000u);
  for (const auto& [text, value] : std::vector<std::pair<std::string, double>>{
           {"1.5", 1.5}, {"2e3", 2000}, {"1.25E-2", 0.0125}, {".5", 0.5}, {"3.", 3}, {"9.0", 9}}) {
    EXPECT_EQ(only(text).kind, Kind::kFloat64) << text;
    EXPECT_EQ(std::bit_cast<double>(only(text).bits), value) << text;
  }
}

TEST(Lexer, CommentsAndLines) {
  const std::string text = "a // b\n/* c\n d */ e\r\n\tf//";
  const std::vector<Token> all = tokens(text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].line, 1);
  EXPECT_EQ(all[1].text, "e");
  EXPECT_EQ(all[1].line, 3);
  EXPECT_EQ(all[2].line, 4);
}

TEST(Lexer, ANulEndsTheText) { EXPECT_EQ(tokens(std::string("a b\0c", 5)).size(), 2u); }

TEST(Lexer, Malformed) {
  for (const std::string text :
       {"0x", "0f12", "0f3F8000000", "0d12", "12ab", "09", "1e", "0b2", "/* open", "\"open",
        "\"a\nb\"", ".", "\x01", "\xff", "99999999999999999999", "1e999"}) {
    EXPECT_THROW(tokens(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace vgpu::ptx
