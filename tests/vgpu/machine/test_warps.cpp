// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes, reductions, special registers, barriers.
#include <algorithm>

#include "engine_fixture.hpp"

namespace {

class Warps : public EngineTest {
 protected:
  void SetUp() override { load("warps"); }
};

TEST_F(Warps, Shuffles) {
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i) in[i] = 100 + i * i;
  int* const out = array<int>(320);
  launch("shuffles", {1}, {32}, array(in), out);
  for (int i = 0; i < 32; ++i) {
    const int base8 = i / 8 * 8, base16 = i / 16 * 16, base4 = i / 4 * 4;
    const int sources[] = {5,
                           base8 + i * 7 % 8,
                           i >= 3 ? i - 3 : i,
                           i - 2 >= base16 ? i - 2 : i,
                           i + 9 < 32 ? i + 9 : i,
                           i + 1 < base4 + 4 ? i + 1 : i,
                           i ^ 16,
                           i ^ 3,
                           i + 20 < 32 ? i + 20 : i};
    for (int k = 0; k < 9; ++k)
      EXPECT_EQ(out[i * 10 + k], in[sources[k]]) << "lane " << i << ", shuffle " << k;
    EXPECT_EQ(out[i * 10 + 9], i + 20 < 32 ? 1 : 0) << i;
  }
}

TEST_F(Warps, VotesMatchesAndReductions) {
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i) in[i] = i % 5 - 2;
  unsigned* const out = array<unsigned>(320);
  launch("votes", {1}, {32}, array(in), out);
  unsigned positive = 0, exclusive = 0;
  int sum = 0;
  for (int i = 0; i < 32; ++i) {
    positive |= static_cast<unsigned>(in[i] > 0) << i;
    exclusive ^= static_cast<unsigned>(in[i]);
    sum += in[i];
  }
  for (int i = 0; i < 32; ++i) {
    unsigned same = 0;
    for (int k = 0; k < 32; ++k) same |= static_cast<unsigned>(in[k] == in[i]) << k;
    const unsigned expected[] = {
        positive, 1, 0, 0, same, ~0u, 1, static_cast<unsigned>(sum), static_cast<unsigned>(-2),
        exclusive};
    for (int k = 0; k < 10; ++k)
      EXPECT_EQ(out[i * 10 + k], expected[k]) << "lane " << i << ", column " << k;
  }
}

TEST_F(Warps, MasksOfDividedWarps) {
  unsigned* const out = array<unsigned>(32);
  launch("divided_masks", {1}, {32}, out);
  const auto value = [](unsigned lane) { return lane < 16 ? lane : lane + lane * (lane - 1) / 2; };
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned shuffled = value(i ^ 1) + 16;
    EXPECT_EQ(out[i], i % 2 == 0 ? shuffled + 0x11111111u : shuffled + 1) << i;
  }
}

TEST_F(Warps, BarrierInBothBranches) {
  int* const out = array<int>(32);
  launch("barrier_in_branches", {1}, {32}, out);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? (i + 16) * 3 : (i - 16) * 2) << i;
}

TEST_F(Warps, LabelledGroupsReduceApart) {
  std::vector<int> labels(64), in(64);
  for (int i = 0; i < 64; ++i) labels[i] = i * i % 5, in[i] = i * 37 % 64;
  int* const out = array<int>(128);
  launch("labelled", {1}, {64}, array(labels), array(in), out);
  for (int i = 0; i < 64; ++i) {
    if (labels[i] == 4) continue;
    int most = -1, sum = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      if (labels[k] == labels[i]) most = std::max(most, in[k]), sum += in[k];
    }
    EXPECT_EQ(out[2 * i], most) << i;
    EXPECT_EQ(out[2 * i + 1], sum) << i;
  }
}

TEST_F(Warps, CooperativeGroups) {
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i * 3;
  int* const out = array<int>(64);
  launch("tiles", {1}, {64}, array(in), out);
  for (int i = 0; i < 64; ++i) {
    int sum = 0;
    for (int k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) sum += in[k];
    int active = 0;
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) active += k % 3 == 0;
    EXPECT_EQ(out[i], sum + (i % 3 == 0 ? 1000 * active : 0)) << i;
  }
}

TEST_F(Warps, Elect) {
  load("hopper", VGPU_TEST_PTX_90);
  unsigned* const out = array<unsigned>(32);
  launch("elected", {1}, {32}, out);
  for (unsigned i = 4; i < 32; ++i) EXPECT_EQ(out[i], 4u * 2 + (i == 4 ? 1 : 0)) << i;
}

TEST_F(Warps, SpecialRegisters) {
  const vgpu::Dim3 grid{2, 3, 2}, block{5, 4, 3};
  unsigned* const out = array<unsigned>(12 * 60 * 8);
  config.dynamic_shared_bytes = 256;
  launch("special_registers", grid, block, out);
  for (unsigned b = 0; b < 12; ++b) {
    for (unsigned t = 0; t < 60; ++t) {
      const unsigned* const v = out + (b * 60 + t) * 8;
      EXPECT_EQ(v[0], t % 32);
      EXPECT_EQ(v[1], t / 32);
      EXPECT_EQ(v[2], (1u << t % 32) - 1);
      EXPECT_EQ(v[3], ~((1u << t % 32) - 1));
      EXPECT_EQ(v[4], 256u);
      EXPECT_EQ(v[5], 256u);
      EXPECT_EQ(v[6], t % 5 + 100 * (t / 5 % 4) + 10000 * (t / 20));
      EXPECT_EQ(v[7], b % 2 + 10 * (b / 2 % 3) + 100 * (b / 6) + 2000 + 30000 + 200000);
    }
  }
}

