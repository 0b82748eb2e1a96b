// SPDX-License-Identifier: Apache-2.0
// Atomics, blocks that depend on each other, and that nothing depends on the host's threads.
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
  launch("histogram", {7, 1, 1}, {128, 1, 1}, array(in), bins, 20000);
  for (int k = 0; k < 256; ++k) EXPECT_EQ(bins[k], std::count(in.begin(), in.end(), k)) << k;
}

TEST_P(Atomics, EveryOperation) {
  int* const s = array<int>(4);
  unsigned* const u = array<unsigned>(7);
  unsigned long long* const w = array<unsigned long long>(2);
  float* const f = array<float>(1);
  double* const d = array<double>(1);
  u[0] = ~0u;
  u[5] = 1000;
  launch("every_operation", {5, 1, 1}, {60, 1, 1}, s, u, w, f, d);
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
  launch("old_values", {8, 1, 1}, {64, 1, 1}, next, order);
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
    launch(kernel, {20, 1, 1}, {100, 1, 1}, sum, array(in));
    EXPECT_EQ(*sum, in_order) << kernel;
  }
}

TEST_P(Atomics, FloatsInSharedMemory) {
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<float>(i) / 8;
  float* const out = array<float>(4);
  launch("shared_float", {4, 1, 1}, {64, 1, 1}, out, array(in));
  for (int b = 0; b < 4; ++b) EXPECT_EQ(out[b], std::accumulate(&in[b * 64], &in[b * 64] + 64, 0.0F));
}

TEST_P(Atomics, Halfs) {
  std::uint16_t* const pair = array<std::uint16_t>(2);
  std::uint16_t* const one = array<std::uint16_t>(1);
  launch("half_sum", {2, 1, 1}, {32, 1, 1}, pair, one);
  EXPECT_EQ(pair[0], 0x5000);  // 32
  EXPECT_EQ(pair[1], 0x5400);  // 64
  EXPECT_EQ(one[0], 0x4c00);   // 16
}

TEST_P(Atomics, LastBlockSumsUp) {
  std::vector<int> in(960);
  std::iota(in.begin(), in.end(), 5);
  int* const total = array<int>(1);
  launch("last_block", {10, 1, 1}, {96, 1, 1}, array(in), array<int>(10), array<unsigned>(1), total);
  EXPECT_EQ(*total, std::accumulate(in.begin(), in.end(), 0));
}

TEST_P(Atomics, BlocksWaitForEachOther) {
  int* const out = array<int>(20 * 64);
  launch("grid_barrier", {20, 1, 1}, {64, 1, 1}, array<unsigned>(1), array<int>(20 * 64), out);
  for (int i = 0; i < 20 * 64; ++i) EXPECT_EQ(out[i], (i + 64) % (20 * 64) * 3) << i;
}

TEST_P(Atomics, EveryBlockWaitsForTheNext) {
  int* const out = array<int>(50);
  launch("chain", {50, 1, 1}, {32, 1, 1}, array<int>(50), out);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(out[i], 50 - i) << i;
}

TEST_P(Atomics, WaitingWithinABlock) {
  int* const out = array<int>(32);
  launch("waits_in_block", {1, 1, 1}, {64, 1, 1}, out);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 7);
}

TEST_P(Atomics, WaitingForNobodyIsADeadlock) {
  const vgpu::Fault fault = fault_of("waits_forever", {2, 1, 1}, {64, 1, 1}, array<int>(1));
  EXPECT_EQ(fault.kind, vgpu::FaultKind::kDeadlock) << fault.what();
}

INSTANTIATE_TEST_SUITE_P(HostThreads, Atomics, testing::Values(1u, 2u, 5u));

}  // namespace
