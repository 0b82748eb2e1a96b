// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "host/blocking.hpp"
#include "host/tuned.hpp"

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
    for (const Shape& tile :
         {Shape{14, 32}, Shape{9, 48}, Shape{6, 16}, Shape{6, 8}, Shape{4, 12}}) {
      const Blocks blocks = blocks_for(caches, tile);
      EXPECT_EQ(blocks.rows % tile.rows, 0);
      EXPECT_EQ(blocks.cols % tile.cols, 0);
      EXPECT_GE(blocks.depth, 64);
      EXPECT_LE(blocks.depth * tile.rows * 4, caches.l1 * 3 / 5);
      EXPECT_LE(blocks.depth * blocks.cols * 4, caches.l2);
      EXPECT_LE(blocks.depth * blocks.rows * 4, caches.l3);
    }
  }
}

TEST(Blocking, TheWayFitsTheProblem) {
  const MicroKernel& kernel = micro_kernel();
  const auto way = [&](std::int64_t m, std::int64_t n, std::int64_t k, Op op_a = Op::kNone,
                       Op op_b = Op::kNone) {
    return way_for(make_problem(m, n, k, 1.0F, 0.0F, op_a, op_b), kernel);
  };
  // Cubes as small as a tile are packed only if they cannot be read in place.
  EXPECT_FALSE(way(16, 16, 16).pack_a);
  EXPECT_FALSE(way(16, 16, 16).pack_b);
  EXPECT_TRUE(way(16, 16, 16, Op::kNone, Op::kTranspose).pack_b);
  EXPECT_TRUE(way(4096, 4096, 4096).pack_b);
  EXPECT_TRUE(way(4096, 4096, 4096, Op::kTranspose).pack_a);
  // A tile of three vectors is chosen where two would leave a third of the last one empty.
  EXPECT_EQ(way(64, kernel.shape(3).cols, 64).tile.cols, kernel.shape(3).cols);
  EXPECT_EQ(way(64, kernel.shape(2).cols * 2, 64).tile.cols, kernel.shape(2).cols);
  // Shallow products that do not fit in the caches use non-temporal stores.
  const CacheSizes sizes = cache_sizes();
  const std::int64_t beyond = std::max(2 * sizes.l2, sizes.l3 / 2) / (4096 * 4) + 1;  // rows
  EXPECT_TRUE(way(beyond, 4096, 16).streams);
  EXPECT_FALSE(way(64, 64, 16).streams);
  EXPECT_FALSE(way(4096, 4096, 4096).streams);
  EXPECT_FALSE(way_for(make_problem(4096, 4096, 16, 1.0F, 1.0F), kernel).streams);
  // Packed blocks of rows are nearly as tall as requested; rows in place are one block.
  const Blocks most = blocks(kernel.shape(2));
  const Way packed = way(3 * most.rows + 1, 1 << 14, 4096),
            in_rows = way(3 * most.rows + 1, 1024, 4096);
  EXPECT_TRUE(packed.pack_a);
  EXPECT_LE(packed.blocks.rows, most.rows * 3 / 2 + packed.tile.rows);
  EXPECT_EQ(packed.blocks.depth, most.depth);
  EXPECT_FALSE(in_rows.pack_a);
  EXPECT_GE(in_rows.blocks.rows, 3 * most.rows + 1);
  // The form says how the operands are stored.
  for (const Op op_a : {Op::kNone, Op::kTranspose}) {
    for (const std::int64_t size : {16, 4096}) {
      const Way one = way(size, size, size, op_a);
      const bool rows = op_a == Op::kNone && !one.pack_a;
      EXPECT_EQ(one.form == Form::kInRows, rows);
      EXPECT_EQ(one.form == Form::kPacked, one.pack_a && one.pack_b);
    }
  }
}

TEST(TunedBlocks, AreNoneForAProcessorThatNobodyTunedOn) {
  EXPECT_FALSE(tuned_blocks("none such", {}, {14, 32}).has_value());
  EXPECT_FALSE(cpu_name().empty());
}

TEST(TunedBlocks, AreTriedAndGivenBack) {
  const Shape tile = micro_kernel().shape(2), other = micro_kernel().shape(3);
  const Blocks before = blocks(tile), other_before = blocks(other);
  const Blocks tried{tile.rows * 2, tile.cols * 3, 128};
  try_blocks(tried, tile);
  EXPECT_EQ(blocks(tile), tried);
  EXPECT_EQ(blocks(other), other_before);
  try_blocks(std::nullopt, tile);
  EXPECT_EQ(blocks(tile), before);
}

TEST(TunedBlocks, CandidatesAreWholeTilesInCache) {
  const CacheSizes caches{48 << 10, 2 << 20, 32 << 20};
  const std::vector<Blocks> candidates = block_candidates(caches, {14, 32});
  EXPECT_GT(candidates.size(), 20U);
  for (const Blocks& one : candidates) {
    EXPECT_EQ(one.rows % 14, 0);
    EXPECT_EQ(one.cols % 32, 0);
    EXPECT_GT(one.rows, 0);
    EXPECT_LE(one.cols * one.depth * 4, caches.l2);
  }
}

// A machine with known times: the fastest is chosen, the first is the reference, and the budget is
// respected.
TEST(TunedBlocks, TheSearchFindsTheFastest) {
  const auto at = [](std::int64_t depth) { return Blocks{14, 32, depth}; };
  std::vector<Blocks> others;
  for (std::int64_t depth = 100; depth < 120; ++depth) others.push_back(at(depth));
  double spent = 0;
  int calls = 0;
  const auto seconds = [&](const Blocks& blocks) {
    const double off = static_cast<double>(std::abs(blocks.depth - 113));
    const double noise = ++calls % 5 == 0 ? 3.0 : 1.0;  // occasionally another program runs
    const double now = (1e-3 + 1e-4 * off) * noise;
    spent += now;
    return now;
  };
  const auto trials = search_blocks(at(100), others, seconds, 1.0);
  ASSERT_EQ(trials.size(), 3U);
  EXPECT_EQ(trials.front().blocks.depth, 113);
  EXPECT_EQ(trials.back().blocks.depth, 100);
  EXPECT_GT(trials.front().rounds, trials.size());
  EXPECT_LT(spent, 1.5);
  EXPECT_EQ(search_blocks(at(113), others, seconds, 0.5).front().blocks.depth, 113);
}

TEST(Blocking, CacheSizesGrowWithTheirLevel) {
  const CacheSizes caches = cache_sizes();
  EXPECT_GT(caches.l1, 0);
  EXPECT_GT(caches.l2, caches.l1);
  EXPECT_GE(caches.l3, caches.l2);
}

}  // namespace
}  // namespace ladder::host
