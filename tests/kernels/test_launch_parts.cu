// SPDX-License-Identifier: Apache-2.0
// A launch must cover C exactly once in m and n and the depth exactly once in k, at any size.
#include "device/launch.cuh"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace ladder {
namespace {

struct Part {
  std::int64_t row, col, k;  // first row, column or step of the part
  Problem problem;
  dim3 grid;
};

// Records the parts of a launch. Operands are addresses that are not dereferenced; a part's
// position is computed from them.
std::vector<Part> parts_of(const Problem& p, int block_rows, int block_cols) {
  constexpr std::uintptr_t kBase = std::uintptr_t{1}
                                   << 60;  // space for the offsets of any valid problem
  const auto* a = reinterpret_cast<const float*>(kBase);
  const auto* b = reinterpret_cast<const float*>(kBase);
  auto* c = reinterpret_cast<float*>(kBase);
  std::vector<Part> parts;
  const Status status =
      launch_parts(p, {a, b, c}, block_rows, block_cols,
                   [&](const Problem& part, const Operands& at, dim3 grid) {
                     const std::int64_t in_c = at.c - c, in_a = at.a - a;
                     parts.push_back({in_c / p.ldc, in_c % p.ldc, in_a % p.lda, part, grid});
                     EXPECT_EQ(at.b - b, parts.back().k * p.ldb + parts.back().col);
                   });
  EXPECT_TRUE(status) << status.message();
  return parts;
}

void expect_covers(const Problem& p, int block_rows, int block_cols) {
  std::int64_t row = 0, col = 0, k = 0;  // parts come in the order rows, columns, depth
  const std::int64_t depth = reads_ab(p) ? p.k : 0;
  for (const Part& part : parts_of(p, block_rows, block_cols)) {
    EXPECT_EQ(part.row, row);
    EXPECT_EQ(part.col, col);
    EXPECT_EQ(part.k, k);
    EXPECT_LE(part.grid.y, 65'535U);
    EXPECT_LE(part.grid.z, 65'535U);
    const std::int64_t tiles_n = std::int64_t{part.grid.x} * part.grid.z;
    EXPECT_GE(tiles_n * block_cols, part.problem.n);
    EXPECT_LT((tiles_n - part.grid.z) * block_cols, part.problem.n)
        << "a whole group of blocks has nothing to do";
    EXPECT_EQ(part.grid.y, (part.problem.m + block_rows - 1) / block_rows);
    EXPECT_LE(tiles_n * block_cols, std::int64_t{1} << 31) << "a column must fit in an int";
    EXPECT_EQ(part.problem.beta, k == 0 ? p.beta : 1.0F);
    EXPECT_EQ(part.problem.alpha, depth == 0 ? 0.0F : p.alpha);
    k += part.problem.k;
    if (k == depth) k = 0, col += part.problem.n;
    if (col == p.n) col = 0, row += part.problem.m;
  }
  EXPECT_EQ(row, p.m == 0 || p.n == 0 ? 0 : p.m);
}

TEST(LaunchParts, CoverSmallAndRaggedProblemsInOneLaunch) {
  for (const auto [m, n, k] : {std::array<std::int64_t, 3>{256, 256, 256},
                               {250, 251, 253},
                               {1, 1, 1},
                               {1, 1025, 3},
                               {33, 1056, 1},
                               {4096, 4096, 4096}}) {
    EXPECT_EQ(parts_of(make_problem(m, n, k), 32, 32).size(), 1U);
    expect_covers(make_problem(m, n, k), 32, 32);
  }
}

TEST(LaunchParts, CoverMoreTilesThanAGridHas) {
  expect_covers(make_problem(65'535LL * 32 + 1, 3, 2), 32, 32);
  expect_covers(make_problem(3, 65'535LL * 32 * 32 + 7, 2), 32, 32);
  expect_covers(make_problem(5'000'000'000LL, 1, 1), 32, 4);
  expect_covers(make_problem(1, 5'000'000'000LL, 1), 32, 4);
}

TEST(LaunchParts, AccumulateADepthBeyondAnInt) {
  const Problem p = make_problem(2, 3, (std::int64_t{1} << 31) + 5, 2.0F, 0.5F);
  EXPECT_EQ(parts_of(p, 16, 16).size(), 3U);
  expect_covers(p, 16, 16);
}

TEST(LaunchParts, ReadNeitherOperandWhereAlphaOrDepthIsZero) {
  for (const Problem& p : {make_problem(5, 7, 0, 2.0F, 3.0F), make_problem(5, 7, 9, 0.0F, 3.0F)}) {
    const auto parts = parts_of(p, 16, 16);
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].problem.k, 0);
    EXPECT_EQ(parts[0].problem.alpha, 0.0F);
    EXPECT_EQ(parts[0].problem.beta, 3.0F);
  }
}

TEST(LaunchParts, LaunchNothingForAnEmptyC) {
  EXPECT_TRUE(parts_of(make_problem(0, 5, 7), 16, 16).empty());
  EXPECT_TRUE(parts_of(make_problem(5, 0, 7), 16, 16).empty());
}

}  // namespace
}  // namespace ladder
