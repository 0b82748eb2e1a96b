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
  EXPECT_EQ(back.value().rows[0].timing->samples_ms.size(), 3U);
  EXPECT_EQ(back.value().rows[0].baseline->kernel, "cublas_ieee");
  EXPECT_EQ(back.value().rows[2].counters->launches[0].exact.at(kLoadSectors), 4000U);
  EXPECT_EQ(back.value().environment.power_limit_w, 700);
  EXPECT_FALSE(back.value().environment.max_sm_clock_mhz);
}

TEST(Json, ReadsFilesFromBeforeAFieldWasAdded) {
  nlohmann::json older = nlohmann::json::parse(to_json(sample_document()));
  for (auto& row : older["rows"]) {
    if (row["timing"].is_null()) continue;
    for (const char* field : {"launches_per_sample", "throttled", "alarms"})
      row["timing"].erase(field);
  }
  const auto document = from_json(older.dump(), "test");
  ASSERT_TRUE(document) << document.status().message();
  EXPECT_EQ(document.value().rows[0].timing->launches_per_sample, 1);
}

TEST(Json, ReadsVersion1) {
  nlohmann::json older = nlohmann::json::parse(to_json(sample_document()));
  older["version"] = 1;
  const auto readings = [](bool reasons) {
    nlohmann::json one{{"sm_clock_mhz", 1980.0}, {"power_w", 690.0}, {"temperature_c", nullptr}};
    if (reasons) one["clock_reasons"] = 4;
    return nlohmann::json::array({one, one});
  };
  nlohmann::json passed{
      {"name", "shape"},
      {"problem", older["rows"][0]["problem"]},
      {"values", "uniform"},
      {"seed", 3},
      {"nan_operands", false},
      {"outcome", "passed"},
      {"reason", ""},
      {"reference", "OpenBLAS dgemm"},
      {"errors", {{"normwise", 1e-6}, {"componentwise", 2e-7}, {"of_bound", 0.01}}}};
  older["rows"][0]["verdict"]["cases"] = nlohmann::json::array({passed});
  older["rows"][0]["timing"]["telemetry"] = readings(true);
  older["rows"][0]["baseline"]["timing"]["telemetry"] = readings(false);
  const auto document = from_json(older.dump(), "test");
  ASSERT_TRUE(document) << document.status().message();
  const Row& row = document.value().rows[0];
  EXPECT_EQ(row.timing->telemetry, (std::vector<Telemetry>(2, {1980, 690, std::nullopt, 4})));
  EXPECT_EQ(row.baseline->measurement.telemetry,
            (std::vector<Telemetry>(2, {1980, 690, std::nullopt})));
  ASSERT_EQ(row.verdict.cases.size(), 1U);
  EXPECT_TRUE(row.verdict.ok());
  EXPECT_EQ(row.verdict.cases[0].reference, "OpenBLAS dgemm");
  EXPECT_EQ(row.verdict.cases[0].problem, row.problem);
}

TEST(Json, APassedCaseIsFoldedAndAnotherIsNot) {
  Document document = sample_document();
  Row& row = document.rows[0];
  CaseResult one = row.verdict.cases[0];
  one.problem = make_problem(33, 17, 5, -2, 0.5F, Op::kTranspose, Op::kNone, Layout::kColMajor);
  one.problem.ldb = 99;
  one.problem.in = Type::kBf16;
  one.input = {Values::kScaled, 7, true};
  one.errors = {true, 1.23456e-7, std::numeric_limits<double>::quiet_NaN(), 0.5};
  CaseResult two = one;
  two.reference = "identity";
  two.errors = {};
  CaseResult wrong = one;
  wrong.outcome = Outcome::kWrongValue;
  wrong.reason = "C(0,0) is 1";
  row.verdict = summarize({one, two, wrong, one});
  const std::string text = to_json(document);
  const auto cases = nlohmann::json::parse(text)["rows"][0]["verdict"]["cases"];
  EXPECT_FALSE(cases[0].contains("outcome"));
  EXPECT_EQ(
      cases[0]["problem"].dump(),
      R"({"alpha":-2.0,"beta":0.5,"in":"bf16","k":5,"layout":"col","ldb":99,"m":33,"n":17,"op_a":"T"})");
  EXPECT_EQ(cases[2]["outcome"], "wrong_value");
  EXPECT_EQ(cases[2]["problem"]["ldc"], 33);
  const auto back = from_json(text, "test");
  ASSERT_TRUE(back) << back.status().message();
  const auto& read = back.value().rows[0].verdict.cases;
  ASSERT_EQ(read.size(), 4U);
  for (std::size_t i = 0; i < read.size(); ++i) {
    const CaseResult& meant = row.verdict.cases[i];
    EXPECT_EQ(read[i].problem, meant.problem) << i;
    EXPECT_EQ(read[i].input, meant.input) << i;
    EXPECT_EQ(read[i].outcome, meant.outcome) << i;
    EXPECT_EQ(read[i].reference, meant.reference) << i;
  }
  EXPECT_DOUBLE_EQ(read[0].errors.normwise, 1.235e-7);
  EXPECT_TRUE(std::isnan(read[0].errors.componentwise));
  EXPECT_FALSE(read[1].errors.known);
  EXPECT_EQ(to_json(back.value()), text);
}

TEST(Json, ReadingsOfTheSameRoundsAreWrittenOnce) {
  Document document = sample_document();
  Row& row = document.rows[0];
  row.baseline->measurement.telemetry = row.timing->telemetry;
  const std::string text = to_json(document);
  EXPECT_TRUE(nlohmann::json::parse(text)["rows"][0]["baseline"]["timing"]["telemetry"].is_null());
  EXPECT_EQ(from_json(text, "test").value().rows[0].baseline->measurement.telemetry,
            row.timing->telemetry);
}

TEST(Json, IsOneLineARow) {
  const std::string text = to_json(sample_document());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 1 + 3 + 1);
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
  EXPECT_TRUE(json["rows"][0]["derived"]["tflops"].is_null());
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
  nlohmann::json torn = nlohmann::json::parse(to_json(sample_document()));
  torn["rows"][0].erase("verdict");
  for (const std::string& text :
       {std::string(""), std::string("{}"), std::string("[]"), later.dump(), torn.dump(),
        to_json(sample_document()).substr(0, 500)}) {
    const auto document = from_json(text, "rows.json");
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.status().code(), Code::kIo);
    EXPECT_EQ(document.status().message().find("rows.json: not a file of rows: "), 0U)
        << document.status().message();
  }
}

}  // namespace
}  // namespace ladder
