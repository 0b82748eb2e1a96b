// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <gtest/gtest.h>

#include "sample_rows.hpp"

namespace ladder {
namespace {

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Chart, HasABarARungAndALineForCublas) {
  Document document = sample_document();
  document.rows.push_back(timed_row("r03_smem_tile_32", 15));
  const auto svg = climb_chart(std::span(&document, 1));
  ASSERT_TRUE(svg) << svg.status().message();
  EXPECT_EQ(occurrences(svg.value(), "class=\"bar\""), 2U);
  EXPECT_EQ(occurrences(svg.value(), "class=\"base\""), 1U);
  EXPECT_NE(svg.value().find("TFLOP/s at 4096x4096x4096"), std::string::npos);
  EXPECT_NE(svg.value().find("cublas_ieee 50.9"), std::string::npos);
  EXPECT_NE(svg.value().find("an idea &amp; &lt;more&gt;"), std::string::npos);
  EXPECT_EQ(svg.value().find("nan"), std::string::npos);
}

TEST(Chart, LeavesOutWhatFailed) {
  Document document = sample_document();
  document.rows.push_back(timed_row("r03_smem_tile_32", 15));
  document.rows[0].verdict.outcome = Outcome::kWrongValue;
  const auto svg = climb_chart(std::span(&document, 1));
  ASSERT_TRUE(svg);
  EXPECT_EQ(svg.value().find("r02_coalesced"), std::string::npos);
}

Document sizes_document() {
  Document document;
  for (const char* kernel : {"r01_naive", "r02_coalesced", "cublas_ieee"}) {
    for (const std::int64_t n : {128, 1024, 4096}) {
      Row row = timed_row(kernel, 10, kernel[0] == 'c' ? Role::kBaseline : Role::kRung);
      row.problem = make_problem(n, n, n);
      document.rows.push_back(row);
    }
  }
  document.rows[2].timing.reset();  // r01 at 4096: left out
  return document;
}

TEST(SizesChart, HasALineAKernelAndAPointARow) {
  const Document document = sizes_document();
  const auto svg = sizes_chart(std::span(&document, 1));
  ASSERT_TRUE(svg) << svg.status().message();
  EXPECT_EQ(occurrences(svg.value(), "<polyline"), 3U);
  EXPECT_EQ(occurrences(svg.value(), "<circle"), 8U);
  EXPECT_EQ(occurrences(svg.value(), "stroke-dasharray"), 1U);
  EXPECT_NE(svg.value().find("cublas_ieee at 4096: 13.7"), std::string::npos);
  EXPECT_EQ(svg.value().find("nan"), std::string::npos);
}

TEST(SizesChart, MixesNeitherShapesNorStatesOfTheCacheNorPrecisions) {
  Document document = sizes_document();
  document.rows[0].problem = make_problem(128, 64, 128);
  document.rows[4].timing->copies = 1;
  document.rows[5].precision = Precision::kTf32;
  const auto svg = sizes_chart(std::span(&document, 1));
  ASSERT_TRUE(svg);
  EXPECT_EQ(occurrences(svg.value(), "<circle"), 5U);
  document.rows.clear();
  EXPECT_EQ(sizes_chart(std::span(&document, 1)).status().code(), Code::kInvalidArgument);
}

TEST(Chart, RefusesToDrawNothing) {
  Document document;
  EXPECT_EQ(climb_chart(std::span(&document, 1)).status().code(), Code::kInvalidArgument);
  document.rows = {counted_row()};
  EXPECT_EQ(climb_chart(std::span(&document, 1)).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace ladder
