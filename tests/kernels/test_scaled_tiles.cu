// SPDX-License-Identifier: Apache-2.0
// The library's products of 8-bit operands: every tile and every way of sharing tiles out, stored
// by tensor map and from registers. The device reports few SMs, so that small problems have large
// tiles.
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include <string>
#include <vector>

#include "gemm/plan/menus.hpp"
#include "host/query.hpp"
#include "operands/virtual_gpu.hpp"
#include "support/pretended_device.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

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

std::vector<Case> problems() {
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
  const auto device = query_device(0);
  ASSERT_TRUE(device);
  int done = 0;
  pretended = {kFew.sms, kFew.l2_bytes};
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.rung != "scaled_tiles") continue;
    ++done;
    for (const Values values : {Values::kIntegers, Values::kScaled}) {
      virtual_gpu::reset_counters();
      const Verdict verdict = verify(kernel, problem, {values, 7}, device.value());
      EXPECT_TRUE(verdict.ok()) << kernel.id << ", " << name << ": " << verdict.reason;
      const std::string counters = virtual_gpu::counters_json();
      EXPECT_NE(counters.find(tile), std::string::npos) << kernel.id << ", " << name;
      const bool added = counters.find("add_parts") != std::string::npos;
      EXPECT_EQ(added, chosen.parts > 1) << kernel.id << ", " << name;
    }
  }
  pretended = {};
  EXPECT_EQ(done, 4);
}

INSTANTIATE_TEST_SUITE_P(EightBits, ScaledTiles, ::testing::ValuesIn(problems()),
                         [](const auto& which) { return std::to_string(which.index); });

}  // namespace
}  // namespace ladder
