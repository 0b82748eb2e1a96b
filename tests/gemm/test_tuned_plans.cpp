// SPDX-License-Identifier: Apache-2.0
// Measured plans: their file, and that the planner takes them.
#include <gtest/gtest.h>

#include <string>

#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/plan.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

constexpr int kSms = 132;

PartShape shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return part_shape(make_problem(m, n, k), {});
}

TEST(TunedPlans, AFileHoldsEveryCandidateOfEveryKind) {
  for (const auto& [m, n, k] :
       {std::tuple{777, 1555, 3111}, {2, 5000, 300}, {300, 200, 7}, {30, 20, 700}}) {
    const Problem p = make_problem(m, n, k);
    const auto candidates = simt_candidates(p, {}, {}, 40);
    ASSERT_GE(candidates.size(), 2U);
    EXPECT_TRUE(candidates.back().large);
    for (const SimtPlan& plan : candidates) {
      TunedPlans written, read;
      written.set(part_shape(p, {}), kSms, plan);
      const Status added = read.add(written.text());
      ASSERT_TRUE(added) << added.message();
      EXPECT_EQ(read.text(), written.text());
      const auto found = read.find(part_shape(p, {}), kSms);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->large, plan.large);
      EXPECT_EQ(found->small.kernel, plan.small.kernel);
      EXPECT_EQ(found->small.sided.swapped, plan.small.sided.swapped);
      EXPECT_EQ(found->small.sided.part.tile, plan.small.sided.part.tile);
      EXPECT_EQ(found->small.sided.part.parts, plan.small.sided.part.parts);
      EXPECT_EQ(found->small.thin, plan.small.thin);
    }
  }
}

TEST(TunedPlans, AWrongFileAddsNothingAndNamesTheLine) {
  constexpr const char* kGood = "512 512 512 NN 44 132 large 128x256 whole\n";
  for (const char* const wrong : {
           "512 512 512 NN 44 132 huge",                                    // no such kernel
           "512 512 512 NN 44 132 auto tensor",                             // no such form
           "512 512 512 NN 44 132",                                         // none
           "512 512 0 NN 44 132 large 128x256 whole",                       // empty
           "512 512 512 NX 44 132 large 128x256 whole",                     // operations
           "512 512 512 NN 4 132 large 128x256 whole",                      // alignments
           "512 512 512 NN 44 0 large 128x256 whole",                       // SMs
           "512 512 512 NN 44 132 large 128x256 whole 1",                   // too many words
           "512 512 512 NN 44 132 thin",                                    // not thin
           "512 512 512 NN 44 132 thin straight 32 4 1",                    // the same
           "8 512 512 NN 44 132 thin straight 3 4 1",                       // 3 threads
           "8 512 512 NN 44 132 thin swapped 32 4 1",                       // 512 rows
           "30 20 700 NN 44 132 dots straight 64 8 1",                      // 8 elements
           "30 20 700 NN 44 132 dots straight 1024 1 1",                    // 1,024 threads
           "512 512 512 NN 44 132 tiles 64x64x9/1/1 straight 1 1 0 0",      // no such tile
           "512 512 512 NN 44 132 tiles 64x32x32/128/2 straight 3 1 0 0",   // cluster of 3
           "512 512 512 NN 44 132 tiles 64x32x32/128/2 straight 1 99 0 0",  // k-splits
           "512 512 512 TN 44 132 tiles 32x64x16/128/2k straight 1 1 0 0",  // A is not K-major
       }) {
    TunedPlans plans;
    const Status status = plans.add(std::string(kGood) + "# a comment\n" + wrong + "\n");
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << wrong;
    EXPECT_NE(status.message().find("line 3"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(wrong), std::string::npos) << status.message();
    EXPECT_FALSE(plans.find(shape_of(512, 512, 512), kSms)) << wrong;
  }
}

TEST(TunedPlans, ThePlannerTakesThem) {
  const Problem p = make_problem(900, 1500, 700);
  TunedPlans& process = TunedPlans::of_process();
  ASSERT_TRUE(process.status()) << process.status().message();
  for (const SimtPlan& wanted : simt_candidates(p, {}, {}, 60)) {
    process.set(part_shape(p, {}), kSms, wanted);
    const auto got = plan(p, Precision::kIeee, {});
    process.erase(part_shape(p, {}), kSms);
    ASSERT_TRUE(got) << got.status().message();
    EXPECT_EQ(got.value().choice.why, "LADDER_PLANS has a measured plan");
    const auto* const small = std::get_if<SmallPlan>(&got.value().tiles);
    ASSERT_EQ(small == nullptr, wanted.large.has_value());
    if (small == nullptr) continue;
    EXPECT_EQ(small->sided.swapped, wanted.small.sided.swapped);
    EXPECT_EQ(small->sided.part.tile, wanted.small.sided.part.tile);
    EXPECT_EQ(small->sided.part.cluster, wanted.small.sided.part.cluster);
  }
  EXPECT_NE(plan(p, Precision::kIeee, {}).value().choice.why, "LADDER_PLANS has a measured plan");
}

TEST(TunedPlans, AFormOfAutoIsReadAndTaken) {
  const Problem p = make_problem(384, 2048, 1024);
  const std::string text = TunedPlans().text();
  for (const auto& [word, form] : {std::pair{"cuda-cores", AutoForm::kCudaCores},
                                   {"pre-pass", AutoForm::kPrepass},
                                   {"fused", AutoForm::kFused}}) {
    TunedPlans read;
    const std::string line = std::string("384 2048 1024 NN 44 132 auto ") + word + "\n";
    const Status added = read.add(line);
    ASSERT_TRUE(added) << added.message();
    EXPECT_EQ(read.text(), text + line);
    EXPECT_EQ(read.find_form(part_shape(p, {}), kSms), form);
    TunedPlans& process = TunedPlans::of_process();
    process.set_form(part_shape(p, {}), kSms, form);
    const auto got = plan(p, Precision::kAuto, {});
    const auto ieee = plan(p, Precision::kIeee, {});
    process.erase(part_shape(p, {}), kSms);
    ASSERT_TRUE(got && ieee);
    EXPECT_EQ(std::holds_alternative<TensorPlan>(got.value().tiles), form == AutoForm::kPrepass);
    EXPECT_EQ(std::holds_alternative<FusedPlan>(got.value().tiles), form == AutoForm::kFused);
    EXPECT_NE(ieee.value().choice.kernel, "ladder_guarded");
    if (form != AutoForm::kCudaCores) {
      EXPECT_EQ(got.value().choice.why, "LADDER_PLANS has a measured plan");
    }
  }
}

TEST(Batches, HaveTilesWithAKernelForThem) {
  for (const std::int64_t m : {1, 2, 37, 200, 3000}) {
    for (const std::int64_t n : {1, 8, 64, 515}) {
      for (const std::int64_t k : {1, 16, 70, 5000}) {
        Problem p = make_problem(m, n, k);
        for (const Op a : {Op::kNone, Op::kTranspose}) {
          p.op_a = a;
          for (const int at : {4, 16}) {
            const PartPlan part = plan_batch(p, {at, at}, 5, {}).part;
            EXPECT_TRUE(kPartTiles[static_cast<std::size_t>(part.tile)].of_batch) << part.tile;
            EXPECT_EQ(part.parts, 1);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ladder
