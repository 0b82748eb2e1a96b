// SPDX-License-Identifier: Apache-2.0
// Diagrams of accesses and tiles: the drawn sectors and wavefronts equal the counted ones.
#include "page/diagrams.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace ladder::page {
namespace {

using analyse::Access;
using analyse::Memory;

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

Access access_of(Memory memory, int bytes, const std::function<std::uint64_t(int)>& address) {
  Access access;
  access.memory = memory;
  access.bytes = bytes;
  access.mask = 0xffffffffU;
  for (int lane = 0; lane < 32; ++lane)
    access.addresses[static_cast<std::size_t>(lane)] = address(lane);
  return access;
}

TEST(WarpPicture, CoalescedFillsOneLine) {
  const auto svg =
      warp_picture(access_of(Memory::kGlobal, 4, [](int lane) { return 0x1000 + 4ULL * lane; }));
  EXPECT_EQ(occurrences(svg, "class=\"word\""), 32U);
  EXPECT_EQ(occurrences(svg, "class=\"sector\""), 4U);
  EXPECT_EQ(occurrences(svg, "class=\"waste\""), 0U);
  EXPECT_NE(svg.find("4 sectors in 1 line, 100% of their bytes used"), std::string::npos);
}

TEST(WarpPicture, AStrideWastesSevenWordsASector) {
  const auto svg =
      warp_picture(access_of(Memory::kGlobal, 4, [](int lane) { return 0x1000 + 4096ULL * lane; }));
  EXPECT_EQ(occurrences(svg, "class=\"word\""), 6U);  // six lines are drawn
  EXPECT_EQ(occurrences(svg, "class=\"waste\""), 6U * 7U);
  EXPECT_EQ(occurrences(svg, "class=\"sector none\""), 6U * 3U);
  EXPECT_NE(svg.find("26 more lines"), std::string::npos);
}

TEST(WarpPicture, ABroadcastIsOneWordOfAllLanes) {
  const auto svg = warp_picture(access_of(Memory::kGlobal, 4, [](int) { return 0x1000ULL; }));
  EXPECT_EQ(occurrences(svg, "class=\"word\""), 1U);
  EXPECT_NE(svg.find(">x32<"), std::string::npos);
}

TEST(WarpPicture, NoLanesNoPicture) { EXPECT_EQ(warp_picture(Access{}), ""); }

TEST(BankPicture, WordsOfOneBankStandAboveOneAnother) {
  const auto free =
      bank_picture(access_of(Memory::kShared, 4, [](int lane) { return 4ULL * lane; }));
  EXPECT_EQ(occurrences(free, "class=\"word\""), 32U);
  EXPECT_EQ(occurrences(free, "word conflict\""), 0U);
  const auto four =
      bank_picture(access_of(Memory::kShared, 4, [](int lane) { return 16ULL * lane; }));
  EXPECT_EQ(occurrences(four, "class=\"word\""), 8U);
  EXPECT_EQ(occurrences(four, "class=\"word conflict\""), 24U);
  EXPECT_NE(four.find("4-way bank conflict"), std::string::npos);
  const auto all =
      bank_picture(access_of(Memory::kShared, 4, [](int lane) { return 128ULL * lane; }));
  EXPECT_NE(all.find(">+25<"), std::string::npos);  // seven are drawn
}

TEST(BankPicture, WideLanesAreServedInGroups) {
  const auto svg =
      bank_picture(access_of(Memory::kShared, 16, [](int lane) { return 16ULL * lane; }));
  EXPECT_EQ(occurrences(svg, "lanes 0-7<"), 1U);
  EXPECT_EQ(occurrences(svg, "lanes 24-31<"), 1U);
  EXPECT_EQ(occurrences(svg, "word conflict\""), 0U);
}

TEST(TilePicture, HasABoxAWarpAndNamesEverySize) {
  analyse::TileShape tile;
  tile.bm = 128;
  tile.bn = 64;
  tile.bk = 8;
  tile.wm = 64;
  tile.wn = 32;
  tile.tm = tile.tn = 8;
  const auto svg = tile_picture(tile);
  EXPECT_EQ(occurrences(svg, "class=\"warp\""), 4U);
  for (const char* text : {"A 128x8", "B 8x64", "C 128x64", "a warp 64x32", "per thread 8x8"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace ladder::page
