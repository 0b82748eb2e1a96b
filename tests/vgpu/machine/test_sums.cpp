// SPDX-License-Identifier: Apache-2.0
// Blocks that add floats atomically run on several host threads, and the sums are those of blocks
// in order.
#include <numeric>
#include <random>

#include "engine/kernel.hpp"
#include "engine_fixture.hpp"
#include "ir/fault.hpp"

namespace {

constexpr int kBlocks = 60, kThreads = 64, kAll = kBlocks * kThreads;

class Sums : public EngineTest, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    load("sums");
    config.host_threads = GetParam();
    std::mt19937 random(7);
    for (float& v : numbers) v = static_cast<float>(random()) / 1e7F;
  }
  bool needs_order(const char* kernel) const { return module->find_kernel(kernel)->needs_order(); }

  std::vector<float> numbers = std::vector<float>(kAll);
};

TEST_P(Sums, AreThoseOfBlocksInOrder) {
  float* const sum = array<float>(1);
  double* const wide = array<double>(1);
  unsigned* const count = array<unsigned>(1);
  float* const out = array<float>(kAll);
  for (int round = 1; round <= 3; ++round) {
    const float before = *sum;
    launch("add_and_store", {kBlocks, 1, 1}, {kThreads, 1, 1}, sum, wide, count, out,
           array(numbers));
    EXPECT_EQ(*sum, std::accumulate(numbers.begin(), numbers.end(), before));
    EXPECT_EQ(*count, static_cast<unsigned>(round * kAll));
    for (int i = 0; i < kAll; ++i) ASSERT_EQ(out[i], 2 * numbers[i]) << i;
  }
  double in_order = 0;
  for (int round = 0; round < 3; ++round)
    for (const float v : numbers) in_order += v / 3.0;
  EXPECT_EQ(*wide, in_order);
  EXPECT_FALSE(needs_order("add_and_store"));
}

TEST_P(Sums, AreReadAsOfBlocksInOrder) {
  float* const sum = array<float>(1);
  float* const seen = array<float>(kBlocks);
  int* const steps = array<int>(kAll);
  for (int round = 1; round <= 2; ++round) {
    float in_order = *sum;
    launch("add_and_read", {kBlocks, 1, 1}, {kThreads, 1, 1}, sum, sum, seen, steps,
           array(numbers));
    for (int b = 0; b < kBlocks; ++b) {
      in_order =
          std::accumulate(&numbers[b * kThreads], &numbers[b * kThreads] + kThreads, in_order);
      ASSERT_EQ(seen[b], in_order) << b;
    }
    for (int i = 0; i < kAll; ++i) ASSERT_EQ(steps[i], round) << i;
  }
  EXPECT_EQ(needs_order("add_and_read"), GetParam() > 1);
}

TEST_P(Sums, OfUnwrittenMemoryAreFoundOnce) {
  memory.track();
  config.check_init = true;
  float* const in = array(numbers);
  memory.mark_written(in, kAll * sizeof(float));
  const auto found_by = [&](unsigned threads) {
    config.host_threads = threads;
    vgpu::Findings findings;
    config.findings = &findings;
    float* const sum = static_cast<float*>(memory.allocate(sizeof(float)));
    launch("add_and_store", {kBlocks, 1, 1}, {kThreads, 1, 1}, sum, array<double>(1),
           array<unsigned>(1), array<float>(kAll), in);
    EXPECT_EQ(*sum, std::accumulate(numbers.begin(), numbers.end(), 0.0F));
    return findings.sorted();
  };
  const std::vector<vgpu::Found> found = found_by(GetParam()), in_order = found_by(1);
  ASSERT_EQ(found.size(), 3u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].block, 0u);
    EXPECT_EQ(found[i].times, in_order[i].times);
    EXPECT_LE(found[i].times, 32u);  // of the first warp
  }
}

TEST_P(Sums, LeaveNoMarksOfBlocksThatRanTooEarly) {
  memory.track();
  config.check_init = true;
  config.check_init_shared = false;
  vgpu::Findings findings;
  config.findings = &findings;
  float* const sum = array<float>(1);
  memory.mark_written(sum, sizeof(float));
  launch("add_and_look_ahead", {kBlocks, 1, 1}, {kThreads, 1, 1}, sum, sum, array<float>(kAll),
         static_cast<float*>(memory.allocate(kAll * sizeof(float))));
  const std::vector<vgpu::Found> found = findings.sorted();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].times, static_cast<std::uint64_t>(kAll - kThreads));
  EXPECT_EQ(*sum, static_cast<float>(kAll));
}

TEST_P(Sums, EndWithTheFirstFaultInOrder) {
  const auto sum_of = [&](unsigned threads) {
    config.host_threads = threads;
    float* const sum = array<float>(1);
    const vgpu::Fault fault =
        fault_of("add_and_store", {kBlocks, 1, 1}, {kThreads, 1, 1}, sum, array<double>(1),
                 array<unsigned>(1), array<float>(kAll / 2), array(numbers));
    EXPECT_EQ(fault.kind, vgpu::FaultKind::kOutOfBounds) << fault.what();
    return *sum;
  };
  const float in_order = sum_of(1);
  EXPECT_EQ(sum_of(GetParam()), in_order);
}

INSTANTIATE_TEST_SUITE_P(HostThreads, Sums, testing::Values(1u, 2u, 5u));

}  // namespace
