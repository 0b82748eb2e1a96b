// SPDX-License-Identifier: Apache-2.0
// Every tile that parts of k are planned with, in every kind of split, whether or not a plan takes
// it for a small problem: sums of integers, which are exact, with ragged edges, wide leading
// dimensions, both ways an operand may lie. And what the plan promises.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "device/launch_dependent.cuh"
#include "device/runtime.cuh"
#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/part_tiles.hpp"
#include "gemm/simt/part_tile.cuh"

namespace ladder {
namespace {

struct Shape {
  int m, n, k, more;  // more: of the leading dimensions
  bool a_along, b_along, c_rows;
  int cluster, parts;
};

class OnDevice {
 public:
  explicit OnDevice(const std::vector<float>& x) : count_(x.size()) {
    if (cudaMalloc(&memory_, bytes()) != cudaSuccess) throw std::bad_alloc();
    if (cudaMemcpy(memory_, x.data(), bytes(), cudaMemcpyHostToDevice) != cudaSuccess)
      throw std::bad_alloc();
  }
  ~OnDevice() { static_cast<void>(cudaFree(memory_)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  [[nodiscard]] float* get() const { return static_cast<float*>(memory_); }
  [[nodiscard]] std::vector<float> read() const {
    std::vector<float> x(count_);
    if (cudaMemcpy(x.data(), memory_, bytes(), cudaMemcpyDeviceToHost) != cudaSuccess) x.clear();
    return x;
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(float); }
  std::size_t count_;
  void* memory_ = nullptr;
};

// A matrix (lines, k) or (m, n) whose fast direction is one or the other; between its rows NaN.
struct Matrix {
  Matrix(int slow, int fast, int more, int seed) : ld(fast + more) {
    x.assign(static_cast<std::size_t>(slow) * ld, std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < slow; ++i) {
      for (int j = 0; j < fast; ++j)
        x[static_cast<std::size_t>(i) * ld + j] =
            static_cast<float>((i * 7 + j * 3 + seed) % 5 - 2);
    }
  }
  int ld;
  std::vector<float> x;
};

template <class T>
void expect_product(const Shape& s) {
  SCOPED_TRACE("tile " + std::to_string(T::BM) + " x " + std::to_string(T::BN) + ", " +
               std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               ", cluster " + std::to_string(s.cluster) + ", parts " + std::to_string(s.parts));
  const Matrix a = s.a_along ? Matrix(s.m, s.k, s.more, 1) : Matrix(s.k, s.m, s.more, 1);
  const Matrix b = s.b_along ? Matrix(s.n, s.k, s.more, 2) : Matrix(s.k, s.n, s.more, 2);
  Matrix c = s.c_rows ? Matrix(s.m, s.n, s.more, 3) : Matrix(s.n, s.m, s.more, 3);
  const OnDevice on_a(a.x), on_b(b.x), on_c(c.x);
  const auto side = [](const OnDevice& x, int ld, int lines, bool along) {
    return PartOperand{x.get(), along ? ld : 1, along ? 1 : ld, lines, ld % 4 == 0};
  };
  const int tiles_m = (s.m + T::BM - 1) / T::BM, tiles = tiles_m * ((s.n + T::BN - 1) / T::BN);
  PartJob x{.a = side(on_a, a.ld, s.m, s.a_along),
            .b = side(on_b, b.ld, s.n, s.b_along),
            .gC = on_c.get(),
            .row_step = s.c_rows ? c.ld : 1,
            .col_step = s.c_rows ? 1 : c.ld,
            .aligned = c.ld % 4 == 0,
            .m = s.m,
            .n = s.n,
            .k = s.k,
            .alpha = 2.0F,
            .beta = -1.0F,
            .tiles_m = tiles_m,
            .cluster = s.cluster,
            .parts = s.parts,
            .gSums = nullptr};
  CallMemory memory;
  const std::int64_t sums = std::int64_t{tiles} * (s.parts - 1) * T::BM * T::BN;
  const Status taken = memory.take(nullptr, 0, sums);
  ASSERT_TRUE(taken) << taken.message();
  x.gSums = memory.flags();
  const std::int64_t blocks = std::int64_t{tiles} * s.parts * s.cluster;
  const Status status =
      launch_dependent("tile", part_tile<T>, blocks, s.cluster, T::kThreads, T::kBytes, nullptr, x);
  ASSERT_TRUE(status) << status.message();
  const auto at = [](const Matrix& x, int line, int k, bool along) {
    return x.x[static_cast<std::size_t>(along ? line : k) * x.ld + (along ? k : line)];
  };
  std::vector<float> expected = c.x;
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      float sum = 0;
      for (int k = 0; k < s.k; ++k) sum += at(a, i, k, s.a_along) * at(b, j, k, s.b_along);
      float& to = expected[static_cast<std::size_t>(s.c_rows ? i : j) * c.ld + (s.c_rows ? j : i)];
      to = 2 * sum - to;
    }
  }
  const std::vector<float> found = on_c.read();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << "between rows, at " << i;
    } else {
      ASSERT_EQ(found[i], expected[i]) << "at " << i;
    }
  }
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
    }
    return 0;
  });
}

TEST(PartPlan, LeavesNoPartWithoutAStepAndNoTileForOtherOperands) {
  const auto& all = kPartTiles;
  for (const int sms : {1, 2, 78, 114, 132}) {
    for (const std::int64_t m : {5, 64, 300, 4096}) {
      for (const std::int64_t k : {0, 1, 16, 33, 5000}) {
        for (const bool along : {false, true}) {
          const PartPlan plan = plan_parts({m, 3 * m, k, along, false, true, false}, all, sms);
          const PartTileCost& tile = all.at(static_cast<std::size_t>(plan.tile));
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
  const auto& all = kPartTiles;
  constexpr int kSms = 132;
  const PartPlan deep = plan_parts({128, 128, 8192, true, false, true, true}, all, kSms);
  EXPECT_GE(deep.cluster * deep.parts, 8);
  const PartPlan tall = plan_parts({65536, 128, 128, true, false, true, true}, all, kSms);
  EXPECT_EQ(tall.cluster * tall.parts, 1);
}

TEST(PartPlan, CountsClustersThatFitAProcessingCluster) {
  EXPECT_EQ(part_capacity(132, 1, 1), 132);
  EXPECT_EQ(part_capacity(132, 1, 2), 132);
  EXPECT_LT(part_capacity(132, 1, 8), 132);
  EXPECT_EQ(part_capacity(132, 3, 8) % 8, 0);
}

}  // namespace
}  // namespace ladder
