// SPDX-License-Identifier: Apache-2.0
// Every plan of the large tiles that is considered, whether or not the planner takes it: sums of
// integers, which are exact, of any layout and alignment. Between rows, and beside C, are NaN.
#include <gtest/gtest.h>

#include <ladder/problem.hpp>
#include <ladder/registry.hpp>

#include <string>
#include <vector>

#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/tuned_plans.hpp"
#include "padded_matrix.hpp"

namespace ladder {
namespace {

constexpr int kSms = 132;

struct Case {
  std::int64_t m, n, k, more;  // more: of the leading dimensions
  int offset;                  // of the operands from a boundary, in elements
  float beta;
};

void expect_products(const Case& c, Op op_a, Op op_b) {
  const bool a_along = op_a == Op::kNone, b_along = op_b == Op::kTranspose;
  PaddedMatrix a(a_along ? c.m : c.k, a_along ? c.k : c.m, c.more, c.offset, 1),
      b(b_along ? c.n : c.k, b_along ? c.k : c.n, c.more, c.offset, 2);
  Problem p = make_problem(c.m, c.n, c.k, 2, c.beta, op_a, op_b);
  p.lda = a.ld;
  p.ldb = b.ld;
  std::vector<LargePlan> plans;
  const int address = c.offset * static_cast<int>(sizeof(float));
  const Alignment at{address == 0 ? 256 : address, address == 0 ? 256 : address};
  each_large_plan(p, at, kSms, [&](const LargePlan& plan) { plans.push_back(plan); });
  ASSERT_GE(plans.size(), 2U);
  for (const LargePlan& plan : plans) {
    SCOPED_TRACE(to_string(p) + ", tile " + std::to_string(plan.tile) +
                 (plan.shares ? ", shared" : "") + (plan.packs ? ", packed" : ""));
    PaddedMatrix result(c.m, c.n, c.more, c.offset, 3);
    p.ldc = result.ld;
    const PartShape shape = part_shape(p, at);
    TunedPlans::of_process().set(shape, kSms, SimtPlan{plan});
    const Status status =
        find_kernels("ladder_large_tiles")
            .value()
            .front()
            ->launch(p, {a.on_device(), b.on_device(), result.on_device()}, nullptr);
    TunedPlans::of_process().erase(shape, kSms);
    ASSERT_TRUE(status) << status.message();
    multiply({c.m, c.n, c.k, a_along, b_along, true, 2, c.beta}, a, b, result);
    result.expect_on_device();
  }
}

TEST(LargeTiles, AddEveryStepOnceInEveryPlan) {
  for (const Op op_a : {Op::kNone, Op::kTranspose}) {
    for (const Op op_b : {Op::kNone, Op::kTranspose}) {
      expect_products({64, 256, 64, 0, 0, 0}, op_a, op_b);
      expect_products({67, 517, 141, 0, 0, -1}, op_a, op_b);
      expect_products({131, 70, 205, 2, 1, 1}, op_a, op_b);
      expect_products({196, 132, 88, 4, 3, 0}, op_a, op_b);
      expect_products({3, 2, 131, 5, 2, 0}, op_a, op_b);
    }
  }
}

// Two waves and more of tiles, of which blocks share the last ones; chains of additions.
TEST(LargeTiles, ShareTheLastWaves) {
  expect_products({128 * 9 + 1, 256 * 16 - 3, 20, 0, 0, 0}, Op::kNone, Op::kNone);
  expect_products({130, 261, 2057, 1, 0, 1}, Op::kTranspose, Op::kNone);
}

}  // namespace
}  // namespace ladder
