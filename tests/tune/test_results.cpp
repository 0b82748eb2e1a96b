// SPDX-License-Identifier: Apache-2.0
// Results of a search: orders compared, heat maps, and the tile that stays in the tuned file.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tune/earlier.hpp"
#include "tune/heat_map.hpp"
#include "tune/result.hpp"

namespace ladder::tune {
namespace {

constexpr std::array kRows{1, 2};
constexpr std::array kColumns{10, 20, 30};
constexpr std::array kDepths{5, 7};
constexpr Parameter kParameters[] = {{"R", kRows}, {"C", kColumns}, {"D", kDepths}};
constexpr std::array kByHand{1, 10, 5};
const SearchSpace kSpace{"rung", kParameters, kByHand,
                         [](std::span<const int> v) { return v[0] < 3; }};

Job job_of(const char* gpu = "NVIDIA H200") {
  Job job;
  job.space = &kSpace;
  job.device.name = gpu;
  job.problem = make_problem(1000, 1000, 1000);
  return job;
}

Candidate timed(Point point, double ms, Fate fate = Fate::kPassed) {
  Candidate c;
  c.point = std::move(point);
  c.fate = fate;
  c.ms = ms;
  return c;
}

Tuning sample() {
  Tuning tuning;
  tuning.candidates = {timed({1, 10, 5}, 2), timed({1, 10, 7}, 1), timed({2, 30, 5}, 4),
                       timed({2, 20, 5}, 0, Fate::kSpills)};
  tuning.winner = 1;
  tuning.strategy = "a & b";
  return tuning;
}

TEST(Ranks, TiesShareTheirPlaces) {
  EXPECT_EQ(ranks({3, 1, 2}), (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(ranks({5, 5, 1, 5}), (std::vector<double>{3, 3, 1, 3}));
  EXPECT_TRUE(ranks({}).empty());
}

TEST(Ranks, CorrelationOfOrders) {
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3, 4}, {10, 200, 201, 900}), 1);
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // 1 - 6 sum(d^2) / (n (n^2 - 1)) with d = 1, 1, 0, 0
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3, 4}, {2, 1, 3, 4}), 1 - 6 * 2.0 / (4 * 15));
  EXPECT_FALSE(rank_correlation({1}, {1}));
  EXPECT_FALSE(rank_correlation({1, 2}, {7, 7}));
  EXPECT_FALSE(rank_correlation({1, 2}, {1, 2, 3}));
}

TEST(Agreement, SaysWhatTrustingTheOrderCosts) {
  // By the earlier times the second is best; today's order puts the first ahead, at two thirds of
  // that rate.
  const std::vector<EarlierCandidate> earlier{
      {{1, 10, 5}, 3}, {{1, 10, 7}, 2}, {{2, 30, 5}, 9}, {{2, 20, 7}, 1}};
  Tuning today;
  today.candidates = {timed({1, 10, 5}, 10), timed({1, 10, 7}, 20), timed({2, 30, 5}, 30),
                      timed({2, 20, 7}, 0, Fate::kWrong)};
  const auto with = agreement(earlier, today);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->candidates, 3U);
  EXPECT_DOUBLE_EQ(with->rank_correlation, 0.5);
  EXPECT_DOUBLE_EQ(with->first_choice, 2.0 / 3);
  EXPECT_DOUBLE_EQ(with->best_of_ten, 1);
  EXPECT_FALSE(agreement({}, today));
}

TEST(Earlier, ReadsWhatWasWritten) {
  const Job job = job_of();
  const auto back = earlier_candidates(to_json(job, sample(), {}), kSpace);
  ASSERT_TRUE(back) << back.status().message();
  ASSERT_EQ(back.value().size(), 3U);  // without the one that spilled
  EXPECT_EQ(back.value()[1].point, (Point{1, 10, 7}));
  EXPECT_DOUBLE_EQ(back.value()[1].ms, 1);
  for (const std::string& text :
       {std::string(""), std::string("{}"), std::string("{\"schema\": \"ladder-rows\"}")})
    EXPECT_EQ(earlier_candidates(text, kSpace).status().code(), Code::kIo) << text;
}

