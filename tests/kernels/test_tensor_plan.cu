// SPDX-License-Identifier: Apache-2.0
// How tensor-core rungs share tiles out: every step of k of every tile belongs to exactly one
// block, on any GPU.
#include "gemm/tensor/tile_order.cuh"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "gemm/plan/menus.hpp"
#include "support/device_memory.hpp"

namespace ladder {
namespace {

using namespace test;

constexpr const auto& kShapes = k16BitTiles;

constexpr std::size_t kPair = 4;

// Marks the steps that each block does: one thread a block.
template <class Order>
__device__ void mark_steps(Order order, int steps, int* done) {
  for (Work work; order.next(work);) {
    for (int step = work.begin; step < work.end; ++step)
      atomicAdd(done + work.tile * steps + step, 1);
  }
}
template <class Order>
__global__ void mark(const __grid_constant__ Tiling plan, int* done) {
  mark_steps(Order(plan, static_cast<int>(blockIdx.x)), plan.steps, done);
}
// Clusters of `parts` blocks, each with one tile.
__global__ void mark_in_clusters(const __grid_constant__ Tiling plan, int parts, int* done) {
  const int block = static_cast<int>(blockIdx.x);
  mark_steps(PartSchedule(plan, parts, block % parts, block / parts), plan.steps, done);
}

void expect_complete(const TensorPlan& chosen) {
  const Tiling& plan = chosen.plan;
  const int tiles = plan.whole_tiles + plan.split_tiles;
  if (chosen.plan.narrow.width == 0) ASSERT_EQ(tiles, plan.tiles_m * plan.tiles_n);
  const std::size_t all = static_cast<std::size_t>(tiles) * plan.steps;
  const auto done = filled_array<int>(all, 0);
  const auto run = chosen.parts > 1       ? mark<PartSchedule>
                   : plan.split_tiles > 0 ? mark<Schedule>
                                          : mark<WholeSchedule>;
  if (const int parts = kShapes[chosen.tile].parts; parts > 1) {
    mark_in_clusters<<<plan.blocks * parts, 1>>>(plan, parts, done.get());
  } else {
    run<<<plan.blocks, 1>>>(plan, done.get());
  }
  for (const int times : download(done, all)) ASSERT_EQ(times, 1);
}

TEST(TensorPlan, CoversEveryStepOnce) {
  for (const int sms : {1, 7, 78, 132}) {
    for (const auto& [m, n, k] :
         {std::array{1, 1, 1}, std::array{1000, 1001, 999}, std::array{3072, 1500, 300},
          std::array{64, 64, 20000}, std::array{4096, 64, 4096}, std::array{300, 500, 5000}}) {
      for (const bool on_lines : {true, false}) {
        const TensorPlan chosen =
            plan_tensor_tiles(make_problem(m, n, k), on_lines, kShapes, DeviceFacts{sms});
        EXPECT_LE(chosen.plan.blocks * kShapes[chosen.tile].blocks,
                  std::max(sms, kShapes[chosen.tile].blocks));
        expect_complete(chosen);
      }
    }
  }
}

TEST(TensorPlan, CutsWhereThatEndsSooner) {
  constexpr int kSms = 132;
  const auto plan = [&](int m, int n, int k) {
    return plan_tensor_tiles(make_problem(m, n, k), true, kShapes, DeviceFacts{kSms});
  };
  EXPECT_GT(plan(8, 8512, 2560).plan.split_tiles, 0);  // a tile more than a wave
  EXPECT_EQ(plan(4096, 4096, 4096).plan.split_tiles,
            0);  // 3.88 waves: narrower tiles fill the last one
  EXPECT_EQ(plan(1536, 2816, 4096).plan.split_tiles, 0);  // one wave
  EXPECT_GT(plan(64, 64, 65536).parts, 32);
  EXPECT_EQ(plan(64, 64, 64).parts, 1);
}

// Where a few tiles have a deep k, two blocks have half of it each and add what they have through
// distributed shared memory: no second kernel. One wave only.
TEST(TensorPlan, PartsInAClusterWhereTilesAreFew) {
  const auto shape = [](int m, int n, int k) {
    return kShapes[plan_tensor_tiles(make_problem(m, n, k), true, kShapes, {}).tile];
  };
  EXPECT_EQ(shape(4096, 64, 4096).parts, 2);
  EXPECT_EQ(shape(512, 512, 4096).parts, 2);
  EXPECT_EQ(shape(64, 64, 65536).parts, 1);   // more parts than a cluster has blocks
  EXPECT_EQ(shape(4352, 64, 4096).parts, 1);  // 68 pairs, of which 66 run at once
  EXPECT_EQ(shape(1024, 1024, 1024).parts, 1);
}

TEST(TensorPlan, PairsWhereLinesCrossThoseOfL2) {
  const auto blocks = [](bool on_lines) {
    return kShapes[plan_tensor_tiles(make_problem(2040, 2040, 4096), on_lines, kShapes, {}).tile]
        .blocks;
  };
  EXPECT_EQ(blocks(true), 1);
  EXPECT_EQ(blocks(false), 2);
}

// GPCs bring so much from memory each: clusters of four leave none of them more blocks than the
// others, where only one wave runs. Of 33 fours 30 run at once.
TEST(TensorPlan, FoursInOneWaveFromMemory) {
  const auto plan = [](int m, int n, int k) {
    return plan_tensor_tiles(make_problem(m, n, k), true, kShapes, {});
  };
  const TensorPlan chosen = plan(128, 14336, 4096);
  EXPECT_EQ(kShapes[chosen.tile].blocks, 4);
  EXPECT_EQ(chosen.plan.blocks, 28);
  expect_complete(chosen);
  EXPECT_LT(kShapes[plan(128, 8192, 2048).tile].blocks, 4);   // L2 holds A and B
  EXPECT_LT(kShapes[plan(128, 16384, 4096).tile].blocks, 4);  // 32 fours: two waves
}

// Marks what each block of a pair stores, by 128 rows and 8 columns; counts whole boxes of B that
// begin on no line of L2.
struct Pair {
  static constexpr int kCluster = 2, kSharing = 2, BM = 128, BN = 256, kBoxCols = 64, kNarrow = 232;
  static constexpr int kPairM = 256, kPairN = 256, kBand = 8;
  static constexpr bool kSharesB = true;
};
__global__ void mark_places(const __grid_constant__ TilePlan plan, int n, int* done,
                            int* off_lines) {
  const int rank = static_cast<int>(blockIdx.x) % Pair::kCluster, eights = (n + 7) / 8;
  WholeSchedule order(plan, static_cast<int>(blockIdx.x) / Pair::kCluster);
  for (Work work; order.next(work);) {
    const TileOrigin at = origin_of<Pair>(plan, work.tile, rank);
    for (int i = 0; i < at.width; i += 8) {
      const int col = at.col_of_box<Pair>(i / Pair::kBoxCols) + i % Pair::kBoxCols;
      if (col < n) atomicAdd(done + at.row / Pair::BM * eights + col / 8, 1);
    }
    for (int box = 0; box < at.width / Pair::kBoxCols; ++box) {
      if (at.col_of_box<Pair>(box) % Pair::kBoxCols != 0) atomicAdd(off_lines, 1);
    }
  }
}

TEST(TensorPlan, NarrowTilesCoverCOnceInFewerWaves) {
  constexpr int kSms = 132;
  int narrower = 0;
  for (const auto& [m, n] : {std::array{3072, 3072}, std::array{4096, 4096}, std::array{8192, 8192},
                             std::array{5000, 4104}, std::array{2056, 14344},
                             std::array{300, 40000}, std::array{1536, 1536}}) {
    const Problem p = make_problem(m, n, 4096);
    const TileShape& shape = kShapes[kPair];
    const TilePlan plan = plan_tensor_tiles(p, true, std::span(&shape, 1), {}).plan;
    const int eights = (n + 7) / 8,
              waves = static_cast<int>(ceil_div(plan.tiles_m * plan.tiles_n, kSms / 2));
    if (plan.narrow.width != 0) {
      ++narrower;
      EXPECT_LT(plan.narrow.width, shape.n);
      EXPECT_EQ(plan.narrow.col % shape.n, 0);
      EXPECT_EQ(ceil_div(plan.whole_tiles, plan.blocks), waves)
          << "as many waves, the last ones shorter";
    }
    const std::size_t places = static_cast<std::size_t>(plan.tiles_m) * 2 * eights;
    const auto gDone = filled_array<int>(places + 1, 0);
    mark_places<<<plan.blocks * Pair::kCluster, 1>>>(plan, n, gDone.get(), gDone.get() + places);
    std::vector<int> done = download(gDone, places + 1);
    EXPECT_EQ(done.back(), 0) << m << " x " << n;
    done.pop_back();
    for (const int times : done) ASSERT_EQ(times, 1) << m << " x " << n;
  }
  EXPECT_GE(narrower, 4);
}

// Counts the units whose first tile is elsewhere than the schedule says.
__global__ void compare_first(const __grid_constant__ TilePlan plan,
                              const __grid_constant__ FirstTiles first, int* wrong) {
  const int unit = static_cast<int>(blockIdx.x) / Pair::kCluster,
            rank = static_cast<int>(blockIdx.x) % Pair::kCluster;
  Schedule order(plan, unit);
  Work work;
  order.next(work);
  const TileOrigin at = origin_of<Pair>(plan, work.tile, rank),
                   known = first_origin<Pair>(first, unit, rank);
  if (work.begin != 0 || work.end != plan.steps || known.row != at.row || known.col != at.col ||
      known.width != at.width || known.rest != at.rest)
    atomicAdd(wrong, 1);
}

TEST(TensorPlan, FirstTilesAreThoseOfTheSchedule) {
  int known = 0, unknown = 0;
  for (const int narrow : {0, 232}) {
    for (const int sms : {2, 14, 132, 160}) {
      for (const auto& [m, n] : {std::array{8, 520}, std::array{300, 40000}, std::array{1536, 1536},
                                 std::array{4096, 4096}, std::array{4352, 8192},
                                 std::array{3000, 300}, std::array{8192, 8192}}) {
        const TileShape shape{256, 256, 64, 2, narrow};
        const TilePlan plan = plan_tensor_tiles(make_problem(m, n, 4096), true,
                                                std::span(&shape, 1), DeviceFacts{sms})
                                  .plan;
        const FirstTiles first = first_tiles(plan, Pair::kBand);
        ++(first.known ? known : unknown);
        if (!first.known) continue;
        const auto wrong = filled_array<int>(1, 0);
        compare_first<<<plan.blocks * Pair::kCluster, 1>>>(plan, first, wrong.get());
        EXPECT_EQ(download(wrong, 1).front(), 0) << m << " x " << n << " on " << sms;
      }
    }
  }
  EXPECT_GE(known, 40);
  EXPECT_GE(unknown,
            4);  // some units of 3000 x 300 begin in a second band, of 8 x 520 all in narrow tiles
}

// The battery's problems of the last wave are there because of what is cut.
TEST(TensorPlan, CutsTheBatterysLastWave) {
  constexpr TileShape kTf32[] = {
      {256, 128, 32, 1}, {128, 128, 32, 1}, {128, 64, 32, 1}, {256, 256, 32, 2}, {128, 128, 32, 2}};
  EXPECT_GT(plan_tensor_tiles(make_problem(8, 8512, 2560), true, kShapes, {}).plan.split_tiles, 0);
  EXPECT_GT(plan_tensor_tiles(make_problem(8, 8512, 1536), true, kTf32, {}).plan.split_tiles, 0);
}

}  // namespace
}  // namespace ladder
