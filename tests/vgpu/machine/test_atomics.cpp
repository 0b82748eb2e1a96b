// SPDX-License-Identifier: Apache-2.0
// Atomics, blocks that wait for each other, and independence of the host's threads.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include "engine_fixture.hpp"

namespace {

class Atomics : public EngineTest, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    load("atomics");
    config.host_threads = GetParam();
  }
};

TEST_P(Atomics, Histogram) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> in(20000);
  for (std::uint8_t& v : in) v = static_cast<std::uint8_t>(random() % 200);
  unsigned* const bins = array<unsigned>(256);
  launch("histogram", {7}, {128}, array(in), bins, 20000);
  for (int k = 0; k < 256; ++k) EXPECT_EQ(bins[k], std::ranges::count(in, k)) << k;
}

TEST_P(Atomics, EveryOperation) {
  int* const s = array<int>(4);
  unsigned* const u = array<unsigned>(7);
  unsigned long long* const w = array<unsigned long long>(2);
  float* const f = array<float>(1);
  double* const d = array<double>(1);
  u[0] = ~0u;
  u[5] = 1000;
  launch("every_operation", {5}, {60}, s, u, w, f, d);
  const int n = 300, sum = n * (n - 1) / 2;
  EXPECT_EQ(s[0], sum);
  EXPECT_EQ(s[1], -sum);
  EXPECT_EQ(s[2], -50);
  EXPECT_EQ(s[3], 249);
  EXPECT_EQ(u[0], 0xffffff00);
  EXPECT_EQ(u[1], 0xfffffu);
  unsigned exclusive = 0;
  for (unsigned i = 0; i < 300; ++i) exclusive ^= i;
  EXPECT_EQ(u[2], exclusive);
  EXPECT_EQ(u[3], 0u);  // 300 steps of a counter that runs from 0 to 9
  EXPECT_EQ(u[4], 0u);  // and of one that runs from 9 to 0
  EXPECT_EQ(u[5], 3u);
  EXPECT_EQ(u[6], 299u);
  EXPECT_EQ(w[0], (300ull << 32) + static_cast<unsigned>(sum));
  EXPECT_EQ(w[1], 299ull << 40);
  EXPECT_EQ(*f, 75.0F);
  EXPECT_EQ(*d, 37.5);
}

TEST_P(Atomics, OldValuesAreHandedOutOnceAndInOrder) {
  unsigned* const next = array<unsigned>(1);
  unsigned* const order = array<unsigned>(512);
  launch("old_values", {8}, {64}, next, order);
  for (unsigned i = 0; i < 512; ++i) EXPECT_EQ(order[i], i);  // blocks, warps and lanes in order
}

TEST_P(Atomics, SumsOfFloatsAreTheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  std::vector<float> in(2000);
  for (float& v : in) v = static_cast<float>(random()) / 1e7F;
  float in_order = 0;
  for (float v : in) in_order += v;
  for (const char* kernel : {"float_sum", "compare_and_swap"}) {
    float* const sum = array<float>(1);
    launch(kernel, {20}, {100}, sum, array(in));
    EXPECT_EQ(*sum, in_order) << kernel;
  }
}

TEST_P(Atomics, FloatsInSharedMemory) {
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<float>(i) / 8;
  float* const out = array<float>(4);
  launch("shared_float", {4}, {64}, out, array(in));
  for (int b = 0; b < 4; ++b)
    EXPECT_EQ(out[b], std::accumulate(&in[b * 64], &in[b * 64] + 64, 0.0F));
}

// Hardware executes the warps in another order.
TEST_P(Atomics, WhatMayDependOnTheOrderOfWarpsIsAnEstimate) {
  if (!from_machine_code() || architecture() != 90) GTEST_SKIP() << "of machine code for sm_90";
  const auto expect = [](const vgpu::LaunchReport& report, bool instructions, bool sectors) {
    EXPECT_EQ(report.exact.count("smsp__inst_executed.sum"), instructions ? 1u : 0u);
    EXPECT_EQ(report.exact.count("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
              sectors ? 1u : 0u);
  };
  config.count = true;
  int* const in = array<int>(960);
  float* const floats = array<float>(64);
  float* const sums = array<float>(64);
  {
    SCOPED_TRACE("old values are stored");
    expect(launch("old_values", {8}, {64}, array<unsigned>(1), array<unsigned>(512)), true, true);
  }
  {
    SCOPED_TRACE("old values are indices");
    expect(launch("compacted", {1}, {64}, array<unsigned>(1), array<int>(64), in), true, false);
  }
  {
    SCOPED_TRACE("an old value decides a branch");
    int* const total = array<int>(1);
    expect(launch("last_block", {10}, {96}, in, array<int>(10), array<unsigned>(1), total), false,
           false);
  }
  {
    SCOPED_TRACE("each thread exchanges a word of its own");
    expect(launch("shared_floats", {1}, {64}, sums, floats, 64), true, true);
  }
  {
    SCOPED_TRACE("two warps exchange each word");
    expect(launch("shared_floats", {1}, {64}, sums, floats, 32), false, true);
  }
}

TEST_P(Atomics, Halves) {
  std::uint16_t* const pair = array<std::uint16_t>(2);
  std::uint16_t* const one = array<std::uint16_t>(1);
  launch("half_sum", {2}, {32}, pair, one);
  EXPECT_EQ(pair[0], 0x5000);  // 32
  EXPECT_EQ(pair[1], 0x5400);  // 64
  EXPECT_EQ(one[0], 0x4c00);   // 16
}

TEST_P(Atomics, LastBlockSumsUp) {
  std::vector<int> in(960);
  std::iota(in.begin(), in.end(), 5);
  int* const total = array<int>(1);
  launch("last_block", {10}, {96}, array(in), array<int>(10), array<unsigned>(1), total);
  EXPECT_EQ(*total, std::accumulate(in.begin(), in.end(), 0));
}

TEST_P(Atomics, BlocksWaitForEachOther) {
  int* const out = array<int>(20 * 64);
  launch("grid_barrier", {20}, {64}, array<unsigned>(1), array<int>(20 * 64), out);
  for (int i = 0; i < 20 * 64; ++i) EXPECT_EQ(out[i], (i + 64) % (20 * 64) * 3) << i;
}

TEST_P(Atomics, EveryBlockWaitsForTheNext) {
  int* const out = array<int>(50);
  launch("chain", {50}, {32}, array<int>(50), out);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(out[i], 50 - i) << i;
}

TEST_P(Atomics, WaitingWithinABlock) {
  int* const out = array<int>(32);
  launch("waits_in_block", {1}, {64}, out);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 7);
}