TEST_F(Warps, ClocksAdvanceAndRepeat) {
  long long* const first = array<long long>(64);
  long long* const second = array<long long>(64);
  launch("clocks", {1}, {64}, first);
  launch("clocks", {1}, {64}, second);
  for (int i = 0; i < 64; ++i) {
    EXPECT_GT(first[i], 0);
    EXPECT_EQ(first[i], second[i]);
  }
}

TEST_F(Warps, LongWaitsForTheClockTakeFewPolls) {
  const auto polls = [&](long long ticks) {
    long long* const out = array<long long>(32);
    launch("waits", {1}, {32}, out, ticks);
    return out[0];
  };
  // Each poll takes the same few ticks, at first.
  const long long some = polls(150), twice = polls(300);
  EXPECT_GT(some, 10);
  EXPECT_NEAR(static_cast<double>(twice), 2.0 * static_cast<double>(some), 2);
  const long long most = polls(10'000'000'000);
  EXPECT_GT(most, 64);
  EXPECT_LT(most, 150'000);
}

TEST_F(Warps, ClocksDoNotGoBack) {
  for_each_schedule([&] {
    long long* const out = array<long long>(6);
    config.begin_clock = 100'000;
    const vgpu::LaunchReport report = launch("ordered_clocks", {2}, {64}, out, array<int>(1));
    EXPECT_GE(out[0], 100'000 + 5000);
    EXPECT_GE(out[1], out[0]);  // behind a barrier
    EXPECT_GE(out[4], out[1]);
    EXPECT_GE(out[2], out[1]);  // in another block, behind a flag
    EXPECT_GE(out[3], out[1]);
    EXPECT_GE(out[5], out[4]);
    EXPECT_GE(report.end_clock, static_cast<std::uint64_t>(out[5]));
  });
}

TEST_F(Warps, DynamicSharedMemory) {
  std::vector<int> in(3 * 200);
  for (int i = 0; i < 600; ++i) in[i] = i * i;
  int* const out = array<int>(600);
  config.dynamic_shared_bytes = 200 * sizeof(int);
  launch("reversed", {3}, {200}, array(in), out, 200);
  for (int i = 0; i < 600; ++i) EXPECT_EQ(out[i], in[i / 200 * 200 + 199 - i % 200]) << i;
}

TEST_F(Warps, BarrierReductions) {
  std::vector<int> in(100);
  for (int i = 0; i < 100; ++i) in[i] = i % 7 - 3;
  int* const out = array<int>(300);
  launch("reductions", {1}, {100}, array(in), out);
  const int positive = static_cast<int>(std::ranges::count_if(in, [](int v) { return v > 0; }));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(out[3 * i], positive);
    EXPECT_NE(out[3 * i + 1], 0);
    EXPECT_EQ(out[3 * i + 2], 0);
  }
}

TEST_F(Warps, ExitedThreadsAreNotWaitedFor) {
  int* const out = array<int>(100, -1);
  launch("early_exit", {1}, {100}, out);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], i % 3 == 0 ? -1 : 66) << i;
}

// right(kernel, schedule): the number of correct results of `all`. Only if a warp runs for several
// instructions at a time can one warp read what another has not written yet, unless they
// synchronise.
template <class Right>
void expect_late_under_random(Right right, const char* at_once, const char* later, int all) {
  using Kind = vgpu::CopySchedule::Kind;
  EXPECT_EQ(right(at_once, {Kind::kEager, 0}), all);
  EXPECT_EQ(right(at_once, {Kind::kLazy, 0}), all);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto first = right(at_once, {Kind::kRandom, seed});
    EXPECT_LT(first, all);
    EXPECT_GT(first, 0);
    EXPECT_EQ(right(at_once, {Kind::kRandom, seed}), first) << "the seed decides";
    EXPECT_EQ(right(later, {Kind::kRandom, seed}), all);
  }
}

TEST_F(Warps, TakeTurnsAsTheScheduleSays) {
  constexpr int kBlocks = 64;
  const auto right = [&](const char* kernel, vgpu::CopySchedule schedule) {
    config.schedule = schedule;
    int* const out = array<int>(kBlocks);
    launch(kernel, {kBlocks}, {64}, array(std::vector<int>(kBlocks)), out);
    return std::count(out, out + kBlocks, 1);
  };
  expect_late_under_random(right, "hands_on_at_once", "hands_on_later", kBlocks);
}

TEST_F(Warps, OfBlocksThatTellEachOtherTakeTurnsAsTheScheduleSays) {
  constexpr int kPairs = 64;
  const auto right = [&](const char* kernel, vgpu::CopySchedule schedule) {
    config.schedule = schedule;
    int* const out = array<int>(kPairs);
    launch(kernel, {2 * kPairs}, {64}, array(std::vector<int>(kPairs)),
           array(std::vector<int>(kPairs)), out);
    return std::count(out, out + kPairs, 1);
  };
  expect_late_under_random(right, "tells_at_once", "tells_later", kPairs);
}

TEST_F(Warps, NamedBarriersOfProducerAndConsumer) {
  for (const bool race : {false, true}) {
    config.check_race = race;  // the barriers order every access: no race to report
    std::vector<int> in(320);
    for (int i = 0; i < 320; ++i) in[i] = i * 11;
    int* const out = array<int>(320);
    launch("producer_consumer", {2}, {64}, array(in), out, 10);
    for (int i = 0; i < 320; ++i) EXPECT_EQ(out[i], in[i / 32 * 32 + 31 - i % 32]) << i;
  }
}

}  // namespace
