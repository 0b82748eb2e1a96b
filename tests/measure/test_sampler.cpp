// SPDX-License-Identifier: Apache-2.0
// The rules of measuring on a simulated machine: warm-up, interleaving, stopping, discarded
// samples.
#include <gtest/gtest.h>

#include <cmath>

#include "fake_rig.hpp"
#include "measure/peak.hpp"

namespace ladder {
namespace {

Telemetry reading(double mhz, double watts, std::uint64_t reasons = 0) {
  Telemetry t;
  t.sm_clock_mhz = mhz;
  t.power_w = watts;
  t.clock_reasons = reasons;
  return t;
}

TEST(Settled, NeedsTwoStretchesAndNoFall) {
  const auto at = [](std::vector<double> ms) {
    std::vector<WarmUpWindow> windows;
    for (const double one : ms) windows.push_back({one, {}});
    return settled(windows);
  };
  EXPECT_FALSE(at({}));
  EXPECT_FALSE(at({10}));
  EXPECT_FALSE(at({10, 9}));
  EXPECT_TRUE(at({10, 9, 8.95}));
  EXPECT_TRUE(at({10, 11}));
}

TEST(Settled, WaitsForClockAndPower) {
  EXPECT_TRUE(
      settled(std::vector<WarmUpWindow>{{10, reading(1980, 600)}, {10, reading(1980, 610)}}));
  EXPECT_FALSE(
      settled(std::vector<WarmUpWindow>{{10, reading(1980, 600)}, {10, reading(1700, 600)}}));
  EXPECT_FALSE(
      settled(std::vector<WarmUpWindow>{{10, reading(1980, 300)}, {10, reading(1980, 600)}}));
}

TEST(Throttled, ByReasonOrByClock) {
  EXPECT_FALSE(throttled(reading(1980, 600), 1980, 0.9));
  EXPECT_FALSE(throttled(reading(1800, 700, 0x4), 1980, 0.9));  // a chip settles at the power cap
  EXPECT_TRUE(throttled(reading(1700, 600), 1980, 0.9));
  for (const std::uint64_t reason : {0x8, 0x20, 0x40, 0x80})
    EXPECT_TRUE(throttled(reading(1980, 600, reason), 1980, 0.9));
  EXPECT_FALSE(throttled({}, 1980, 0.9));
}

TEST(Sample, GivesEachKernelItsOwnTimesOfTheSameRounds) {
  FakeRig rig(3, [](std::size_t i, std::size_t round) {
    return static_cast<double>(i + 1) * noise(i, round, 0.001);
  });
  const auto results = sample(rig, MeasureOptions{});
  ASSERT_TRUE(results) << results.status().message();
  ASSERT_EQ(results.value().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(results.value()[i].ms.median, static_cast<double>(i + 1),
                0.002 * static_cast<double>(i + 1));
    EXPECT_EQ(results.value()[i].samples_ms.size(), results.value()[0].samples_ms.size());
  }
}

TEST(Sample, StopsOnceQuietAndNotBefore) {
  MeasureOptions options;
  options.max_samples = 100000;
  const auto samples = [&](double spread) {
    FakeRig rig(1, [&](std::size_t, std::size_t round) { return noise(1, round, spread); });
    return sample(rig, options).value()[0].samples_ms.size();
  };
  // A launch takes 1 ms: quiet kernels end at settled_s, noisy ones at budget_s, within one
  // reading.
  EXPECT_NEAR(static_cast<double>(samples(0.001)), 1e3 * options.settled_s, 30);
  EXPECT_NEAR(static_cast<double>(samples(0.1)), 1e3 * options.budget_s, 30);
}

TEST(Sample, TakesTheLeastAndTheMost) {
  MeasureOptions options;
  options.budget_s = 0;
  options.min_samples = 7;
  FakeRig slow(1, [](std::size_t, std::size_t) { return 1000.0; });
  EXPECT_EQ(sample(slow, options).value()[0].samples_ms.size(), 7U);
  options.budget_s = 100;
  options.settled_s = 100;
  options.max_samples = 50;
  FakeRig steady(1, [](std::size_t, std::size_t) { return 1.0; });
  const std::size_t n = sample(steady, options).value()[0].samples_ms.size();
  EXPECT_GE(n, 50U);
  EXPECT_LE(n, 50U + static_cast<std::size_t>(steady.largest_batch));
}

TEST(Sample, WarmsUpUntilPowerHasSettled) {
  MeasureOptions options;
  FakeRig cold(1, [](std::size_t, std::size_t) { return 1.0; });
  cold.sensors = [](double seconds) { return reading(1980, std::min(600.0, 100 + 500 * seconds)); };
  const double warm = sample(cold, options).value()[0].warmup_s;
  // 50 ms add 25 W, which is less than 5% from 500 W on; that power is reached after 0.8 s.
  EXPECT_NEAR(warm, 0.8, 0.06);
  FakeRig restless(1, [](std::size_t, std::size_t) { return 1.0; });
  int reading_number = 0;
  restless.sensors = [&](double) { return reading(1980, ++reading_number % 2 == 0 ? 300 : 600); };
  EXPECT_LE(sample(restless, options).value()[0].warmup_s,
            10.5 * options.warmup_s);  // warm-up ends all the same
}

TEST(Sample, DiscardsWhatWasThrottledAndCountsIt) {
  // From 0.3 s to 0.4 s the chip runs at half its clock and takes twice the time.
  const auto held_back = [](double seconds) { return seconds > 0.3 && seconds < 0.4; };
  FakeRig* self = nullptr;
  FakeRig rig(1, [&](std::size_t, std::size_t) { return held_back(self->seconds()) ? 2.0 : 1.0; });
  self = &rig;
  rig.sensors = [&](double seconds) { return reading(held_back(seconds) ? 990 : 1980, 600); };
  MeasureOptions options;
  options.noise = 0;
  options.max_samples = 100000;
  const auto results = sample(rig, options);
  ASSERT_TRUE(results);
  EXPECT_GT(results.value()[0].throttled, 0U);
  EXPECT_EQ(results.value()[0].ms.p75, 1.0);
}

TEST(Sample, NothingIsLeftOfAMachineThatThrottlesAlways) {
  FakeRig rig(1, [](std::size_t, std::size_t) { return 1.0; });
  rig.sensors = [](double) { return reading(1980, 600, 0x40); };
  const auto results = sample(rig, MeasureOptions{});
  ASSERT_FALSE(results);
  EXPECT_NE(results.status().message().find("throttled"), std::string::npos);
}

TEST(Sample, ATimeOfZeroOrNanIsNoTime) {
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    FakeRig rig(
        2, [&](std::size_t i, std::size_t round) { return i == 1 && round > 300 ? bad : 1.0; });
    const auto results = sample(rig, MeasureOptions{});
    EXPECT_EQ(results.status().code(), Code::kLaunchFailed) << bad;
  }
}

TEST(Alarm, BelowTheFloorOfOperationsOrBytes) {
  Device device;
  device.fp32_flops = 50e12;
  device.memory_bandwidth = 5e12;
  const Problem cube = make_problem(1000, 1000, 1000);  // 2e9 operations, 12e6 bytes
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kIeee, device, false), 2e9 / 50e12 * 1e3);
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kTf32, device, false),
                   0);  // the rate of its tensor cores is not known
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kTf32, device, true), 12e6 / 5e12 * 1e3);
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kIeee, Device{}, true), 0);
  EXPECT_EQ(below_floor(0.04, 0.04), "");
  EXPECT_EQ(below_floor(0.05, 0), "");
  EXPECT_NE(below_floor(0.039, 0.04), "");
}

TEST(Alarm, BelowTheFloorOfTensorCores) {
  Device h200;
  h200.cc = 90;
  h200.sm_count = 132;
  h200.sm_clock_hz = 1.98e9;
  const Problem cube = make_problem(4096, 4096, 4096);
  const double bf16 = floor_ms(cube, Precision::kBf16, h200, false);
  EXPECT_NEAR(bf16, 2 * 4096.0 * 4096 * 4096 / 1070.5e12 * 1e3, 1e-4);
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kTf32, h200, false), 2 * bf16);
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kFp16x3, h200, false), 3 * bf16);
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kTf32x3, h200, false), 6 * bf16);
  EXPECT_DOUBLE_EQ(floor_ms(cube, Precision::kAuto, h200, false), 0);
  // Measured rates are above it: cuBLAS in bf16 and r19 on an H200.
  EXPECT_EQ(below_floor(0.200, bf16), "");
  EXPECT_NE(below_floor(0.100, bf16), "");
}

}  // namespace
}  // namespace ladder
