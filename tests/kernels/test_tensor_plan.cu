// SPDX-License-Identifier: Apache-2.0
// How tensor-core rungs share tiles out: every step of k of every tile belongs to exactly one block, on any GPU.
#include "device/tensor_plan.cuh"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace ladder {
namespace {

constexpr TileShape kShapes[] = {{128, 256, 64, 1}, {128, 128, 64, 1}, {128, 64, 64, 1}, {256, 256, 64, 2}};

// Marks the steps that each block does: one thread a block.
template <class Order>
__global__ void mark(const __grid_constant__ Plan plan, int* done) {
  Order order(plan, static_cast<int>(blockIdx.x));
  for (Work work; order.next(work);) {
    for (int step = work.begin; step < work.end; ++step) atomicAdd(done + work.tile * plan.steps + step, 1);
  }
}

void expect_complete(const TensorPlan& chosen) {
  const Plan& plan = chosen.plan;
  const int tiles = plan.tiles_m * plan.tiles_n;
  ASSERT_EQ(plan.whole_tiles + plan.cut_tiles, tiles);
  std::vector<int> done(static_cast<std::size_t>(tiles) * plan.steps);
  int* gDone = nullptr;
  const std::size_t bytes = done.size() * sizeof(int);
  ASSERT_EQ(cudaMalloc(&gDone, bytes), cudaSuccess);
  ASSERT_EQ(cudaMemset(gDone, 0, bytes), cudaSuccess);
  (chosen.parts > 1 ? mark<PartSchedule> : mark<Schedule>)<<<plan.blocks, 1>>>(plan, gDone);
  ASSERT_EQ(cudaMemcpy(done.data(), gDone, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaFree(gDone), cudaSuccess);
  for (const int times : done) ASSERT_EQ(times, 1);
}

TEST(TensorPlan, CoversEveryStepOnce) {
  for (const int sms : {1, 7, 78, 132}) {
    for (const auto& [m, n, k] : {std::array{1, 1, 1}, std::array{1000, 1001, 999},
                                  std::array{3072, 1500, 300}, std::array{64, 64, 20000}}) {
      for (const bool on_lines : {true, false}) {
        const TensorPlan chosen = plan_tensor_tiles(make_problem(m, n, k), on_lines, kShapes, sms);
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
    return plan_tensor_tiles(make_problem(m, n, k), true, kShapes, kSms);
  };
  EXPECT_GT(plan(8192, 8192, 8192).plan.cut_tiles, 0);  // 15.5 waves
  EXPECT_EQ(plan(4096, 4096, 4096).plan.cut_tiles, 0);  // 3.88 waves: what is won is what handing on costs
  EXPECT_EQ(plan(1536, 2816, 4096).plan.cut_tiles, 0);  // one wave
  EXPECT_GT(plan(64, 64, 65536).parts, 32);
  EXPECT_EQ(plan(64, 64, 64).parts, 1);
}

TEST(TensorPlan, PairsWhereLinesCrossThoseOfL2) {
  const auto blocks = [](bool on_lines) {
    return kShapes[plan_tensor_tiles(make_problem(4088, 4088, 4088), on_lines, kShapes, 132).tile].blocks;
  };
  EXPECT_EQ(blocks(true), 1);
  EXPECT_EQ(blocks(false), 2);
}

// The battery's problems of the last wave are there because of what is cut.
TEST(TensorPlan, CutsTheBatterysLastWave) {
  for (const int k : {3200, 1600 * 2}) {  // the second is tf32's, whose stage is half as deep
    EXPECT_GT(plan_tensor_tiles(make_problem(8, 8576, k), true, kShapes, 132).plan.cut_tiles, 0);
  }
}

}  // namespace
}  // namespace ladder
