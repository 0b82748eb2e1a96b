// SPDX-License-Identifier: Apache-2.0
#include "analyse/access.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace ladder::analyse {
namespace {

Access access(Memory memory, int bytes, const std::function<std::uint64_t(int)>& element,
              bool store = false) {
  Access a;
  a.memory = memory;
  a.store = store;
  a.bytes = bytes;
  a.mask = 0xffffffff;
  for (int lane = 0; lane < kWarp; ++lane)
    a.addresses[static_cast<std::size_t>(lane)] = 4 * element(lane);
  return a;
}

constexpr std::uint64_t kN = 4096;  // rows of 16 KB

// Worklog, kernels 1 and 2: cost of a warp's loads.
TEST(PublishedTransactions, naive_a_32_sectors_b_one_broadcast) {
  const Cost a = cost_of(
      access(Memory::kGlobal, 4, [](int lane) { return static_cast<std::uint64_t>(lane) * kN; }));
  EXPECT_EQ(a.sectors, 32);
  EXPECT_EQ(a.lines, 32);
  EXPECT_DOUBLE_EQ(a.sector_use, 4.0 / 32);
  const Cost b = cost_of(access(Memory::kGlobal, 4, [](int) { return 7 * kN; }));
  EXPECT_EQ(b.sectors, 1);
  EXPECT_TRUE(b.broadcast);
}

TEST(PublishedTransactions, coalesced_a_broadcast_b_one_line_in_four_sectors) {
  const Cost a = cost_of(access(Memory::kGlobal, 4, [](int) { return 3 * kN; }));
  EXPECT_TRUE(a.broadcast);
  EXPECT_EQ(a.sectors, 1);
  const Cost b = cost_of(access(
      Memory::kGlobal, 4, [](int lane) { return 5 * kN + static_cast<std::uint64_t>(lane); }));
  EXPECT_EQ(b.lines, 1);
  EXPECT_EQ(b.sectors, 4);
  EXPECT_DOUBLE_EQ(b.sector_use, 1.0);
}

// Notes on kernels 1 to 10 and the list of effects to explain: bank = (byte address / 4) mod 32.
// r01's load of A on an H200, in cycles per load of A and of B (results/h200/sizes-ieee.json): 33.1
// where the rows are 4096 apart, 10.3 at 1025.
TEST(L1Cycles, rows_in_one_bank_are_read_one_by_one_others_as_fast_as_lines_are_looked_up) {
  const auto column = [](std::uint64_t ld) {
    return cost_of(access(Memory::kGlobal, 4,
                          [ld](int lane) { return static_cast<std::uint64_t>(lane) * ld; }));
  };
  EXPECT_EQ(column(4096).l1_cycles(), 32);
  EXPECT_EQ(column(1025).lines, 32);
  EXPECT_EQ(column(1025).wavefronts, 1);
  EXPECT_EQ(column(1025).l1_cycles(), 8) << "four lines per cycle";
  // A row that begins within a line costs no more than one that begins with it.
  for (const std::uint64_t first : {0, 1, 31}) {
    EXPECT_EQ(
        cost_of(access(Memory::kGlobal, 4,
                       [first](int lane) { return first + static_cast<std::uint64_t>(lane); }))
            .l1_cycles(),
        1);
  }
  const Cost wide = cost_of(
      access(Memory::kGlobal, 16, [](int lane) { return 4 * static_cast<std::uint64_t>(lane); }));
  EXPECT_EQ(wide.l1_cycles(), 4) << "512 bytes";
}

TEST(PublishedBanks, a_broadcast_is_free) {
  const Cost cost = cost_of(access(Memory::kShared, 4, [](int) { return std::uint64_t{9}; }));
  EXPECT_EQ(cost.wavefronts, 1);
  EXPECT_EQ(cost.degree, 1);
}

TEST(PublishedBanks, n_way_conflicts_serialise) {
  for (const int n : {2, 4, 8, 16, 32}) {
    const Cost cost = cost_of(access(Memory::kShared, 4, [n](int lane) {
      return static_cast<std::uint64_t>(lane) * static_cast<std::uint64_t>(n);
    }));
    EXPECT_EQ(cost.degree, n);
    EXPECT_EQ(cost.wavefronts, n);
  }
}

TEST(PublishedBanks, padding_128_to_132_removes_a_column_conflict) {
  const auto column = [](std::uint64_t row_length) {
    return cost_of(access(
        Memory::kShared, 4,
        [row_length](int lane) { return static_cast<std::uint64_t>(lane) * row_length; }, true));
  };
  EXPECT_EQ(column(128).degree, 32);
  EXPECT_EQ(column(132).degree, 4);  // 132 mod 32 = 4: eight banks instead of one
  const Cost quads = cost_of(
      access(Memory::kShared, 16, [](int lane) { return static_cast<std::uint64_t>(lane) * 132; }));
  EXPECT_EQ(quads.degree, 1);  // 16-byte elements of a column of rows of 132: none
}

TEST(Cost, lanes_that_are_off_cost_nothing) {
  Access none =
      access(Memory::kGlobal, 4, [](int lane) { return static_cast<std::uint64_t>(lane); });
  none.mask = 0;
  EXPECT_EQ(cost_of(none).sectors, 0);
  none.mask = 0xff;
  EXPECT_EQ(cost_of(none).sectors, 1);
  EXPECT_EQ(cost_of(none).lanes, 8);
}

TEST(Draw, lines_and_sectors_show_their_lanes) {
  const auto text =
      draw(access(Memory::kGlobal, 4, [](int lane) { return static_cast<std::uint64_t>(lane); }));
  ASSERT_EQ(text.size(), 1U);
  EXPECT_NE(text[0].find("0-7"), std::string::npos);
  EXPECT_NE(text[0].find("24-31"), std::string::npos);
  const auto scattered = draw(
      access(Memory::kGlobal, 4, [](int lane) { return static_cast<std::uint64_t>(lane) * kN; }),
      3);
  ASSERT_EQ(scattered.size(), 4U);
  EXPECT_NE(scattered[3].find("29 more"), std::string::npos);
}

TEST(Draw, banks_show_how_many_words_each_serves) {
  const auto text = draw(
      access(Memory::kShared, 4, [](int lane) { return static_cast<std::uint64_t>(lane) * 2; }));
  ASSERT_EQ(text.size(), 1U);
  EXPECT_NE(text[0].find("2.2.2.2."), std::string::npos);
  EXPECT_EQ(draw(access(Memory::kShared, 16,
                        [](int lane) { return static_cast<std::uint64_t>(lane) * 4; }))
                .size(),
            4U);
}

TEST(Draw, lanes_text_names_runs) {
  EXPECT_EQ(lanes_text(0xffffffff), "0-31");
  EXPECT_EQ(lanes_text(0x800000f1), "0,4-7,31");
  EXPECT_EQ(lanes_text(0), "");
}

}  // namespace
}  // namespace ladder::analyse