TEST_P(Atomics, WaitingForNobodyIsADeadlock) {
  expect_fault(fault_of("waits_forever", {2}, {64}, array<int>(1)), vgpu::FaultKind::kDeadlock);
}

TEST_P(Atomics, Vectors) {
  load("reductions", VGPU_TEST_PTX_90A);
  float* const singles = array<float>(18);
  unsigned* const halves = array<unsigned>(8);
  float* const old = array<float>(64);
  launch("add_vectors", {1}, {32}, singles, halves, old);
  for (int v = 0; v < 4; ++v) {
    float sum = 0;  // of the threads that add to this element
    for (int t = v; t < 32; t += 4) sum += static_cast<float>(t);
    EXPECT_EQ(singles[4 * v], sum);
    EXPECT_EQ(singles[4 * v + 1], 8.0f);
    EXPECT_EQ(singles[4 * v + 2], sum);  // -x and 2 x
    EXPECT_EQ(singles[4 * v + 3], 6.0f);
  }
  for (int i = 0; i < 2; ++i) EXPECT_EQ(halves[i], 0x54005000u);       // 64, 32
  for (int i = 4; i < 8; ++i) EXPECT_EQ(halves[i], 0x42004200u) << i;  // 32
  EXPECT_EQ(singles[16], 320.0f);
  EXPECT_EQ(singles[17], 32.0f);
  for (int t = 0; t < 32; ++t) {  // one lane after the other
    EXPECT_EQ(old[2 * t], 10.0f * static_cast<float>(t));
    EXPECT_EQ(old[2 * t + 1], static_cast<float>(t));
  }
  unsigned* const least = array<unsigned>(2);
  unsigned* const most = array<unsigned>(2);
  unsigned* const before = array<unsigned>(32);
  launch("extreme_vectors", {1}, {32}, least, most, before);
  EXPECT_EQ(least[0], 0xcfc00000u);  // 0, -31
  EXPECT_EQ(least[1], 0u);
  EXPECT_EQ(most[0], 0x00004fc0u);  // 31, 0
  EXPECT_EQ(most[1], 0x40003c00u);
  EXPECT_EQ(before[31] & 0xffff, 0x4f80u);  // 30
  expect_fault(fault_of("add_misaligned", {1}, {1}, singles), vgpu::FaultKind::kMisaligned);
}

TEST_P(Atomics, TheGridMeets) {
  load("grid");
  const int blocks = 23, n = blocks * 64, rounds = 9;
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = i % 17;
  std::vector<int> in(2 * n, -1);
  std::ranges::copy(expected, in.begin());
  for (int r = 0; r < rounds; ++r) {
    const std::vector<int> from = expected;
    for (int i = 0; i < n; ++i) expected[i] = from[(i + 1) % n] + from[(i + n - 70) % n];
  }
  config.cooperative = true;
  for (const bool race : {false, true}) {
    config.check_race = race;
    int* const values = array(in);
    launch("rounds", {blocks}, {64}, values, rounds);
    for (int i = 0; i < n; ++i) ASSERT_EQ(values[rounds % 2 * n + i], expected[i]) << i;
  }
  int* const valid = array<int>(1);
  launch("is_a_grid", {1}, {1}, valid);
  EXPECT_EQ(*valid, 1);
  config.cooperative = false;
  launch("is_a_grid", {1}, {1}, valid);
  EXPECT_EQ(*valid, 0);
  EXPECT_EQ(fault_of("rounds", {2}, {64}, array(in), 1).kind, vgpu::FaultKind::kTrap);
}

INSTANTIATE_TEST_SUITE_P(HostThreads, Atomics, testing::Values(1u, 2u, 5u));

}  // namespace
