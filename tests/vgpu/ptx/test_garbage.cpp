// SPDX-License-Identifier: Apache-2.0
// Damaged text: the parser takes it or refuses it with a line, and never does anything else. Means
// most under AddressSanitizer (preset asan). Deterministic.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "corpus.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

// Whether it was taken. Any other exception than the promised one ends the test.
bool survives(const std::string& text) {
  try {
    const Module module = parse(text);
    for (const Function& function : module.functions) {
      for (const Instruction& instruction : function.body) {
        for (const Operand& operand : instruction.operands) {
          EXPECT_TRUE(operand.kind != Operand::Kind::kLabel ||
                      operand.target <= function.body.size());
          EXPECT_TRUE(operand.kind != Operand::Kind::kRegister ||
                      operand.reg < function.register_types.size());
        }
      }
    }
    return true;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()).rfind("PTX line ", 0), 0u) << error.what();
    return false;
  }
}

class Garbage : public testing::TestWithParam<std::size_t> {
 protected:
  const std::string& text() const { return corpus()[GetParam()].text; }
};

TEST_P(Garbage, Truncated) {
  const std::size_t step = std::max<std::size_t>(text().size() / 150, 1);
  int refused = 0;
  for (std::size_t n = 0; n < text().size(); n += step) refused += !survives(text().substr(0, n));
  EXPECT_GT(refused, 100);
}

TEST_P(Garbage, BytesChanged) {
  std::mt19937 random(1);
  int refused = 0;
  static constexpr char kLikely[] = "{}[]();:,.%@!|<>+-\"/*0f\n\0$_ax";
  for (int n = 0; n < 200; ++n) {
    std::string damaged = text();
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      damaged[random() % damaged.size()] =
          random() % 2 == 0 ? kLikely[random() % sizeof kLikely] : static_cast<char>(random());
    }
    refused += !survives(damaged);
  }
  // The rest changed within a comment, a number, a name or white space.
  EXPECT_GT(refused, 20);
}

TEST_P(Garbage, PiecesMoved) {
  std::mt19937 random(2);
  int refused = 0;
  for (int n = 0; n < 200; ++n) {
    std::string damaged = text();
    const std::size_t from = random() % damaged.size(), size = random() % 200,
                      to = random() % damaged.size();
    const std::string piece = damaged.substr(from, size);
    if (random() % 2 == 0) damaged.erase(from, size);
    if (random() % 3 != 0) damaged.insert(std::min(to, damaged.size()), piece);
    refused += !survives(damaged);
  }
  EXPECT_GT(refused, 20);
}

INSTANTIATE_TEST_SUITE_P(All, Garbage, testing::Range<std::size_t>(0, corpus().size()));

TEST(GarbageText, TokensAtRandom) {
  std::istringstream all(R"(
      { } [ ] ( ) ; : , < > | ! @ = + - * / ~ .reg .b32 .pred .param .global .shared .align
      .v4 .loc .entry .func .extern .visible k %r1 %p1 _ L bra call ld.global.f32 1 0x10
      0f3F800000 1.5 "s" .branchtargets .callprototype .pragma .section .debug_str .b8 .file
      generic inlined_at function_name)");
  const std::vector<std::string> pieces(std::istream_iterator<std::string>(all), {});
  std::mt19937 random(3);
  for (int n = 0; n < 20000; ++n) {
    std::string text = ".version 8.0 ";
    if (random() % 2 == 0) text += ".entry k() { .reg .b32 %r<4>; .reg .pred %p<4>; ";
    for (auto i = random() % 30; i > 0; --i) text += pieces[random() % pieces.size()] + " ";
    survives(text);
  }
}

TEST(GarbageText, AMegabyteOfOneScopeTakesLinearTime) {
  const auto seconds = [](int instructions) {
    std::string body = ".reg .b32 %r<1000>;";
    for (int i = 0; i < instructions; ++i) {
      const std::string n = std::to_string(i);
      body += "\nL" + n + ": add.s32 %r" + std::to_string(i % 1000) + ", %r1, " + n + ";\nbra L" +
              n + ";";
    }
    const std::string text = kernel_text(body);
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const std::clock_t start = std::clock();  // this process's time: other load does not count
      EXPECT_TRUE(survives(text));
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  // Quadratic time would be 64 times as much.
  EXPECT_LT(seconds(32000), 32 * seconds(4000));
}

}  // namespace
}  // namespace vgpu::ptx
