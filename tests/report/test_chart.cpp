// SPDX-License-Identifier: Apache-2.0
// Charts as specifications: their data, their texts, and what they omit.
#include "report/chart.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sample_rows.hpp"

namespace ladder {
namespace {

using Json = nlohmann::json;

Json parsed(const Result<Chart>& chart) {
  EXPECT_TRUE(chart) << chart.status().message();
  return chart ? Json::parse(chart.value().spec) : Json();
}

Result<Chart> climb_of(const Document& document) {
  const auto documents = std::span(&document, 1);
  const auto problem = main_problem(documents);
  if (!problem) return Status(Code::kInvalidArgument, "nothing");
  return climb_chart(measured_bars(rows_at(documents, *problem)), to_string(*problem), "a GPU",
                     Precision::kIeee);
}

std::set<std::string> values(const Json& rows, const char* field) {
  std::set<std::string> found;
  for (const Json& row : rows) found.insert(row.at(field).get<std::string>());
  return found;
}

TEST(ClimbChart, HasABarAKernelAndARuleAtTheLibrary) {
  Document document = sample_document();
  document.rows.push_back(timed_row("r03_smem_tile_32", 15));
  const auto chart = climb_of(document);
  const Json data = parsed(chart)["datasets"];
  ASSERT_EQ(data["bars"].size(), 3U);
  EXPECT_EQ(data["bars"][0]["kernel"], "r02_coalesced");
  EXPECT_EQ(data["bars"][1]["kernel"], "r03_smem_tile_32");
  EXPECT_EQ(data["bars"][2]["source"], "library, measured");
  EXPECT_EQ(data["bars"][2]["label"], "50.9");
  ASSERT_EQ(data["best"].size(), 1U);
  EXPECT_DOUBLE_EQ(data["best"][0]["tflops"], data["bars"][2]["tflops"]);
  EXPECT_NE(chart.value().title.find("4096x4096x4096"), std::string::npos);
  EXPECT_NE(chart.value().description.find("cublas_ieee, 50.9"), std::string::npos);
  EXPECT_NE(data["bars"][0]["about"].get<std::string>().find("an idea & <more>"),
            std::string::npos);
}

TEST(ClimbChart, LeavesOutWhatFailedAndRefusesToDrawNothing) {
  Document document = sample_document();
  document.rows.push_back(timed_row("r03_smem_tile_32", 15));
  document.rows[0].verdict.outcome = Outcome::kWrongValue;
  EXPECT_EQ(values(parsed(climb_of(document))["datasets"]["bars"], "kernel").count("r02_coalesced"),
            0U);
  document.rows.clear();
  EXPECT_FALSE(climb_of(document));
  document.rows = {counted_row()};
  EXPECT_EQ(climb_of(document).status().code(), Code::kInvalidArgument);
}

TEST(ClimbChart, SaysWhatIsPredicted) {
  const Bar bar{"r05", "idea", 30, false, true, std::nullopt};
  const auto chart = climb_chart(std::span(&bar, 1), "1x1x1", "a GPU", Precision::kIeee);
  EXPECT_EQ(parsed(chart)["datasets"]["bars"][0]["source"], "rung, predicted");
  EXPECT_NE(chart.value().description.find("predicted"), std::string::npos);
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
  document.rows[2].timing.reset();  // r01 at 4096: omitted
  return document;
}

TEST(SizesChart, HasAPointARowAndANameALine) {
  const Document document = sizes_document();
  const auto chart = sizes_chart(std::span(&document, 1), Precision::kIeee);
  const Json data = parsed(chart)["datasets"];
  EXPECT_EQ(data["points"].size(), 8U);
  ASSERT_EQ(data["names"].size(), 3U);
  EXPECT_EQ(data["names"][2]["label"], "cublas_ieee");
  EXPECT_EQ(data["points"].back()["role"], "library");
  EXPECT_NE(data["points"].back()["about"].get<std::string>().find("cublas_ieee at 4096: 13.7"),
            std::string::npos);
  // Names of equal rates do not overlap.
  EXPECT_NE(data["names"][1]["tflops"], data["names"][2]["tflops"]);
}

TEST(SizesChart, NamesStandInOrderNearTheirEndsAndWithinTheChart) {
  Document document;
  for (int i = 0; i < 12; ++i) {
    for (const std::int64_t n : {1024, 2048}) {
      Row row = timed_row(fmt::format("r{:02}_x", i + 1), 10);
      row.problem = make_problem(n, n, n);
      row.timing->ms.median = flops(row.problem) / ((i < 10 ? 50 + 0.01 * i : 10.0 + 5 * i) *
                                                    1e9);  // ten at 50, then 60 and 65
      document.rows.push_back(row);
    }
  }
  const Json data = parsed(sizes_chart(std::span(&document, 1), Precision::kIeee))["datasets"];
  double before = -1, most = 0;
  for (const Json& name : data["names"]) {
    const double at = name["tflops"];
    EXPECT_GT(at, before) << name;
    before = at;
    most = std::max(most, at);
  }
  EXPECT_LE(most, 65.001) << "above the highest line the chart would grow";
  ASSERT_EQ(data["leaders"].size(), 24U);
  EXPECT_EQ(data["leaders"][1]["tflops"], data["names"][0]["tflops"])
      << "a leader ends at its name";
}

TEST(TimeChart, ComparesCubesOfWhichOneIsTwiceAsLargeAtLeast) {
  Document document;
  for (const auto& [n, ms] : {std::pair{2048, 1.0}, {4092, 16.0}, {4096, 8.0}}) {
    Row row = timed_row("r01_naive", ms);
    row.problem = make_problem(n, n, n);
    document.rows.push_back(row);
  }
  const Json data = parsed(time_chart(std::span(&document, 1), Precision::kIeee))["datasets"];
  EXPECT_EQ(data["names"][0]["label"], "r01_naive: N^3.00") << "4092 to 4096 would say nothing";
}

TEST(SizesChart, NeighboursOfAPowerOfTwoStandBesideTheLine) {
  Document document;
  for (const std::int64_t n : {128, 256, 257, 1000, 4092, 4096}) {
    Row row = timed_row("r01_naive", 10);
    row.problem = make_problem(n, n, n);
    document.rows.push_back(row);
  }
  const auto beside = [&] {
    std::vector<int> sides;
    const Json spec = parsed(sizes_chart(std::span(&document, 1), Precision::kIeee));
    for (const Json& point : spec["datasets"]["points"]) {
      if (point.contains("beside")) sides.push_back(point["n"]);
    }
    return sides;
  };
  EXPECT_EQ(beside(), (std::vector<int>{257, 4092}));
  document.rows.pop_back();
  EXPECT_EQ(beside(), (std::vector<int>{257}))
      << "4096 was not measured: 4092 is where the line ends";
}

TEST(Charts, LegendsNameWhatThereIs) {
  std::vector<Bar> bars{{"r05", "idea", 30, false, false, std::nullopt},
                        {"cublas_ieee", "", 50, true, false, std::nullopt}};
  const auto legend = [&] {
    return parsed(
        climb_chart(bars, "1x1x1", "a GPU",
                    Precision::kIeee))["layer"][0]["encoding"]["color"]["legend"]["values"];
  };
  EXPECT_EQ(legend(), (Json{"rung, measured", "library, measured"}));
  bars.push_back({"r06", "idea", 40, false, true, std::nullopt});
  EXPECT_EQ(legend(), (Json{"rung, measured", "rung, predicted", "library, measured"}));
}

TEST(SizesChart, HostRowsHaveOneToo) {
  Document document = sizes_document();
  for (Row& row : document.rows) row.place = Place::kHost;
  const auto chart = sizes_chart(std::span(&document, 1), Precision::kIeee);
  EXPECT_EQ(parsed(chart)["datasets"]["points"].size(), 8U);
}

TEST(TimeChart, SaysToWhichPowerOfNTimeGrows) {
  Document document;
  for (const std::int64_t n : {512, 1024, 2048}) {
    // 1 ms at 1024, eight times as much at twice the side; at 512 the same time as at 1024.
    Row row = timed_row("h01_naive", n == 2048 ? 8 : 1);
    row.problem = make_problem(n, n, n);
    row.place = Place::kHost;
    document.rows.push_back(row);
  }
  const auto chart = time_chart(std::span(&document, 1), Precision::kIeee);
  const Json data = parsed(chart)["datasets"];
  EXPECT_EQ(data["points"].size(), 3U);
  EXPECT_NEAR(data["points"][2]["ms"].get<double>(), 8, 1e-9);
  EXPECT_EQ(data["names"][0]["label"], "h01_naive: N^3.00");
  EXPECT_NEAR(data["names"][0]["ms"].get<double>(), 8, 1e-9) << "at the height of the line's end";
  EXPECT_NE(chart.value().description.find("N^3.00"), std::string::npos);
  document.rows.resize(1);
  EXPECT_FALSE(time_chart(std::span(&document, 1), Precision::kIeee));
}

TEST(SizesChart, MixesNeitherShapesNorStatesOfTheCacheNorPrecisions) {
  Document document = sizes_document();
  document.rows[0].problem = make_problem(128, 64, 128);
  document.rows[4].timing->copies = 1;
  document.rows[5].precision = Precision::kTf32;
  const auto chart = sizes_chart(std::span(&document, 1), Precision::kIeee);
  EXPECT_EQ(parsed(chart)["datasets"]["points"].size(), 5U);
  EXPECT_EQ(sizes_chart(std::span(&document, 1), Precision::kTf32).status().code(),
            Code::kInvalidArgument);  // one point
  document.rows.clear();
  EXPECT_EQ(sizes_chart(std::span(&document, 1), Precision::kIeee).status().code(),
            Code::kInvalidArgument);
}

TEST(AccuracyChart, HasErrorAndRateOfWhatHasBoth) {
  Document document = sample_document();
  document.rows.push_back(timed_row("r03_smem_tile_32", 15));
  document.rows.back().errors = {};
  const auto rows = rows_at(std::span(&document, 1), make_problem(4096, 4096, 4096));
  const Json data = parsed(accuracy_chart(rows))["datasets"];
  EXPECT_EQ(values(data["points"], "kernel"),
            (std::set<std::string>{"cublas_ieee", "r02_coalesced"}));
  EXPECT_DOUBLE_EQ(data["points"][0]["error"], 1e-6);
}

TEST(SamplesChart, HasQuantilesAndReadings) {
  const Document document = sample_document();
  const auto rows = rows_at(std::span(&document, 1), make_problem(4096, 4096, 4096));
  const auto chart = samples_chart(rows);
  const Json data = parsed(chart)["datasets"];
  ASSERT_EQ(data["times"].size(), 2U);
  EXPECT_NEAR(data["times"][0]["p5"], -0.9, 1e-9);
  EXPECT_NEAR(data["times"][0]["p75"], 0.5, 1e-9);
  ASSERT_EQ(data["readings"].size(), 4U) << "clock and power of two kernels";
  EXPECT_EQ(data["readings"][1]["quantity"], "watts");
  EXPECT_EQ(data["readings"][1]["median"], 695);
  EXPECT_NE(chart.value().description.find("3 samples discarded"), std::string::npos);
}

TEST(RooflineChart, RoofsEndAtTheCeilingAndPointsStandAtTheirBytes) {
  const std::vector<Roof> roofs{{"FP32", 60, 0}, {"device memory", 0, 4e12}};
  const std::vector<RooflinePoint> points{{"r05_block_tile_2d", 30, false, 20, 600}};
  const Json data = parsed(roofline_chart(roofs, points, "a GPU"))["datasets"];
  double highest = 0;
  for (const Json& end : data["roofs"]) highest = std::max(highest, end["tflops"].get<double>());
  EXPECT_DOUBLE_EQ(highest, 60);
  EXPECT_EQ(data["points"].size(), 2U);
  EXPECT_EQ(data["names"][0]["name"], "r05");
  EXPECT_FALSE(roofline_chart(roofs, {}, "a GPU"));
}

TEST(OccupancyChart, SaysWhatBinds) {
  const std::vector<BlockLimit> limits{{"r05", "registers", 2, true}, {"r05", "threads", 8, false}};
  const auto chart = occupancy_chart(limits, "a GPU");
  EXPECT_EQ(parsed(chart)["datasets"]["limits"][0]["binds"], "binds");
  EXPECT_NE(chart.value().description.find("r05: registers at 2"), std::string::npos);
}

TEST(Selection, TakesTheProblemAndTheGroupWithTheMostRungs) {
  Document document = sizes_document();  // 128, 1024: two rungs; 4096: one
  EXPECT_EQ(main_problem(std::span(&document, 1))->m, 1024);
  document.rows[1].timing->copies = 1;  // r01 at 1024, in the other state of the cache
  const auto rows = rows_at(std::span(&document, 1), make_problem(1024, 1024, 1024));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row->kernel, "r02_coalesced");
  EXPECT_FALSE(main_problem({}));
}

}  // namespace
}  // namespace ladder
