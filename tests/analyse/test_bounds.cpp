// SPDX-License-Identifier: Apache-2.0
// Work, traffic and bounds, compared with the figures of the published analyses of these problems.
// Where a published figure is rounded, ours is rounded in the same way first.
#include "analyse/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ladder::analyse {
namespace {

double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

Machine machine(const char* id, bool base_clock = false) {
  Machine m = find_machine(id).value();
  if (base_clock) m.clock_hz = m.base_clock_hz;
  return m;
}

// C = alpha A B + beta C, as in the articles: C is read.
Problem square(std::int64_t n) { return make_problem(n, n, n, 1, 1); }

TEST(PublishedBounds, work_at_4092_is_137_gflop) {  // worklog, kernel 1: "2 N^3 + N^2"
  const Work work = work_of(square(4092));
  EXPECT_DOUBLE_EQ(work.flop, 2.0 * 4092 * 4092 * 4092 + 4092.0 * 4092);
  EXPECT_EQ(rounded(work.flop / 1e9, 0), 137);
  EXPECT_EQ(rounded(work_of(square(4096)).flop / 1e9, 0), 137);
}

TEST(PublishedBounds,
     least_traffic_at_4092_is_268_mb) {  // worklog, kernel 1; notes on kernels 1 to 10
  const Work work = work_of(square(4092));
  EXPECT_EQ(rounded(work.a_bytes / 1e6, 0), 67);
  EXPECT_EQ(rounded(work.read_bytes / 1e6, 0), 201);
  EXPECT_EQ(rounded(work.write_bytes / 1e6, 0), 67);
  EXPECT_EQ(rounded(work.least_bytes() / 1e6, 0), 268);
  EXPECT_EQ(std::floor(work.intensity()), 511);
  EXPECT_EQ(rounded(work_of(square(4096)).least_bytes() / 1e6, 0), 268);
}

TEST(PublishedBounds,
     a6000_is_4_5_ms_by_arithmetic_and_0_35_ms_by_bytes) {  // at its base clock: 30 TFLOP/s
  const Machine a6000 = machine("a6000", true);
  EXPECT_EQ(rounded(a6000.peak_flops() / 1e12, 0), 30);
  EXPECT_EQ(rounded(a6000.bandwidth / 1e9, 0), 768);
  for (const std::int64_t n : {4092, 4096}) {
    const Bounds bounds = bounds_of(work_of(square(n)), a6000);
    EXPECT_EQ(rounded(bounds.ridge, 0), 39);
    EXPECT_EQ(rounded(bounds.compute_s * 1e3, 1), 4.5);
    EXPECT_EQ(rounded(bounds.memory_s * 1e3, 2), 0.35);
    EXPECT_TRUE(bounds.compute_binds());
  }
}

TEST(PublishedBounds,
     naive_kernel_without_reuse_moves_548_gb) {  // worklog, kernel 1: 2N + 1 loads per thread
  const Problem p = square(4092);
  const Traffic traffic = uncached_traffic(p, 2.0 * 4092);
  EXPECT_EQ(traffic.loads_per_result, 2.0 * 4092 + 1);
  EXPECT_EQ(rounded(traffic.bytes / 1e9, 0), 548);
  EXPECT_EQ(rounded(traffic.intensity, 2), 0.25);
  EXPECT_EQ(rounded(traffic.over_least / 1e3, 0), 2);  // "more than two thousand times"
  EXPECT_GT(traffic.over_least, 2000);
}

TEST(PublishedBounds, rtx5070ti_peak_is_44_tflops) {  // introduction: 70 SMs x 128 x 2 x 2.45 GHz
  const Machine m = machine("rtx5070ti");
  EXPECT_EQ(m.sm_count, 70);
  EXPECT_EQ(m.fp32_lanes, 128);
  EXPECT_EQ(m.sm_count * m.fp32_lanes, 8960);
  EXPECT_EQ(rounded(m.clock_hz / 1e9, 2), 2.45);
  EXPECT_EQ(rounded(m.peak_flops() / 1e12, 0), 44);
}

TEST(Bounds, nothing_is_read_that_the_conventions_do_not_read) {
  EXPECT_EQ(work_of(make_problem(8, 8, 8)).read_bytes, 2.0 * 8 * 8 * 4);
  EXPECT_EQ(work_of(make_problem(8, 8, 8, 0, 0)).read_bytes, 0);
  EXPECT_EQ(work_of(make_problem(8, 8, 8, 0, 0)).flop, 0);
  EXPECT_EQ(work_of(make_problem(0, 8, 8)).least_bytes(), 0);
}

TEST(Bounds, thin_problems_are_bound_by_memory) {
  EXPECT_FALSE(bounds_of(work_of(make_problem(1, 4096, 4096)), machine("h200")).compute_binds());
}

TEST(Machine, an_unknown_name_is_refused_with_the_known_ones) {
  const auto none = find_machine("abacus");
  ASSERT_FALSE(none);
  EXPECT_NE(none.status().message().find("abacus"), std::string::npos);
  EXPECT_NE(none.status().message().find("h200"), std::string::npos);
}

}  // namespace
}  // namespace ladder::analyse
