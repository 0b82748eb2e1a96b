// SPDX-License-Identifier: Apache-2.0
#include "analyse/machine_code.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ladder::analyse {
namespace {

struct Bits {
  std::uint64_t low = 0, high = 0;
  Bits& set(unsigned at, std::uint64_t value) {
    (at >= 64 ? high : low) |= value << (at % 64);
    return *this;
  }
};

std::vector<MachineInstruction> decoded(const std::vector<Bits>& words, int architecture = 90) {
  KernelCode code;
  code.architecture = architecture;
  code.bytes.resize(words.size() * 16);
  std::memcpy(code.bytes.data(), words.data(), code.bytes.size());
  return decode(code);
}

TEST(Decode, kinds_widths_and_control) {
  const auto code =
      decoded({Bits{}.set(0, 0x984).set(73, 6).set(105, 2).set(110, 3).set(113, 7),
               Bits{}.set(0, 0x223).set(24, 4).set(32, 7).set(64, 9).set(116, 8).set(122, 1),
               Bits{0x0000000602058981, 0x000ea2000c1e1900}, Bits{}.set(0, 0xfff)});
  ASSERT_EQ(code.size(), 4U);
  EXPECT_EQ(code[0].kind, Kind::kLoadShared);
  EXPECT_EQ(code[0].bytes, 16);
  EXPECT_EQ(code[0].stall, 2);
  EXPECT_EQ(code[0].sets_result, 3);
  EXPECT_EQ(name_of(code[0]), "LDS.128");
  EXPECT_EQ(code[1].kind, Kind::kFfma);
  EXPECT_EQ(code[1].sources, (std::array<std::uint8_t, 3>{4, 7, 9}));
  EXPECT_EQ(code[1].waits, 8);
  EXPECT_EQ(code[1].reuse, 1);
  EXPECT_EQ(name_of(code[2]), "LDG");
  EXPECT_EQ(code[3].kind, Kind::kOther);
}

// The places of a branch's target depend on the architecture.
TEST(Decode, takes_the_architecture) {
  const Bits load = {0x0000000004077381, 0x00016200001e0900},
             branch = {0x0000006000008947, 0x000fea0003800000};
  const auto older = decoded({load, branch}, 80);
  EXPECT_EQ(name_of(older[0]), "LDG");
  EXPECT_EQ(older[1].target, 0x80);
  EXPECT_FALSE(older[1].always);
  const auto newer = decoded({{0x0000000800188947, 0x000fea0003800000}});
  EXPECT_EQ(newer[0].target, 0x980 - 0x110);
}

// -32 bytes from the next instruction: 0xfffffff8 words of 4 bytes, split over two fields.
Bits branch_back(int instructions) {
  const std::int64_t words = -4 * (std::int64_t{instructions} + 1);
  Bits branch;
  branch.set(0, 0x947).set(16, static_cast<std::uint64_t>(words) & 0xff);
  const std::uint64_t high =
      static_cast<std::uint64_t>(words >> 8) & ((std::uint64_t{1} << 48) - 1);
  branch.low |= high << 34;
  branch.high |= high >> 30;
  return branch;
}

TEST(HotLoop, has_the_most_multiply_adds) {
  const Bits ffma = Bits{}.set(0, 0x223), move = Bits{}.set(0, 0x202);
  const auto code =
      decoded({move, ffma, branch_back(1), move, ffma, ffma, branch_back(3), branch_back(0)});
  const auto loop = hot_loop(code);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop.value().first, 3U);
  EXPECT_EQ(loop.value().last, 6U);
  EXPECT_EQ(loops_of(code).size(), 2U) << "a branch to itself is padding";
}

TEST(HotLoop, of_a_persistent_block_is_the_one_over_k) {
  const Bits ffma = Bits{}.set(0, 0x223), move = Bits{}.set(0, 0x202);
  // The loop over tiles has a multiply-add of the epilogue; within it is the loop over k.
  const auto code = decoded({move, ffma, ffma, ffma, branch_back(3), ffma, branch_back(6)});
  const auto loop = hot_loop(code);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop.value().first, 1U);
  EXPECT_EQ(loop.value().last, 4U);
}

TEST(HotLoop, tensor_cores_go_before_cuda_cores) {
  const Bits ffma = Bits{}.set(0, 0x223), hgmma = {0x01e00000101879f0, 0x000fe20008700818},
             qgmma = {0x01e00000081879f3, 0x000fe6000b800818},
             hmma = {0x000000140c04723c, 0x044fe60000001804};
  for (const Bits& product : {hgmma, qgmma, hmma}) {
    const auto loop =
        hot_loop(decoded({product, branch_back(1), ffma, ffma, ffma, branch_back(3)}));
    ASSERT_TRUE(loop);
    EXPECT_EQ(loop.value().first, 0U);
    EXPECT_EQ(loop.value().last, 1U);
  }
}

TEST(HotLoop, is_not_what_lies_before_code_that_was_moved_away) {
  // 0: move; 1: wait, else to 7; 2: product; 3: back to 1; 4: ffma; 5: ffma; 6: exit; 7: slow path
  // of the wait; 8: back to 2
  const Bits move = Bits{}.set(0, 0x202), product = {0x000000140c04723c, 0x044fe60000001804},
             ffma = Bits{}.set(0, 0x223);
  Bits to_slow = branch_back(-6);
  const Bits exit = Bits{}.set(0, 0x94d).set(12, 7);
  const auto code = decoded({move, to_slow, product, branch_back(2), ffma, ffma, exit, move,
                             branch_back(6).set(12, 7).set(87, 7)});
  const auto loops = loops_of(code);
  ASSERT_EQ(loops.size(), 1U) << "the slow path's way back repeats nothing";
  EXPECT_EQ(loops[0].first, 1U);
  EXPECT_EQ(loops[0].last, 3U);
  const auto loop = hot_loop(code);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop.value().last, 3U);
}

TEST(HotLoop, is_refused_where_nothing_multiplies) {
  EXPECT_FALSE(hot_loop(decoded({Bits{}.set(0, 0x202), branch_back(1)})));
  EXPECT_FALSE(hot_loop({}));
}

TEST(FindCode, finds_a_kernel_by_its_demangled_name) {
  const auto code = find_code(
      LADDER_PROGRAM,
      "void ladder::r05_block_tile_2d::kernel<ladder::r05_block_tile_2d::Tile<128, 128, 8, 8, 8> "
      ">(ladder::Problem, ladder::Operands)",
      90);
  ASSERT_TRUE(code) << code.status().message();
  const auto decoded = decode(code.value());
  const auto loop = hot_loop(decoded);
  ASSERT_TRUE(loop);
  const auto mix = mix_of(std::span(decoded).subspan(loop.value().first, loop.value().size()));
  EXPECT_EQ(mix.at("FFMA") % 64, 0) << "8 x 8 outputs per thread";
  EXPECT_EQ(mix.at("BAR"), 2);
}

TEST(FindCode, says_what_is_missing) {
  EXPECT_EQ(find_code("/nonexistent", "k", 90).status().code(), Code::kIo);
  const auto none = find_code(LADDER_PROGRAM, "no_such_kernel", 90);
  ASSERT_FALSE(none);
  EXPECT_NE(none.status().message().find("no_such_kernel"), std::string::npos);
  const auto other = find_code(LADDER_PROGRAM, "k", 70);
  ASSERT_FALSE(other);
  EXPECT_NE(other.status().message().find("7.0"), std::string::npos);
}

}  // namespace
}  // namespace ladder::analyse
