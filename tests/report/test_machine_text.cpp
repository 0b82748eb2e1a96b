// SPDX-License-Identifier: Apache-2.0
#include "report/machine_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

namespace ladder {
namespace {

host::Rates sound() {
  host::Rates r;
  r.threads = 1;
  r.target = "AVX3";
  r.clock_hz = 3.1e9;
  r.fma_flops = 180e9, r.fma_clock_hz = 2.9e9;
  r.tile_flops = 170e9, r.tile_clock_hz = 2.8e9;
  r.l1_bandwidth = 300e9, r.l2_bandwidth = 90e9, r.memory_bandwidth = 12e9;
  return r;
}

// No "0 GHz", no "nan", no "-" in place of a figure.
bool has_nonsense(const std::string& text) {
  return std::regex_search(
      text, std::regex("(^|[^0-9.])(0|-|-?nan|-?inf) (GHz|GB/s|GFLOP/s|GiB|MiB|thread)"));
}

TEST(RatesText, ShowsWhatIsSound) {
  EXPECT_EQ(rates_text(sound()),
            "measured, AVX3: 180 GFLOP/s of FP32 multiply-adds at 2.90 GHz; 170 GFLOP/s of those "
            "with operands from L1 at 2.80 GHz; 3.10 GHz with scalar additions; reads 300 GB/s "
            "from L1, 90.0 GB/s from L2, 12.0 GB/s from memory");
}

TEST(RatesText, LeavesOutWhatCannotBe) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (double host::Rates::*field :
       {&host::Rates::clock_hz, &host::Rates::fma_clock_hz, &host::Rates::tile_clock_hz,
        &host::Rates::fma_flops, &host::Rates::tile_flops, &host::Rates::l1_bandwidth,
        &host::Rates::l2_bandwidth, &host::Rates::memory_bandwidth}) {
    for (const double value : {0.0, -1.0, 12.0, 1e20, nan, inf, -inf}) {
      host::Rates rates = sound();
      rates.*field = value;
      const std::string text = rates_text(rates);
      EXPECT_FALSE(has_nonsense(text)) << text;
      EXPECT_NE(text.find("left out"), std::string::npos) << text;
      EXPECT_NE(text.find("measured, AVX3"), std::string::npos) << text;
    }
  }
}

TEST(RatesText, NothingMeasuredSaysSo) {
  const std::string text = rates_text({});
  EXPECT_FALSE(has_nonsense(text)) << text;
  EXPECT_EQ(text.substr(0, 16), "nothing measured");
}

TEST(RatesText, MemoryIsNotFasterThanACache) {
  host::Rates rates = sound();
  rates.memory_bandwidth = 2 * rates.l2_bandwidth;
  EXPECT_NE(rates_text(rates).find("left out"), std::string::npos);
}

TEST(RatesText, AClockHalvedByOtherWorkIsNoClock) {
  host::Rates rates = sound();
  rates.clock_hz = rates.fma_clock_hz / 2;
  EXPECT_EQ(rates_text(rates).find("GHz with scalar additions"), std::string::npos);
}

TEST(ProcessorsText, NamesEveryLimit) {
  EXPECT_EQ(processors_text("Xeon", {8, 8, std::nullopt}), "Xeon, 8 threads");
  EXPECT_EQ(processors_text("Xeon", {8, 4, std::nullopt}),
            "Xeon, 8 threads, of which this process may use 4");
  EXPECT_EQ(processors_text("Xeon", {8, 8, 1.5}),
            "Xeon, 8 threads; a control group limits it to the time of 1.50");
  EXPECT_EQ(processors_text("Xeon", {8, 8, 16.0}), "Xeon, 8 threads");
  EXPECT_EQ(processors_text(std::nullopt, {std::nullopt, 1, std::nullopt}),
            "name unknown, 1 thread");
  EXPECT_FALSE(has_nonsense(processors_text(std::nullopt, {})));
}

TEST(MemoryText, IsNeverZeroForUnknown) {
  EXPECT_EQ(memory_text(std::uint64_t{3} << 29), "1.5 GiB available");
  EXPECT_EQ(memory_text(std::uint64_t{100} << 20), "100 MiB available");
  EXPECT_NE(memory_text(std::nullopt).find("unknown"), std::string::npos);
  EXPECT_NE(memory_text(std::numeric_limits<std::uint64_t>::max()).find("unknown"),
            std::string::npos);
}

}  // namespace
}  // namespace ladder
