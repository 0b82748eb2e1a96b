// SPDX-License-Identifier: Apache-2.0
#include "measure/count.hpp"

#include <gtest/gtest.h>

#include "host/query.hpp"

namespace ladder {
namespace {

TEST(Counters, SumWhatAddsUpOverLaunches) {
  const auto counters = parse_counters(R"json({"device": "h200", "launches": [
    {"kernel": "f(int)", "grid": [2, 1, 1], "block": [32, 1, 1], "engine": "ptx",
     "metrics": {"smsp__inst_executed.sum": 5, "launch__registers_per_thread": 32}, "estimates": {"x.sum": 1}},
    {"kernel": "g(int)", "grid": [1, 1, 1], "block": [64, 2, 1], "engine": "ptx",
     "metrics": {"smsp__inst_executed.sum": 7, "launch__registers_per_thread": 40}}]})json");
  ASSERT_TRUE(counters) << counters.status().message();
  EXPECT_EQ(counters.value().launches.size(), 2U);
  EXPECT_EQ(counters.value().exact.at("smsp__inst_executed.sum"), 12U);
  EXPECT_EQ(counters.value().exact.count("launch__registers_per_thread"), 0U);
  EXPECT_EQ(counters.value().estimates.at("x.sum"), 1U);
  EXPECT_EQ(counters.value().launches[1].block[1], 2U);
  EXPECT_EQ(counters.value().launches[1].exact.at("launch__registers_per_thread"), 40U);
}

TEST(Counters, RejectOtherText) {
  for (const char* text : {"", "{}", "[1]", R"({"launches": [{"grid": 1}]})", "not json"}) {
    EXPECT_EQ(parse_counters(text).status().code(), Code::kIo) << text;
  }
}

TEST(Counters, NeedTheVirtualGpu) {
  const KernelInfo kernel{.id = "k", .rung = "k", .idea = "test", .place = Place::kHost};
  EXPECT_EQ(count(kernel, make_problem(1, 1, 1), host_device(), 1).status().code(),
            Code::kUnsupportedDevice);
}

}  // namespace
}  // namespace ladder
