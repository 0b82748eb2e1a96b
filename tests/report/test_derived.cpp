// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sample_rows.hpp"

namespace ladder {
namespace {

TEST(Derived, RatesOfATimedRow) {
  const Row row = sample_document().rows[0];
  const Derived d = derive(row);
  EXPECT_NEAR(*d.tflops, 2 * 4096.0 * 4096 * 4096 / 22e-3 * 1e-12, 1e-9);
  EXPECT_NEAR(*d.percent_of_baseline, 100 * 2.7 / 22, 1e-9);
  EXPECT_NEAR(*d.percent_of_peak, 100 * *d.tflops / 66.9, 1e-9);
  EXPECT_EQ(*d.sm_clock_mhz, 1975);
  EXPECT_EQ(*d.power_w, 695);
  EXPECT_EQ(*d.temperature_c, 60.5);
  EXPECT_FALSE(d.roofline_tflops);
}

TEST(Derived, PeakAtTheClockThatWasMeasured) {
  Row row = sample_document().rows[0];
  row.device.sm_clock_hz = 1980e6;
  const Derived d = derive(row);
  EXPECT_NEAR(*d.percent_of_peak_at_clock, *d.percent_of_peak * 1980 / 1975, 1e-9);
  row.device.sm_clock_hz = 0;  // not known
  EXPECT_FALSE(derive(row).percent_of_peak_at_clock);
  EXPECT_NEAR(*d.cycles, 22e-3 * 1975e6, 1e-3);
}

TEST(Derived, NoRateWhereThereIsAnAlarm) {
  Row row = sample_document().rows[0];
  row.timing->alarms = {"too good"};
  EXPECT_FALSE(derive(row).tflops);
  EXPECT_FALSE(derive(row).percent_of_peak);
}

TEST(Derived, NoRateWithoutAPassedVerdict) {
  for (const Outcome outcome :
       {Outcome::kWrongValue, Outcome::kNan, Outcome::kRefused, Outcome::kNotVerified}) {
    Row row = sample_document().rows[0];
    row.verdict.outcome = outcome;
    const Derived d = derive(row);
    EXPECT_FALSE(d.tflops);
    EXPECT_FALSE(d.percent_of_baseline);
    EXPECT_FALSE(d.percent_of_peak);
  }
}

TEST(Derived, NoPercentOfAnFp32PeakForTf32) {
  Row row = sample_document().rows[0];
  row.precision = Precision::kTf32;
  EXPECT_TRUE(derive(row).tflops);
  EXPECT_FALSE(derive(row).percent_of_peak);
}

TEST(Derived, FiguresOfACountedRow) {
  const Row row = counted_row();
  const Derived d = derive(row);
  EXPECT_EQ(*d.sectors_per_load, 4);
  EXPECT_EQ(*d.sectors_per_store, 32);
  EXPECT_EQ(*d.bytes_requested, 7200 * 32);
  EXPECT_NEAR(*d.requested_over_least, 7200 * 32 / (3 * 256.0 * 256 * 4), 1e-12);
  EXPECT_NEAR(*d.flop_per_byte, 2 * 256.0 * 256 * 256 / (7200 * 32), 1e-9);
  // 145 FLOP/byte are right of the ridge (66.9 / 4.8 = 14): the peak binds, with the least bytes
  // too.
  EXPECT_NEAR(*d.roofline_tflops, 66.9, 1e-9);
  EXPECT_NEAR(*d.ceiling_tflops, 66.9, 1e-9);
}

TEST(Derived, BandwidthBindsLeftOfTheRidge) {
  Row row = counted_row();
  row.counters->exact[kLoadSectors] = 1'000'000;
  const Derived d = derive(row);
  EXPECT_NEAR(*d.roofline_tflops, *d.flop_per_byte * 4.8, 1e-9);
  EXPECT_LT(*d.roofline_tflops, 66.9);
}

TEST(Derived, TheCopyEnginesBytesAreRequestedToo) {
  Row row = counted_row();
  row.counters->exact[kBulkLoadBytes] = 1000;
  row.counters->exact[kBulkStoreBytes] = 24;
  EXPECT_EQ(*derive(row).bytes_requested, 7200 * 32 + 1024);
}

TEST(Derived, FiguresThatRestOnAnEstimateSaySo) {
  Row row = counted_row();
  EXPECT_FALSE(derive(row).counts_estimated);
  row.counters->estimates[kLoadSectors] = row.counters->exact[kLoadSectors];
  row.counters->exact.erase(kLoadSectors);
  const Derived d = derive(row);
  EXPECT_TRUE(d.counts_estimated);
  EXPECT_EQ(*d.bytes_requested, 7200 * 32);
}

TEST(Derived, TensorCoresHaveARoofOfTheirOwn) {
  Row row = counted_row();
  row.device.cc = 90;
  row.device.sm_count = 132;
  row.device.sm_clock_hz = 1.83e9;
  row.device.memory_bandwidth = 1e18;  // far right of the ridge
  row.precision = Precision::kBf16;
  EXPECT_NEAR(*derive(row).roofline_tflops, 989.4, 0.1);  // H100 SXM5, dense, NVIDIA's data sheet
  row.precision = Precision::kTf32;
  EXPECT_NEAR(*derive(row).roofline_tflops, 494.7, 0.1);
  row.precision = Precision::kBf16x6;
  EXPECT_NEAR(*derive(row).roofline_tflops, 989.4 / 6, 0.1);
  row.device.cc = 86;  // rate depends on the product line
  EXPECT_FALSE(derive(row).roofline_tflops);
  row.device.cc = 90;
  row.precision = Precision::kAuto;
  EXPECT_FALSE(derive(row).roofline_tflops);
}

TEST(Derived, MissingMetricsLeaveFiguresOut) {
  Row row = counted_row();
  row.counters->exact.erase(kStoreSectors);
  const Derived d = derive(row);
  EXPECT_TRUE(d.sectors_per_load);
  EXPECT_FALSE(d.sectors_per_store);
  EXPECT_FALSE(d.bytes_requested);
  EXPECT_FALSE(d.roofline_tflops);
  row.device.memory_bandwidth = 0;
  EXPECT_FALSE(derive(row).roofline_tflops);
}

}  // namespace
}  // namespace ladder
