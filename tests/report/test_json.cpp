// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
    for (const char* field : {"launches_per_sample", "throttled", "alarms"}) row["timing"].erase(field);
    for (auto& reading : row["timing"]["telemetry"]) reading.erase("clock_reasons");
  }
  const auto document = from_json(older.dump(), "test");
  ASSERT_TRUE(document) << document.status().message();
  EXPECT_EQ(document.value().rows[0].timing->launches_per_sample, 1);
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
  for (const std::string& text : {std::string(""), std::string("{}"), std::string("[]"), later.dump(),
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
