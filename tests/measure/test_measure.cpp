// SPDX-License-Identifier: Apache-2.0
#include "measure/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "host/query.hpp"

namespace ladder {
namespace {

Status accepts(const Problem&, const Device&) { return Status::ok(); }
template <int kMilliseconds>
Status sleeps(const Problem&, const Operands&, Stream) {
  std::this_thread::sleep_for(std::chrono::milliseconds(kMilliseconds));
  return Status::ok();
}
Status fails(const Problem&, const Operands&, Stream) { return {Code::kLaunchFailed, "no"}; }

constexpr KernelInfo on_host(const char* id,
                             Status (*launch)(const Problem&, const Operands&, Stream)) {
  return {.id = id,
          .rung = id,
          .idea = "test",
          .place = Place::kHost,
          .accepts = accepts,
          .launch = launch};
}
constexpr KernelInfo kShort = on_host("short", sleeps<2>), kLong = on_host("long", sleeps<6>),
                     kFailing = on_host("f", fails);

MeasureOptions quick() {
  MeasureOptions options;
  options.warmup_s = 0.01;
  options.budget_s = 0.1;
  options.settled_s = 0.05;
  return options;
}

TEST(Measure, TimesEachKernelOfARound) {
  const std::array kernels{&kShort, &kLong};
  const auto results = measure(kernels, make_problem(4, 4, 4), host_device(), quick());
  ASSERT_TRUE(results) << results.status().message();
  ASSERT_EQ(results.value().size(), 2U);
  const Measurement& shorter = results.value()[0];
  const Measurement& longer = results.value()[1];
  EXPECT_EQ(shorter.samples_ms.size(), longer.samples_ms.size());
  EXPECT_GE(shorter.ms.n, 5U);
  EXPECT_GE(shorter.ms.min, 2.0);
  EXPECT_GE(longer.ms.min, 6.0);
  EXPECT_LT(shorter.ms.median, longer.ms.median);
  EXPECT_GT(shorter.warmup_s, 0);
}

TEST(Measure, TakesTheLeastSamplesOfASlowKernel) {
  MeasureOptions options = quick();
  options.budget_s = 0;
  options.min_samples = 3;
  const std::array kernels{&kLong};
  const auto results = measure(kernels, make_problem(1, 1, 1), host_device(), options);
  ASSERT_TRUE(results);
  EXPECT_EQ(results.value()[0].samples_ms.size(), 3U);
}

TEST(Measure, StopsWhereInterrupted) {
  MeasureOptions options = quick();
  options.budget_s = 100;
  options.settled_s = 100;
  int asked = 0;
  options.interrupted = [&asked] { return ++asked > 30; };
  const std::array kernels{&kShort};
  const auto results = measure(kernels, make_problem(1, 1, 1), host_device(), options);
  ASSERT_TRUE(results);
  EXPECT_LE(results.value()[0].samples_ms.size(), 200U);
}

TEST(Measure, RefusesTheVirtualGpu) {
  Device device;
  device.has_cuda = device.is_virtual = true;
  const KernelInfo cuda{
      .id = "c", .rung = "c", .idea = "test", .accepts = accepts, .launch = fails};
  const std::array kernels{&cuda};
  const auto results = measure(kernels, make_problem(1, 1, 1), device, quick());
  EXPECT_EQ(results.status().code(), Code::kUnsupportedDevice);
  EXPECT_EQ(results.status().message(), "the virtual GPU has no clock worth measuring");
}

TEST(Measure, ReportsALaunchThatFails) {
  const std::array kernels{&kFailing};
  EXPECT_EQ(measure(kernels, make_problem(1, 1, 1), host_device(), quick()).status().code(),
            Code::kLaunchFailed);
}

// A kernel that does nothing leaves C's poison unchanged.
Status idles(const Problem&, const Operands&, Stream) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Status::ok();
}
Status fills(const Problem& p, const Operands& o, Stream) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (std::int64_t i = 0; i < p.m; ++i) std::fill_n(o.c + i * p.ldc, p.n, 1.0F);
  return Status::ok();
}

TEST(Measure, RaisesAnAlarmWhereNothingIsWritten) {
  const KernelInfo idle = on_host("i", idles), busy = on_host("b", fills);
  const std::array kernels{&idle, &busy};
  const auto results = measure(kernels, make_problem(5, 4, 3), host_device(), quick());
  ASSERT_TRUE(results) << results.status().message();
  ASSERT_EQ(results.value()[0].alarms.size(), 1U);
  EXPECT_EQ(results.value()[0].alarms[0], "C was not written while it was timed");
  EXPECT_TRUE(results.value()[1].alarms.empty());
}

TEST(Nvml, IsAbsentOrTells) {
  std::string why;
  const auto nvml = Nvml::open(0, &why);
  if (nvml == nullptr) {
    EXPECT_FALSE(why.empty());
  } else {
    EXPECT_TRUE(nvml->read().sm_clock_mhz.has_value());
  }
}

}  // namespace
}  // namespace ladder
