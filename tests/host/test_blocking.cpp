// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "host/blocking.hpp"

namespace ladder::host {
namespace {

TEST(Blocking, PiecesCoverEverythingOnceInOrder) {
  for (std::int64_t size : {1, 2, 13, 14, 15, 64, 1000}) {
    for (std::int64_t count : {1, 2, 3, 7, 64}) {
      for (std::int64_t unit : {1, 4, 14}) {
        std::int64_t next = 0, least = size, most = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          const Piece part = piece(size, count, i, unit);
          EXPECT_EQ(part.begin % unit, 0);
          if (part.size > 0) {
            EXPECT_EQ(part.begin, next);
            next = part.begin + part.size;
          }
          EXPECT_GE(part.size, 0) << size << " in " << count << " by " << unit << ", " << i;
          least = std::min(least, part.size);
          most = std::max(most, part.size);
        }
        EXPECT_EQ(next, size);
        EXPECT_LE(most - least, unit == 1 ? 1 : 2 * unit - 1);
      }
    }
  }
}

TEST(Blocking, BlocksFitTheCachesTheyAreMeantFor) {
  for (const CacheSizes& caches :
       {CacheSizes{32 << 10, 256 << 10, 2 << 20}, CacheSizes{48 << 10, 2 << 20, 32 << 20},
        CacheSizes{64 << 10, 512 << 10, 1 << 30}}) {
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{14, 32}, {6, 16}, {6, 8}}) {
      const Blocks blocks = blocks_for(caches, rows, cols);
      EXPECT_EQ(blocks.rows % rows, 0);
      EXPECT_EQ(blocks.cols % cols, 0);
      EXPECT_LE(blocks.depth * rows * 4, caches.l1 * 3 / 5);
      EXPECT_LE(blocks.depth * blocks.cols * 4, caches.l2);
      EXPECT_LE(blocks.depth * blocks.rows * 4, caches.l3);
    }
  }
}

TEST(Blocking, CacheSizesGrowWithTheirLevel) {
  const CacheSizes caches = cache_sizes();
  EXPECT_GT(caches.l1, 0);
  EXPECT_GT(caches.l2, caches.l1);
  EXPECT_GE(caches.l3, caches.l2);
}

}  // namespace
}  // namespace ladder::host
