// SPDX-License-Identifier: Apache-2.0
// SAME, FASTER, SLOWER or UNSURE: rows made by hand, and rows from a simulated machine whose kernel
// becomes slower.
#include "report/compare.hpp"

#include <gtest/gtest.h>

#include "../measure/fake_rig.hpp"
#include "sample_rows.hpp"

namespace ladder {
namespace {

Row row_of(double median_ms, double spread_ms, double mhz = 1980, std::size_t n = 21) {
  Row row = timed_row("r05_block_tile_2d", median_ms);
  std::vector<double>& samples = row.timing->samples_ms;
  samples.clear();
  for (std::size_t i = 0; i < n; ++i)
    samples.push_back(median_ms +
                      spread_ms * (2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1));
  row.timing->ms = describe(samples);
  row.timing->telemetry = summarize(std::vector<Telemetry>{{mhz, 600, 50}});
  return row;
}

Change change(const Row& before, const Row& now) {
  return compare(before, now, CompareOptions{}).change;
}

TEST(Compare, ByTheDistanceAndTheQuartiles) {
  EXPECT_EQ(change(row_of(10, 0.1), row_of(10, 0.1)), Change::kSame);
  EXPECT_EQ(change(row_of(10, 0.01), row_of(10.15, 0.01)),
            Change::kSame);  // different, but by less than the tolerance
  EXPECT_EQ(change(row_of(10, 0.1), row_of(10.5, 0.1)), Change::kSlower);
  EXPECT_EQ(change(row_of(10, 0.1), row_of(9.5, 0.1)), Change::kFaster);
  EXPECT_EQ(change(row_of(10, 1), row_of(10.5, 1)), Change::kUnsure);  // the quartiles overlap
  EXPECT_EQ(change(row_of(10, 0.1, 1980, 4), row_of(20, 0.1)), Change::kUnsure);
}

TEST(Compare, WhatWasMeasuredInAnotherWayIsUnsure) {
  Row replayed = row_of(10, 0.1);
  Row alone = row_of(11, 0.1);
  replayed.timing->launches_per_sample = 50;
  alone.timing->launches_per_sample = 1;
  EXPECT_EQ(change(replayed, alone), Change::kUnsure);
}

TEST(Compare, InCyclesNotInTime) {
  // The chip ran at 90% of its clock: the launch took longer and as many cycles.
  EXPECT_EQ(change(row_of(10, 0.1, 1980), row_of(11, 0.1, 1800)), Change::kSame);
  // The reverse: the same time at a lower clock.
  EXPECT_EQ(change(row_of(10, 0.01, 1980), row_of(10, 0.01, 1905)), Change::kFaster);
  // At a much lower clock other kernels ran in the same rounds, or memory binds it.
  EXPECT_EQ(change(row_of(10, 0.01, 1980), row_of(10, 0.01, 1800)), Change::kUnsure);
  EXPECT_EQ(change(row_of(10, 0.01, 1800), row_of(10, 0.01, 1980)), Change::kUnsure);
  EXPECT_EQ(change(row_of(10, 0.01, 1800), row_of(10.5, 0.01, 1980)), Change::kSlower);
  // Faster in time, slower in cycles.
  EXPECT_EQ(change(row_of(10, 0.01, 1600), row_of(9.5, 0.01, 1980)), Change::kUnsure);
  EXPECT_EQ(change(row_of(10, 0.01, 1980), row_of(10.5, 0.01, 1600)), Change::kUnsure);
  Row no_clock = row_of(10.5, 0.1);
  no_clock.timing->telemetry = {};
  EXPECT_EQ(change(row_of(10, 0.1), no_clock), Change::kUnsure);
  // Unless the clock cannot explain it.
  Row far = row_of(1000, 0.1);
  far.timing->telemetry = {};
  EXPECT_EQ(change(row_of(10, 0.1), far), Change::kSlower);
  EXPECT_EQ(change(far, row_of(10, 0.1)), Change::kFaster);
  Row neither = row_of(10, 0.1);
  neither.timing->telemetry = {};
  EXPECT_EQ(change(neither, no_clock), Change::kSlower);  // in time, if there are no cycles
}

TEST(Compare, WhatHasNoTimeNowHasFailed) {
  Row failed = row_of(10, 0.1);
  failed.verdict.outcome = Outcome::kNan;
  failed.verdict.reason = "an element is NaN";
  const RowChange result = compare(row_of(10, 0.1), failed, {});
  EXPECT_EQ(result.change, Change::kFailed);
  EXPECT_EQ(result.reason, "an element is NaN");
  Row alarmed = row_of(10, 0.1);
  alarmed.timing->alarms = {"below the floor"};
  EXPECT_EQ(compare(row_of(10, 0.1), alarmed, {}).reason, "below the floor");
  EXPECT_EQ(change(failed, row_of(10, 0.1)), Change::kNew);
}

TEST(Compare, MatchesRowsAndNamesTheOthers) {
  std::vector<Row> before{row_of(10, 0.1), timed_row("gone", 1)};
  std::vector<Row> now{row_of(10, 0.1), timed_row("new", 1)};
  now[0].timing->copies = before[0].timing->copies;
  const auto changes = compare(before, now, {});
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].change, Change::kSame);
  EXPECT_EQ(changes[1].change, Change::kNew);
  EXPECT_EQ(changes[2].change, Change::kGone);
  EXPECT_EQ(summary(changes), "SAME 1, NEW 1, GONE 1");
  EXPECT_TRUE(passes(changes));
  now[0].timing->copies = 1;  // warm against cold is not comparable
  EXPECT_EQ(compare(before, now, {})[0].change, Change::kNew);
  now = {row_of(11, 0.1), timed_row("gone", 1)};
  EXPECT_FALSE(passes(compare(before, now, {})));
  EXPECT_EQ(summary({}), "nothing to compare");
  EXPECT_FALSE(passes({}));
  EXPECT_EQ(table(changes).size(), 4U);
}

