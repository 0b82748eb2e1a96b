// SPDX-License-Identifier: Apache-2.0
// Rows of the accuracy atlas are unchanged by writing and reading; the table has one column per
// kernel, and the chart has the deepest sum.
#include <gtest/gtest.h>

#include "report/atlas.hpp"

namespace ladder {
namespace {

Atlas sample() {
  Atlas atlas{"2026-01-02T03:04:05Z", "abc", "a device", "13.1", {}};
  for (const std::int64_t k : {256, 1024}) {
    for (const char* kernel : {"one", "two"}) {
      AtlasRow row{kernel, Precision::kFp16x3, Distribution::kSpread2, make_problem(8, 9, k), {},
                   ""};
      row.errors.normwise = 1e-7;
      row.errors.componentwise = 2e-8 * static_cast<double>(k);
      row.errors.ulps[3] = 17;
      atlas.rows.push_back(row);
    }
  }
  atlas.rows.back().chosen = "bf16x6";
  return atlas;
}

TEST(Atlas, FileHasWhatWasWritten) {
  const Atlas before = sample();
  const auto after = atlas_from_json(to_json(before));
  ASSERT_TRUE(after) << after.status().message();
  EXPECT_EQ(to_json(after.value()), to_json(before));
  EXPECT_EQ(after.value().rows.back().chosen, "bf16x6");
  EXPECT_EQ(after.value().rows[2].problem, before.rows[2].problem);
  EXPECT_EQ(after.value().rows[1].errors.ulps[3], 17U);
}

TEST(Atlas, OtherFilesAreRefused) {
  EXPECT_EQ(atlas_from_json("{}").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(atlas_from_json("no JSON").status().code(), Code::kInvalidArgument);
  std::string text = to_json(sample());
  text.replace(text.find("spread 2"), 8, "spread 9");
  EXPECT_FALSE(atlas_from_json(text));
}

TEST(Atlas, TableHasAColumnAKernelAndSaysWhatWasChosen) {
  const std::string table = atlas_markdown(sample());
  EXPECT_NE(table.find("| data | one | two |"), std::string::npos) << table;
  EXPECT_NE(table.find("**8x9x1024**"), std::string::npos);
  EXPECT_NE(table.find("bf16x6"), std::string::npos);
  EXPECT_EQ(table.find("| uniform |"), std::string::npos);  // not measured, not shown
}

TEST(Atlas, TableNamesWhereAGuardedProductIsFurtherOffThanSgemm) {
  Atlas atlas{"2026-01-02T03:04:05Z", "abc", "a device", "13.1", {}};
  const auto add = [&](const char* kernel, Precision precision, Distribution data,
                       double normwise) {
    AtlasRow row{kernel, precision, data, make_problem(8, 9, 256), {}, ""};
    row.errors.normwise = row.errors.componentwise = normwise;
    atlas.rows.push_back(row);
  };
  // no reference to compare with
  EXPECT_EQ(atlas_markdown(sample()).find("SGEMM"), std::string::npos);
  add("cublas_ieee", Precision::kIeee, Distribution::kUniform, 4e-7);
  add("guarded", Precision::kAuto, Distribution::kUniform, 1e-7);
  EXPECT_NE(atlas_markdown(atlas).find("Nowhere"), std::string::npos);
  add("cublas_ieee", Precision::kIeee, Distribution::kCancelling, 1e-5);
  add("guarded", Precision::kAuto, Distribution::kCancelling, 3e-5);
  const std::string table = atlas_markdown(atlas);
  EXPECT_NE(table.find("- guarded, 8x9x256, cancelling: 3.00 and 3.00"), std::string::npos)
      << table;
  EXPECT_EQ(table.find("- guarded, 8x9x256, uniform"), std::string::npos);
}

TEST(Atlas, ChartHasTheDeepestSum) {
  const auto chart = atlas_chart(sample());
  ASSERT_TRUE(chart) << chart.status().message();
  EXPECT_NE(chart.value().spec.find("8x9x1024"), std::string::npos);
  EXPECT_EQ(chart.value().spec.find("8x9x256"), std::string::npos);
  EXPECT_FALSE(atlas_chart(Atlas{}));
}

}  // namespace
}  // namespace ladder
