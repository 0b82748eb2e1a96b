// SPDX-License-Identifier: Apache-2.0
// Every plan of the large tiles that is considered, whether or not the planner takes it: sums of
// integers, which are exact, of any layout and alignment. Between rows, and beside C, are NaN.
#include <gtest/gtest.h>

#include <ladder/problem.hpp>
#include <ladder/registry.hpp>

#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

constexpr int kSms = 132;

// A matrix of `rows` rows in memory, `offset` elements behind a 256-byte boundary.
struct Matrix {
  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t more, int offset, int seed)
      : ld(cols + more),
        offset(offset),
        x(static_cast<std::size_t>(offset + rows * ld), std::numeric_limits<float>::quiet_NaN()) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j)
        at(i, j) = static_cast<float>((i * 7 + j * 3 + seed) % 5 - 2);
    }
    if (cudaMalloc(&memory, bytes()) != cudaSuccess ||
        cudaMemcpy(memory, x.data(), bytes(), cudaMemcpyHostToDevice) != cudaSuccess)
      throw std::bad_alloc();
  }
  ~Matrix() { static_cast<void>(cudaFree(memory)); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  float& at(std::int64_t i, std::int64_t j) {
    return x[static_cast<std::size_t>(offset + i * ld + j)];
  }
  [[nodiscard]] float* on_device() const { return static_cast<float*>(memory) + offset; }
  [[nodiscard]] std::size_t bytes() const { return x.size() * sizeof(float); }

  std::int64_t ld;
  int offset;
  std::vector<float> x;
  void* memory = nullptr;
};

struct Case {
  std::int64_t m, n, k, more;  // more: of the leading dimensions
  int offset;                  // of the operands from a boundary, in elements
  float beta;
};

void expect_products(const Case& c, Op op_a, Op op_b) {
  const bool a_along = op_a == Op::kNone, b_along = op_b == Op::kTranspose;
  Matrix a(a_along ? c.m : c.k, a_along ? c.k : c.m, c.more, c.offset, 1),
      b(b_along ? c.n : c.k, b_along ? c.k : c.n, c.more, c.offset, 2);
  Problem p = make_problem(c.m, c.n, c.k, 2, c.beta, op_a, op_b);
  p.lda = a.ld;
  p.ldb = b.ld;
  std::vector<LargePlan> plans;
  each_large_plan(p, {}, kSms, [&](const LargePlan& plan) { plans.push_back(plan); });
  ASSERT_GE(plans.size(), 2U);
  for (const LargePlan& plan : plans) {
    SCOPED_TRACE(to_string(p) + ", tile " + std::to_string(plan.tile) +
                 (plan.shares ? ", shared" : ""));
    Matrix result(c.m, c.n, c.more, c.offset, 3);
    p.ldc = result.ld;
    std::vector<float> expected = result.x;
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < c.k; ++k)
          sum += (a_along ? a.at(i, k) : a.at(k, i)) * (b_along ? b.at(j, k) : b.at(k, j));
        float& to = expected[static_cast<std::size_t>(result.offset + i * result.ld + j)];
        to = 2 * sum + c.beta * to;
      }
    }
    const int address = c.offset * static_cast<int>(sizeof(float));
    const PartShape shape =
        part_shape(p, {address == 0 ? 256 : address, address == 0 ? 256 : address});
    TunedPlans::of_process().set(shape, kSms, SimtPlan{plan});
    const Status status =
        find_kernels("ladder_large_tiles")
            .value()
            .front()
            ->launch(p, {a.on_device(), b.on_device(), result.on_device()}, nullptr);
    TunedPlans::of_process().erase(shape, kSms);
    ASSERT_TRUE(status) << status.message();
    ASSERT_EQ(cudaMemcpy(result.x.data(), result.memory, result.bytes(), cudaMemcpyDeviceToHost),
              cudaSuccess);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(result.x[i]) : result.x[i] == expected[i])
          << "at " << i << ": " << result.x[i] << ", not " << expected[i];
    }
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