// Many kernels on a machine with the noise of an H200's rounds; some runs are 0.5% off as a whole,
// as happens when operands have other addresses.
std::vector<Row> run_of(std::uint64_t seed, double slower) {
  constexpr std::size_t kKernels = 40;
  const auto drift = [&](std::size_t kernel) { return noise(seed, 1000 + kernel, 0.005); };
  FakeRig rig(kKernels, [&](std::size_t i, std::size_t round) {
    const double at_home = 0.1 * static_cast<double>(i + 1);
    return at_home * drift(i) * noise(seed + i, round, 0.01) * (i == 7 ? slower : 1);
  });
  rig.sensors = [](double) { return Telemetry{1980, 650, 60, std::nullopt}; };
  MeasureOptions options;
  options.max_samples = 60;
  const auto results = sample(rig, options).value();
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kKernels; ++i) {
    rows.push_back(timed_row("kernel_" + std::to_string(i), 1));
    rows.back().timing = results[i];
  }
  return rows;
}

TEST(Compare, TwoRunsOfTheSameAreTheSame) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto changes = compare(run_of(seed, 1), run_of(seed + 100, 1), {});
    std::size_t same = 0;
    for (const RowChange& c : changes) same += c.change == Change::kSame ? 1 : 0;
    EXPECT_GE(static_cast<double>(same), 0.95 * static_cast<double>(changes.size()))
        << "seed " << seed;
    EXPECT_TRUE(passes(changes)) << "seed " << seed;
  }
}

TEST(Compare, FindsASlowdownOfFivePerCentAndOnlyThat) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto changes = compare(run_of(seed, 1), run_of(seed + 100, 1.05), {});
    for (std::size_t i = 0; i < changes.size(); ++i)
      EXPECT_EQ(changes[i].change == Change::kSlower, i == 7)
          << "seed " << seed << ", kernel " << i;
    EXPECT_FALSE(passes(changes));
  }
}

}  // namespace
}  // namespace ladder
