// SPDX-License-Identifier: Apache-2.0
// Every tile that parts of k are planned with, in every kind of split, whether or not a plan takes
// it for a small problem: sums of integers, which are exact, with ragged edges, wide leading
// dimensions, both ways an operand may lie. And what the plan promises.
#include <gtest/gtest.h>

#include <string>

#include "device/launch_dependent.cuh"
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/part_tile.cuh"
#include "part_job.cuh"

namespace ladder {
namespace {

struct Shape {
  int m, n, k, more;  // more: of the leading dimensions
  bool a_along, b_along, c_rows;
  int cluster, parts;
};

template <class T>
void expect_product(const Shape& s) {
  SCOPED_TRACE("tile " + std::to_string(T::BM) + " x " + std::to_string(T::BN) + ", " +
               std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               ", cluster " + std::to_string(s.cluster) + ", parts " + std::to_string(s.parts));
  const int tiles_m = (s.m + T::BM - 1) / T::BM, tiles = tiles_m * ((s.n + T::BN - 1) / T::BN);
  PartJob job{};
  job.tiles_m = tiles_m;
  job.cluster = s.cluster;
  job.parts = s.parts;
  job.early = s.k % 2 == 0;
  expect_launched({s.m, s.n, s.k, s.a_along, s.b_along, s.c_rows, 2.0F, -1.0F}, s.more, 0, job,
                  std::int64_t{tiles} * (s.parts - 1) * T::BM * T::BN, [&](const PartJob& x) {
                    return with_copies<T>(x, [&]<Copies kA, Copies kB>() {
                      return launch_dependent("tile", part_tile<T, kA, kB>,
                                              std::int64_t{tiles} * s.parts * s.cluster, s.cluster,
                                              T::kThreads, T::bytes(s.cluster), nullptr, x);
                    });
                  });
}

TEST(PartTiles, AddEveryPartOfKOnce) {
  part_tiles([]<class T>(std::type_identity<T>, auto) {
    for (const bool b_along : {false, true}) {
      for (const bool a_along : {false, true}) {
        if (T::kAlongK && !a_along) continue;
        expect_product<T>({T::BM, T::BN, 4 * T::BK, 0, a_along, b_along, true, 1, 1});
        expect_product<T>({T::BM + 3, T::BN + 5, 2 * T::BK + 1, 1, a_along, b_along, true, 1, 1});
        expect_product<T>({T::BM + 3, T::BN + 5, 2 * T::BK - 1, 0, a_along, b_along, false, 1, 1});
        expect_product<T>({T::BM + 3, T::BN + 5, 5 * T::BK + 7, 1, a_along, b_along, false, 2, 1});
        expect_product<T>(
            {T::BM - 1, T::BN - 4, 6 * T::BK - 1, 4, a_along, b_along, b_along, 1, 3});
      }
      expect_product<T>({T::BM + 1, 7, 9 * T::BK, 4, true, b_along, true, 4, 2});
      expect_product<T>({5, T::BN + 1, 8 * T::BK + 1, 3, true, b_along, false, 4, 1});
      expect_product<T>({T::BM, T::BN + 1, 16 * T::BK, 3, true, b_along, true, 8, 1});
      expect_product<T>({3, T::BN + 9, 16 * T::BK + 1, 1, true, b_along, true, 8, 2});
    }
    return 0;
  });
}

TEST(PartTiles, LeaveRoomForTheBlocksThatThePlanCounts) {
  constexpr int kOfSm = 228 << 10, kOfSystem = 1 << 10, kStatic = 128;  // bytes of shared memory
  std::size_t i = 0;
  part_tiles([&]<class T>(std::type_identity<T>, auto) {
    const PartTileCost& tile = kPartTiles.at(i++);
    EXPECT_LE(tile.of_sm(1) * (T::bytes(1) + kOfSystem + kStatic), kOfSm) << T::BM << 'x' << T::BN;
    EXPECT_LE(tile.of_sm(2) * (T::bytes(2) + kOfSystem + kStatic), kOfSm) << T::BM << 'x' << T::BN;
    return 0;
  });
  EXPECT_EQ(i, kPartTiles.size());
}

TEST(PartPlan, LeavesNoPartWithoutAStepAndNoTileForOtherOperands) {
  for (const int sms : {1, 2, 78, 114, 132}) {
    for (const std::int64_t m : {5, 64, 300, 4096}) {
      for (const std::int64_t k : {0, 1, 16, 33, 5000}) {
        for (const bool along : {false, true}) {
          const PartPlan plan = plan_parts({m, 3 * m, k, along, false, true, false}, sms);
          const PartTileCost& tile = kPartTiles.at(static_cast<std::size_t>(plan.tile));
          EXPECT_TRUE(along || !tile.k_major);
          EXPECT_GE(plan.parts, 1);
          EXPECT_LE(plan.cluster * plan.parts,
                    std::max<std::int64_t>(1, (k + tile.bk - 1) / tile.bk))
              << m << " " << k;
        }
      }
    }
  }
}

TEST(PartPlan, CutsKWhereTilesAreFewAndNotWhereTheyFillTheDevice) {
  constexpr int kSms = 132;
  const PartPlan deep = plan_parts({128, 128, 8192, true, false, true, true}, kSms);
  EXPECT_GE(deep.cluster * deep.parts, 8);
  const PartPlan tall = plan_parts({65536, 128, 128, true, false, true, true}, kSms);
  EXPECT_EQ(tall.cluster * tall.parts, 1);
}

TEST(PartPlan, CountsClustersThatFitAProcessingCluster) {
  EXPECT_EQ(part_capacity(132, 1, 1), 132);
  EXPECT_EQ(part_capacity(132, 1, 2), 132);
  EXPECT_EQ(part_capacity(132, 1, 4), 120);
  EXPECT_EQ(part_capacity(132, 1, 8), 120);
  EXPECT_EQ(part_capacity(132, 3, 8) % 8, 0);
}

}  // namespace
}  // namespace ladder
