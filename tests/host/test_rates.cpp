// SPDX-License-Identifier: Apache-2.0
// Properties that the measured rates have on every machine; their values are not tested.
#include <gtest/gtest.h>

#include <string>

#include "../support/no_threads.hpp"
#include "host/rates.hpp"

namespace ladder::host {
namespace {

TEST(Rates, EveryRateIsMeasured) {
  const Rates rates = measure_rates(1);
  EXPECT_EQ(rates.threads, 1);
  EXPECT_NE(std::string(rates.target), "");
  for (const double rate : {rates.clock_hz, rates.fma_flops, rates.tile_flops, rates.l1_bandwidth,
                            rates.l2_bandwidth, rates.memory_bandwidth}) {
    EXPECT_GT(rate, 0);
    EXPECT_LT(rate, 1e15);
  }
}

TEST(Rates, AreThoseOfTheThreadsThatThereAre) {
  const test::NoThreads none;
  const Rates rates = measure_rates(2);
  EXPECT_EQ(rates.threads, 1);
  EXPECT_GT(rates.fma_flops, 0);
}

}  // namespace
}  // namespace ladder::host
