// SPDX-License-Identifier: Apache-2.0
// The planner's decisions on an H200. This program sees no header of CUDA.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "gemm/plan/costs.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/plan/plan.hpp"

#ifdef CUDART_VERSION
#error "the planner is compiled without CUDA"
#endif

namespace ladder {
namespace {

std::map<std::string, std::string> decisions(const Problem& p, Precision precision,
                                             const Alignment& at = {}) {
  const auto planned = plan(p, precision, {}, at);
  if (!planned) return {{"error", planned.status().message()}};
  const auto words = describe(planned.value());
  std::map<std::string, std::string> all(words.begin(), words.end());
  all["kernel"] = planned.value().choice.kernel;
  return all;
}

struct Row {
  const char* shape;
  Precision precision;
  std::map<std::string, std::string> expected;
};

TEST(Plan, DecidesByShape) {
  const std::string fused = "the larger operand in the product kernel, the other in a pre-pass";
  for (const auto& [shape, precision, expected] : {
           Row{"4096",
               Precision::kIeee,
               {{"kernel", "ladder_large_tiles"}, {"tile", "128x256x8"}, {"split tiles", "248"}}},
           Row{"1024x4096x70",
               Precision::kAuto,
               {{"kernel", "ladder_large_tiles"}, {"split tiles", "0"}}},
           Row{"512", Precision::kAuto, {{"kernel", "ladder_split_k"}, {"kernel for", "k-splits"}}},
           Row{"128x128x8192",
               Precision::kIeee,
               {{"kernel", "ladder_split_k"}, {"cluster", "2"}, {"k-splits", "8"}}},
           Row{"1x4096x4096",
               Precision::kAuto,
               {{"kernel", "ladder_split_k"},
                {"kernel for", "few rows or columns"},
                {"computes C^T", "no"}}},
           Row{"4096x1x4096", Precision::kAuto, {{"computes C^T", "yes"}}},
           Row{"4096x4096x2", Precision::kIeee, {{"kernel for", "outer product"}}},
           Row{"4096",
               Precision::kAuto,
               {{"kernel", "ladder_guarded"},
                {"split", "pre-pass"},
                {"tile", "128x256x64"},
                {"k-splits", "1"}}},
           Row{"30x20x700",
               Precision::kIeee,
               {{"kernel", "ladder_split_k"},
                {"kernel for", "few elements of C"},
                {"elements of C per block", "16"}}},
           Row{"64x8192x4096",
               Precision::kAuto,
               {{"kernel", "ladder_guarded"},
                {"split", fused},
                {"tile", "128x64x64"},
                {"computes C^T", "yes"},
                {"split tiles", "64"}}},
           Row{"512x512x16384",
               Precision::kAuto,
               {{"kernel", "ladder_guarded"},
                {"split", fused},
                {"tile", "128x128x64"},
                {"k-splits", "8"}}},
           Row{"8192x64x4096",
               Precision::kFp16x3,
               {{"kernel", "ladder_fp16x3"}, {"split", fused}, {"computes C^T", "no"}}},
           Row{"128x128x8192",
               Precision::kBf16x6,
               {{"kernel", "ladder_bf16x6"},
                {"split", "pre-pass"},
                {"tile", "128x64x32"},
                {"k-splits", "64"}}},
           Row{"4096",
               Precision::kBf16,
               {{"kernel", "ladder_bf16"},
                {"tile", "256x256x64"},
                {"columns of the last tiles", "232"}}},
           Row{"128x14336x4096", Precision::kBf16, {{"tile", "128x512x64"}, {"cluster", "4"}}},
           Row{"4096", Precision::kTf32, {{"kernel", "ladder_tf32"}, {"tile", "256x256x32"}}},
           Row{"64x64x65536", Precision::kTf32, {{"tile", "128x64x32"}, {"k-splits", "64"}}},
       }) {
    const Problem p = parse_shape(shape).value();
    std::map<std::string, std::string> found = decisions(p, precision);
    for (const auto& [name, value] : expected)
      EXPECT_EQ(found[name], value)
          << name << " of " << shape << ", precision " << static_cast<int>(precision);
  }
}

// Operands that no tensor map or 16-byte copy takes.
TEST(Plan, DecidesByAlignment) {
  const Problem thin = make_problem(64, 8192, 4096);
  for (const Precision precision : {Precision::kFp16x3, Precision::kAuto}) {
    EXPECT_NE(decisions(thin, precision)["split"], "pre-pass");
    EXPECT_EQ(decisions(thin, precision, {.a = 256, .b = 8})["split"], "pre-pass");
    EXPECT_NE(decisions(thin, precision, {.a = 8, .b = 256})["split"], "pre-pass");
  }
  Problem odd = thin;
  odd.ldb += 1;
  EXPECT_EQ(decisions(odd, Precision::kFp16x3)["split"], "pre-pass");
  const Problem square = make_problem(2048, 2048, 4096);
  EXPECT_EQ(decisions(square, Precision::kBf16)["cluster"], "1");
  EXPECT_EQ(decisions(square, Precision::kBf16, {.a = 64, .b = 64})["cluster"], "2");
}

TEST(Plan, RefusesWhatTheLibraryLacks) {
  const Problem p = make_problem(64, 64, 64);
  for (const int cc : {75, 80, 100, 120}) {
    for (const Precision precision : {Precision::kTf32, Precision::kFp16x3, Precision::kBf16x9})
      EXPECT_EQ(plan(p, precision, {.cc = cc}).status().code(), Code::kUnsupportedDevice);
  }
  EXPECT_EQ(plan(p, Precision::kBf16x6, {.cc = 75}).status().message(),
            "ladder_mma_bf16x6 needs compute capability 8.0, not 7.5");
  EXPECT_EQ(plan(make_problem(1, 1, std::int64_t{1} << 29), Precision::kFp16x3, {}).status().code(),
            Code::kUnsupportedProblem);
  EXPECT_EQ(plan(make_problem(-1, 1, 1), Precision::kIeee, {}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(decisions(make_problem(64, 64, 0), Precision::kAuto)["kernel"], "none");
}

void expect_complete(const Tiling& tiling, int parts, int most) {
  EXPECT_GE(tiling.whole_tiles + tiling.split_tiles, tiling.tiles_m * tiling.tiles_n);
  EXPECT_LE(parts, std::max(1, tiling.steps));
  EXPECT_GE(tiling.blocks, 1);
  EXPECT_LE(tiling.blocks, std::max(most, parts));
}

// Elsewhere than on Hopper: one kernel on CUDA cores, and terms where tensor cores are faster with
// a bound that is no larger.
TEST(Plan, OfOtherGpus) {
  const auto kernel = [](const char* shape, Precision precision, int sms, int cc) {
    const auto planned = plan(parse_shape(shape).value(), precision, {.sms = sms, .cc = cc});
    return planned ? std::string(planned.value().choice.kernel) : planned.status().message();
  };
  constexpr Precision kAuto = Precision::kAuto;
  EXPECT_EQ(kernel("4096", kAuto, 108, 80), "ladder_mma_bf16x6");
  EXPECT_EQ(kernel("4096x4096x87", kAuto, 108, 80), "ladder_mma_bf16x6");
  EXPECT_EQ(kernel("4096x4096x86", kAuto, 108, 80), "ladder_strided");  // the bound
  EXPECT_EQ(kernel("64x64x4096", kAuto, 108, 80), "ladder_strided");    // a tile of 128 x 128
  for (const int cc : {75, 86, 89, 103, 120, 121})
    EXPECT_EQ(kernel("4096", kAuto, 84, cc), "ladder_strided") << cc;
  for (const int cc : {75, 80, 86, 89, 100, 103, 120, 121}) {
    EXPECT_EQ(kernel("4096", Precision::kIeee, 84, cc), "ladder_strided");
    if (cc == 75) continue;
    EXPECT_EQ(kernel("64", Precision::kBf16x6, 84, cc), "ladder_mma_bf16x6");
    EXPECT_EQ(kernel("64", Precision::kBf16x3, 84, cc), "ladder_mma_bf16x3");
    EXPECT_EQ(kernel("64", Precision::kTf32x3, 84, cc), "ladder_mma_tf32x3");
  }
  const Plan planned = plan(make_problem(1000, 300, 4096), kAuto, {.sms = 8, .cc = 80}).value();
  std::map<std::string, std::string> words;
  for (const auto& [name, value] : describe(planned)) words[name] = value;
  EXPECT_EQ(words["tile"], "128x128x32");
  EXPECT_EQ(words["tiles"], "24");
  EXPECT_FALSE(words["predicted on CUDA cores"].empty());
  EXPECT_GT(predicted_clocks(planned), 0);
}

// Every tile has a block, no k-split lacks a step, and no plan needs more blocks than run at once.
TEST(Plan, CoversAnyShape) {
  std::mt19937 random(3);
  const auto size = [&] { return std::int64_t{1} << random() % 14 | random() % 97; };
  for (int i = 0; i < 2000; ++i) {
    const Problem p = make_problem(size(), size(), size());
    SCOPED_TRACE(to_string(p));
    for (const int sms : {7, 132}) {
      for (const Precision precision : {Precision::kIeee, Precision::kAuto, Precision::kTf32,
                                        Precision::kBf16, Precision::kFp16x3, Precision::kBf16x9}) {
        const Plan planned = plan(p, precision, {.sms = sms}).value();
        if (const auto* large = std::get_if<LargePlan>(&planned.tiles))
          expect_complete(large->tiling, 1, sms * large->shape().blocks_of_sm);
        if (const auto* fused = std::get_if<FusedPlan>(&planned.tiles))
          expect_complete(fused->plan, fused->parts, sms);
        if (const auto* tensor = std::get_if<TensorPlan>(&planned.tiles)) {
          expect_complete(tensor->plan, tensor->parts, sms);
          EXPECT_GT(tensor->clocks, 0);
          EXPECT_TRUE(tensor->parts == 1 || tensor->shape.blocks == 1);
        }
        if (const auto* small = std::get_if<SmallPlan>(&planned.tiles)) {
          const PartPlan& part = small->sided.part;
          EXPECT_LE(part.cluster * part.parts, std::max<std::int64_t>(1, p.k));
        }
      }
    }
  }
}

// With a fused split or k-splits, the results of a deep product have several blocks per tile.
TEST(Plan, DividesADeepKAmongBlocks) {
  for (const Precision precision : {Precision::kTf32, Precision::kBf16, Precision::kFp16x3,
                                    Precision::kBf16x3, Precision::kBf16x6, Precision::kAuto}) {
    const Plan deep = plan(make_problem(256, 256, 65536), precision, {}).value();
    const auto* tensor = std::get_if<TensorPlan>(&deep.tiles);
    const auto* fused = std::get_if<FusedPlan>(&deep.tiles);
    const auto* small = std::get_if<SmallPlan>(&deep.tiles);
    const int parts = tensor != nullptr  ? tensor->parts * tensor->shape.parts
                      : fused != nullptr ? fused->parts
                      : small != nullptr ? small->sided.part.parts * small->sided.part.cluster
                                         : 0;
    EXPECT_GT(parts, 7) << static_cast<int>(precision);
  }
}

TEST(Plan, CostsHaveAUnitAndACommandThatExists) {
  for (const CostRow& row : kCostsOfH200) {
    EXPECT_GT(row.value, 0) << row.name;
    EXPECT_FALSE(row.unit.empty() || row.meaning.empty()) << row.name;
    EXPECT_TRUE(row.measured_by.starts_with("bench/")) << row.name;
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::path(LADDER_SOURCE_DIR) /
                                                 row.measured_by))
        << row.name << ": " << row.measured_by;
  }
}

}  // namespace
}  // namespace ladder
