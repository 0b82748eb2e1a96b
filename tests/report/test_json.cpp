// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sample_rows.hpp"

namespace ladder {
namespace {

TEST(Json, ComesBackAsItWent) {
  const std::string text = to_json(sample_document());
  const auto back = from_json(text, "test");
  ASSERT_TRUE(back) << back.status().message();
  EXPECT_EQ(to_json(back.value()), text);
  EXPECT_EQ(back.value().rows.size(), 3U);
  EXPECT_EQ(back.value().rows[0].timing->ms.n, 3U);
  EXPECT_EQ(back.value().rows[0].timing->telemetry, sample_document().rows[0].timing->telemetry);
  EXPECT_EQ(back.value().rows[0].baseline->kernel, "cublas_ieee");
  EXPECT_EQ(back.value().rows[2].counters->launches[0].exact.at(kLoadSectors), 4000U);
  EXPECT_EQ(back.value().environment.power_limit_w, 700);
  EXPECT_FALSE(back.value().environment.max_sm_clock_mhz);
}

TEST(Json, HasQuantilesAndNoSamples) {
  const auto timing = nlohmann::json::parse(to_json(sample_document()))["rows"][0]["timing"];
  EXPECT_FALSE(timing.contains("samples_ms"));
  EXPECT_EQ(timing["ms"].dump(),
            R"({"mad":0.22,"max":22.22,"median":22.0,"min":21.78,"n":3,"p25":21.89,"p5":21.802,)"
            R"("p75":22.11,"p95":22.198})");
  EXPECT_EQ(timing["telemetry"]["sm_clock_mhz"].dump(),
            R"({"max":1980.0,"median":1975.0,"min":1970.0})");
  EXPECT_EQ(timing["telemetry"]["clock_reasons"], 4);
}

TEST(Json, TheDeviceIsWrittenIfItIsNotTheEnvironments) {
  const auto rows = nlohmann::json::parse(to_json(sample_document()))["rows"];
  EXPECT_TRUE(rows[0]["device"].is_null());
  EXPECT_EQ(rows[2]["device"]["virtual"], true);
  const auto back = from_json(to_json(sample_document()), "test");
  EXPECT_EQ(back.value().rows[0].device.fp32_flops, sample_document().rows[0].device.fp32_flops);
}

TEST(Json, CasesThatFailedAreListedAndOthersCounted) {
  Document document = sample_document();
  Row& row = document.rows[0];
  CaseResult wrong = row.verdict.cases[0];
  wrong.problem = make_problem(33, 17, 5, -2, 0.5F, Op::kTranspose, Op::kNone, Layout::kColMajor);
  wrong.problem.ldb = 99;
  wrong.problem.in = Type::kBf16;
  wrong.input = {Values::kScaled, 7, true};
  wrong.errors = {true, 1.2345612e-7, std::numeric_limits<double>::quiet_NaN(), 0.5};
  wrong.outcome = Outcome::kWrongValue;
  wrong.reason = "C(0,0) is 1";
  CaseResult refused = row.verdict.cases[0];
  refused.outcome = Outcome::kRefused;
  row.verdict = summarize({row.verdict.cases[0], wrong, refused, row.verdict.cases[0]});
  const std::string text = to_json(document);
  const auto verdict = nlohmann::json::parse(text)["rows"][0]["verdict"];
  ASSERT_EQ(verdict["failed"].size(), 1U);
  EXPECT_EQ(
      verdict["failed"][0]["problem"].dump(),
      R"({"alpha":-2.0,"beta":0.5,"in":"bf16","k":5,"layout":"col","ldb":99,"m":33,"n":17,"op_a":"T"})");
  const auto back = from_json(text, "test");
  ASSERT_TRUE(back) << back.status().message();
  const Verdict& read = back.value().rows[0].verdict;
  EXPECT_EQ(read.outcome, Outcome::kWrongValue);
  EXPECT_EQ(read.passed, 2U);
  EXPECT_EQ(read.refused, 1U);
  ASSERT_EQ(read.cases.size(), 1U);
  EXPECT_EQ(read.cases[0].problem, wrong.problem);
  EXPECT_EQ(read.cases[0].input, wrong.input);
  EXPECT_DOUBLE_EQ(read.cases[0].errors.normwise, 1.23456e-7);
  EXPECT_TRUE(std::isnan(read.cases[0].errors.componentwise));
  EXPECT_EQ(to_json(back.value()), text);
}

TEST(Json, ReadsVersion2) {
  nlohmann::json older = nlohmann::json::parse(to_json(sample_document()));
  older["version"] = 2;
  auto& row = older["rows"][0];
  row["device"] = older["environment"]["device"];
  row["verdict"].erase("failed");
  row["verdict"]["cases"] = {{{"name", "shape"}, {"problem", row["problem"]}}};
  row["timing"]["ms"] = nullptr;
  row["timing"]["samples_ms"] = {22.22, 22, 21.78};
  row["timing"]["telemetry"] = {{"sm_clock_mhz", {1980, 1970, nullptr}},
                                {"power_w", {690, 700, 695}},
                                {"temperature_c", {60, nullptr, 61}},
                                {"clock_reasons", {nullptr, nullptr, 4}}};
  row["baseline"]["timing"]["telemetry"] = nullptr;
  const auto document = from_json(older.dump(), "test");
  ASSERT_TRUE(document) << document.status().message();
  EXPECT_EQ(to_json(document.value()), to_json(sample_document()));
}

TEST(Json, TheBaselineHasOnlyWhatDiffersFromTheRow) {
  Document document = sample_document();
  document.rows[0].baseline->measurement.launches_per_sample = 30;
  const std::string text = to_json(document);
  const auto timing = nlohmann::json::parse(text)["rows"][0]["baseline"]["timing"];
  EXPECT_EQ(timing.size(), 2U);
  EXPECT_EQ(timing["ms"]["median"], 2.7);
  EXPECT_EQ(timing["launches_per_sample"], 30);
  const Row row = from_json(text, "test").value().rows[0];
  EXPECT_EQ(row.baseline->measurement.launches_per_sample, 30);
  EXPECT_EQ(row.baseline->measurement.telemetry, row.timing->telemetry);
  EXPECT_EQ(row.baseline->measurement.throttled, 3U);
}

TEST(Json, IsOneLineARow) {
  const std::string text = to_json(sample_document());
  EXPECT_EQ(std::ranges::count(text, '\n'), 2 + 1 + 3 + 1);
}

TEST(Json, NotANumberIsNullAndStaysSo) {
  Document document = sample_document();
  document.rows[0].errors.of_bound = std::numeric_limits<double>::infinity();
  const std::string text = to_json(document);
  EXPECT_TRUE(nlohmann::json::parse(text)["rows"][0]["errors"]["of_bound"].is_null());
  const auto back = from_json(text, "test");
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::isnan(back.value().rows[0].errors.of_bound));
}

TEST(Json, NoRateOfAFailedRow) {
  Document document = sample_document();
  document.rows[0].verdict.outcome = Outcome::kNan;
  const auto json = nlohmann::json::parse(to_json(document));
  EXPECT_FALSE(json["rows"][0]["derived"].contains("tflops"));
  EXPECT_EQ(json["rows"][0]["verdict"]["outcome"], "nan");
}

TEST(Json, ControlBytesInAReasonAreHarmless) {
  Document document = sample_document();
  document.rows[0].verdict.reason = "bad byte \xFF and \x01";
  EXPECT_TRUE(from_json(to_json(document), "test"));
}

TEST(Json, RejectsOtherFilesInOneLine) {
  nlohmann::json later = nlohmann::json::parse(to_json(sample_document()));
  later["version"] = 99;
  nlohmann::json earlier = later;
  earlier["version"] = 1;
  nlohmann::json torn = nlohmann::json::parse(to_json(sample_document()));
  torn["rows"][0].erase("verdict");
  for (const std::string& text :
       {std::string(""), std::string("{}"), std::string("[]"), later.dump(), earlier.dump(),
        torn.dump(), to_json(sample_document()).substr(0, 500)}) {
    const auto document = from_json(text, "rows.json");
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.status().code(), Code::kIo);
    EXPECT_EQ(document.status().message().find("rows.json: not a file of rows: "), 0U)
        << document.status().message();
  }
}

}  // namespace
}  // namespace ladder