TEST(TunedFile, IsReplacedEarlyOnlyBySomethingBetter) {
  const Job job = job_of();
  Tuning so_far = sample();
  EXPECT_TRUE(may_replace(std::nullopt, job, so_far));
  const auto text = tuned_file("", job, so_far, {});
  ASSERT_TRUE(text);
  const auto saved = saved_tile(text.value(), kSpace);
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->point, (Point{1, 10, 7}));
  EXPECT_DOUBLE_EQ(saved->gflops, 2000);
  EXPECT_FALSE(may_replace(saved, job, so_far));  // as good, not better
  so_far.candidates[1].ms = 0.9;
  EXPECT_TRUE(may_replace(saved, job, so_far));
  Job other = job;
  other.problem = make_problem(8, 8, 8);
  EXPECT_FALSE(may_replace(saved, other, so_far));  // not comparable
  so_far.basis = Basis::kModelled;
  EXPECT_FALSE(may_replace(saved, job, so_far));
  so_far.winner.reset();
  EXPECT_FALSE(may_replace(std::nullopt, job, so_far));
}

TEST(TunedFile, SaysThatASearchHasNotEnded) {
  const auto text = tuned_file("", job_of(), Tuning(sample()), {});
  ASSERT_TRUE(text);
  EXPECT_TRUE(nlohmann::json::parse(text.value())["rungs"]["rung"]["interrupted"]);
}

TEST(TunedFile, OfAnotherKindOrGpuIsRefused) {
  const std::string tuned = tuned_file("", job_of(), sample(), {}).value();
  EXPECT_TRUE(check_tuned_file("", job_of()));
  EXPECT_TRUE(check_tuned_file(tuned, job_of("NVIDIA H200 (virtual)")));
  EXPECT_EQ(check_tuned_file(tuned, job_of("NVIDIA A100")).code(), Code::kIo);
  EXPECT_EQ(check_tuned_file("[]", job_of()).code(), Code::kIo);
  EXPECT_EQ(check_tuned_file("not json", job_of()).code(), Code::kIo);
}

TEST(HeatMap, HasACellForEachPairThatPassed) {
  const auto chart = heat_map(job_of(), sample(), "R", "C");
  ASSERT_TRUE(chart) << chart.status().message();
  const auto data = nlohmann::json::parse(chart.value().spec)["datasets"];
  ASSERT_EQ(data["cells"].size(), 2U);  // (1, 10) and (2, 30)
  EXPECT_EQ(data["empty"].size(), 4U);  // the others
  EXPECT_EQ(data["cells"][0]["row"], "R 1");
  EXPECT_EQ(data["cells"][0]["about"], "R 1, C 10, D 7: 2000, best of 2");
  EXPECT_EQ(data["cells"][0]["share"], 1.0);  // the best cell has the upper end of the scale
  EXPECT_EQ(data["cells"][1]["share"], 0.0);  // the worst the lower end
  EXPECT_NE(chart.value().description.find("2000"), std::string::npos);
}

TEST(HeatMap, RefusesOtherAxesAndNothing) {
  EXPECT_NE(heat_map(job_of(), sample(), "R", "X").status().message().find("'X'"),
            std::string::npos);
  EXPECT_EQ(heat_map(job_of(), sample(), "R", "R").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(heat_map(job_of(), Tuning(), "R", "C").status().code(), Code::kInvalidArgument);
}

TEST(HeatMap, CsvHasEveryCandidate) {
  EXPECT_EQ(candidates_csv(job_of(), sample()),
            "R,C,D,status,registers,spill_bytes,shared_bytes,ms,gflops,model_ms\n"
            "1,10,5,passed,0,0,0,2,1000,\n"
            "1,10,7,passed,0,0,0,1,2000,\n"
            "2,30,5,passed,0,0,0,4,500,\n"
            "2,20,5,spills,0,0,0,,,\n");
}

}  // namespace
}  // namespace ladder::tune
