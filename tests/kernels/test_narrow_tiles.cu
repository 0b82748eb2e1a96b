// SPDX-License-Identifier: Apache-2.0
// r17's last tiles where they are narrower than the others and not a multiple of a box of B. The
// device reports few SMs, so that small problems have such tiles: in every type, at every edge,
// stored by tensor map and from registers.
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include <string>
#include <vector>

#include "host/query.hpp"
#include "operands/virtual_gpu.hpp"
#include "support/pretended_device.hpp"
#include "tile_shapes.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

// Two pairs of blocks, which compute one tile after another. L2 is reported as tiny, so that pairs
// with multicast are chosen.
constexpr DeviceFacts kPairs{4, 1024};

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

std::vector<Few> problems() {
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
  const TensorPlan chosen = plan_tensor_tiles(problem, true, kShapes, kPairs);
  ASSERT_EQ(chosen.plan.narrow.width, 232) << name << ": not this problem's tiles";
  const auto device = query_device(0);
  ASSERT_TRUE(device);
  int done = 0;
  pretended = {kPairs.sms, kPairs.l2_bytes};
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.rung != "tensor_tiles" || kernel.in == Type::kF32) continue;
    ++done;
    virtual_gpu::reset_counters();
    const Verdict verdict = verify(kernel, problem, {Values::kIntegers, 7}, device.value());
    EXPECT_TRUE(verdict.ok()) << kernel.id << ", " << name << ": " << verdict.reason;
    EXPECT_NE(virtual_gpu::counters_json().find("(ladder::Blocks)1, 232>"), std::string::npos)
        << kernel.id;
  }
  pretended = {};
  EXPECT_EQ(done, 4);
}

INSTANTIATE_TEST_SUITE_P(StreamK, NarrowTiles, ::testing::ValuesIn(problems()),
                         [](const auto& which) { return std::to_string(which.index); });

}  // namespace
}  // namespace ladder
