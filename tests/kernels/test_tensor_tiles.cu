// SPDX-License-Identifier: Apache-2.0
// Tiles of the kernels on tensor cores, stored by tensor map and from registers: in every 16-bit
// type, last tiles that are narrower than the others and no multiple of a box of B; of 8-bit
// operands, every tile and every way of distributing tiles. The device reports few SMs, so that
// small problems have such tiles.
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include "gemm/plan/menus.hpp"
#include "host/query.hpp"
#include "operands/virtual_gpu.hpp"
#include "support/pretended_device.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

// Verifies the problem by the kernels of the file `rung` for operands of 8 or 16 bits, on a device
// that reports these facts. check(counters) receives what ran.
template <class Check>
void expect_verified(std::string_view rung, const Problem& problem, const DeviceFacts& facts,
                     std::initializer_list<Values> values, Check check) {
  const auto device = query_device(0);
  ASSERT_TRUE(device);
  int done = 0;
  pretended = {facts.sms, facts.l2_bytes};
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.rung != rung || kernel.in == Type::kF32) continue;
    ++done;
    for (const Values of : values) {
      SCOPED_TRACE(kernel.id);
      virtual_gpu::reset_counters();
      const Verdict verdict = verify(kernel, problem, {of, 7}, device.value());
      EXPECT_TRUE(verdict.ok()) << verdict.reason;
      check(virtual_gpu::counters_json());
    }
  }
  pretended = {};
  EXPECT_EQ(done, 4);
}

// Two pairs of blocks, which compute one tile after another. L2 is reported as tiny, so that pairs
// with multicast are chosen.
constexpr DeviceFacts kTwoPairs{4, 1024};

struct Few {
  std::string name;
  Problem problem;
};

Problem on_lines(Problem p) {
  constexpr std::int64_t kLine = 64;  // 16-bit elements in a cache line of L2
  const auto line = [](std::int64_t n) { return ceil_div(n, kLine) * kLine; };
  p.lda = line(p.lda);
  p.ldb = line(p.ldb);
  return p;
}

std::vector<Few> narrow_problems() {
  Problem scaled = make_problem(500, 464, 320, 2.0F, 0.0F);
  scaled.ldc = 472;
  Problem added = make_problem(500, 461, 328, 2.0F, -1.0F);
  added.ldc = 467;
  std::vector<Few> all = {
      {"narrow tiles alone", make_problem(500, 464, 328)},
      {"the last rest cut by C's end", make_problem(500, 456, 328)},
      {"fewer steps than stages", make_problem(500, 464, 130)},
      {"wide ones first", make_problem(200, 968, 328)},
      {"wide ones first, one column of narrow ones", make_problem(500, 488, 328)},
      {"alpha, a wider leading dimension of C", scaled},
      {"from registers", added},
      {"a second band", make_problem(2200, 464, 130)},
  };
  for (Few& few : all) few.problem = on_lines(few.problem);
  return all;
}

class NarrowTiles : public ::testing::TestWithParam<Few> {};

TEST_P(NarrowTiles, AreStoredWhereTheyBelong) {
  const auto& [name, problem] = GetParam();
  const TensorPlan chosen = plan_tensor_tiles(problem, true, k16BitTiles, kTwoPairs);
  ASSERT_EQ(chosen.plan.narrow.width, 232) << name << ": not this problem's tiles";
  expect_verified("tensor_tiles", problem, kTwoPairs, {Values::kIntegers},
                  [](const std::string& counters) {
                    EXPECT_NE(counters.find("(ladder::Blocks)1, 232>"), std::string::npos);
                  });
}

INSTANTIATE_TEST_SUITE_P(StreamK, NarrowTiles, ::testing::ValuesIn(narrow_problems()),
                         [](const auto& which) { return std::to_string(which.index); });

constexpr DeviceFacts kFew{4, 50 << 20};

struct Case {
  std::string name;
  Problem problem;
  std::string tile;  // part of the kernel's name
  bool shared;       // tiles have k-splits
};

constexpr const char *kPairs = "128, 256, 4, (ladder::Blocks)1", *kSquare = "128, 128, 7",
                     *kFlat = "64, 128, 9", *kSmall = "64, 64, 12",
                     *kSmallPair = "64, 64, 10, (ladder::Blocks)4",
                     *kFlatPair = "64, 128, 7, (ladder::Blocks)4";

Problem k_major(std::int64_t m, std::int64_t n, std::int64_t k, float alpha = 1, float beta = 0) {
  return make_problem(m, n, k, alpha, beta, Op::kNone, Op::kTranspose);
}

std::vector<Case> scaled_problems() {
  Problem wide_rows = k_major(500, 504, 1200, 2.0F);
  wide_rows.ldc = 512;
  Problem added = k_major(500, 461, 1230, 2.0F, -1.0F);
  added.lda = 1231, added.ldb = 1233, added.ldc = 467;
  return {{"pairs", k_major(500, 504, 1200), kPairs, false},
          {"pairs, alpha, a wider leading dimension of C", wide_rows, kPairs, false},
          {"pairs, from registers", added, kPairs, false},
          {"square tiles, one step", k_major(300, 520, 5), kSquare, false},
          {"square tiles that blocks share along k", k_major(630, 120, 4000), kSquare, true},
          {"square tiles", k_major(250, 250, 700), kSquare, false},
          {"square tiles, from registers", k_major(250, 251, 700, 3.0F, 1.0F), kSquare, false},
          {"k-splits", k_major(60, 100, 8400), kFlat, true},
          {"k-splits, from registers", k_major(63, 101, 8400, 1.0F, 2.0F), kFlat, true},
          {"flat tiles", k_major(64, 500, 300), kFlat, false},
          {"few columns", k_major(250, 20, 256), kSmall, false},
          {"small tiles, from registers", k_major(40, 251, 200, 1.0F, 2.0F), kSmall, false},
          {"small tiles, k-splits", k_major(50, 60, 8200), kSmall, true},
          {"clusters that split k", k_major(60, 104, 4200), kSmallPair, false},
          {"the same, by element", k_major(63, 101, 4000, 1.0F, 2.0F), kSmallPair, false},
          {"clusters that split k, more columns", k_major(60, 192, 4200), kFlatPair, false},
          {"the same, by element", k_major(63, 190, 4200, 3.0F, 1.0F), kFlatPair, false}};
}

class ScaledTiles : public ::testing::TestWithParam<Case> {};

TEST_P(ScaledTiles, AreRight) {
  const auto& [name, problem, tile, shared] = GetParam();
  const TensorPlan chosen = plan_tensor_tiles(problem, true, k8BitTiles, kFew);
  ASSERT_EQ(chosen.parts > 1 || chosen.plan.split_tiles > 0, shared) << name;
  expect_verified("scaled_tiles", problem, kFew, {Values::kIntegers, Values::kScaled},
                  [&](const std::string& counters) {
                    EXPECT_NE(counters.find(tile), std::string::npos);
                    const bool added = counters.find("add_parts") != std::string::npos;
                    EXPECT_EQ(added, chosen.parts > 1);
                  });
}

INSTANTIATE_TEST_SUITE_P(EightBits, ScaledTiles, ::testing::ValuesIn(scaled_problems()),
                         [](const auto& which) { return std::to_string(which.index); });

}  // namespace
}  // namespace ladder
