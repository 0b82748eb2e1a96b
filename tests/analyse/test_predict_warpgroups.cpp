// SPDX-License-Identifier: Apache-2.0
// The model of warpgroups, compared with figures computed by hand.
#include <gtest/gtest.h>

#include "analyse/predict_warpgroups.hpp"

namespace ladder::analyse {
namespace {

Machine h200() { return find_machine("h200").value(); }

Subject subject_of(const char* rung, const char* kernel) {
  Subject subject;
  subject.tile = tile_of(rung, kernel);
  subject.seen.problem = make_problem(256, 256, 192);
  subject.seen.blocks = 2;
  subject.seen.threads = 384;
  return subject;
}

Problem bf16(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p = make_problem(m, n, k);
  p.in = p.out = Type::kBf16;
  return p;
}

Result<Prediction> predicted(const Subject& subject, const Problem& problem,
                             const Machine& machine = h200()) {
  Prediction p;
  p.occupancy.blocks = 1;
  return predict_warpgroups(subject, problem, machine, p);
}

double pipe(const Prediction& p, const std::string& name) {
  for (const Pipe& one : p.pipes) {
    if (one.name == name) return one.ms;
  }
  return -1;
}

constexpr const char* kTile = "k<r::Tile<__nv_bfloat16, __nv_bfloat16, 128, 256, 4> >";

TEST(PredictWarpgroups, pipes_of_a_stage) {
  const Machine m = h200();
  const auto p =
      predicted(subject_of("r15_warp_specialized", kTile), bf16(128, 256 * 132, 6400), m);
  ASSERT_TRUE(p) << p.status().message();
  // One tile per SM, 100 stages: 2 x 128 x 256 x 64 operations at 4,096 per cycle; two products
  // that read 64 + 256 rows of 128 bytes, and 384 rows written, at 128 bytes per cycle; 384 rows
  // from L2 at 64.
  const double ms = 100 / m.clock_hz * 1e3;
  EXPECT_NEAR(pipe(p.value(), "tensor cores"), 1024 * ms, 1e-9);
  EXPECT_NEAR(pipe(p.value(), "shared memory"), (2 * 320 + 384) * ms, 1e-9);
  EXPECT_NEAR(pipe(p.value(), "copies from L2"), 768 * ms, 1e-9);
  EXPECT_EQ(p.value().rounds, 100);
}

TEST(PredictWarpgroups, promotion_follows_the_products_of_8_bit_operands) {
  const Machine m = h200();
  Problem fp8 = bf16(8 * 128, 256 * 132, 12800);  // eight tiles per SM
  fp8.in = Type::kE4m3;
  const char* const tile = "k<r::Tile<__nv_fp8_e4m3, __nv_bfloat16, (S)2, 128, 256, 4> >";
  const auto p = predicted(subject_of("r20_fp8", tile), fp8, m);
  ASSERT_TRUE(p) << p.status().message();
  // 800 stages of 1024 cycles of products, as with 16 bits; four products that read 64 + 128 rows,
  // and 384 rows written; 128 x 256 sums, which 128 lanes add after that.
  const double ms = 800 / m.clock_hz * 1e3;
  EXPECT_NEAR(pipe(p.value(), "tensor cores"), 1024 * ms, 1e-9);
  EXPECT_NEAR(pipe(p.value(), "shared memory"), (4 * 192 + 384) * ms, 1e-9);
  EXPECT_GE(p.value().ms, (1152 + 256) * ms);
  EXPECT_LE(p.value().ms, (1152 + 256 + 64) * ms) << "first copies and stores of C are short";
}

TEST(PredictWarpgroups, pairs_bring_the_wider_operand_once) {
  const Machine m = h200();
  const auto p = predicted(subject_of("r16_persistent", kTile), bf16(128, 256 * 132, 6400), m);
  ASSERT_TRUE(p);
  EXPECT_NEAR(pipe(p.value(), "copies from L2"), (128 + 128) * 2 * 100 / m.clock_hz * 1e3, 1e-9);
}

TEST(PredictWarpgroups, a_last_wave_costs_a_whole_one_but_for_stream_k) {
  const auto time = [](const char* rung, int tiles_m, int tiles_n) {
    return predicted(subject_of(rung, kTile), bf16(128 * tiles_m, 256 * tiles_n, 4096)).value().ms;
  };
  EXPECT_NEAR(time("r16_persistent", 7, 19), time("r16_persistent", 24, 11), 1e-9)
      << "133 and 264 tiles";
  EXPECT_LT(time("tensor_tiles", 14, 10), 0.6 * time("tensor_tiles", 24, 11));
}

TEST(PredictWarpgroups, meeting_after_each_stage_costs_time) {
  const Problem p = bf16(4096, 4096, 4096);
  EXPECT_GT(predicted(subject_of("r14_wgmma", kTile), p).value().ms,
            predicted(subject_of("r15_warp_specialized", kTile), p).value().ms);
}

TEST(PredictWarpgroups, split_operands_take_a_pass_and_products_of_words) {
  const Machine m = h200();
  const Subject subject = subject_of(
      "ladder_fp16x3",
      "k<ladder::CooperativeTile<ladder::TermFormat<__half, 2>, 3, 256, 3, 4>, false, false>");
  const Problem problem = make_problem(128, 256 * 132, 6400);
  const auto p = predicted(subject, problem, m);
  ASSERT_TRUE(p) << p.status().message();
  // 100 stages of 64: three products of two terms; 12 wgmma per stage, each reads 64 + 128 rows of
  // 128 bytes, and both terms of 384 rows are written; copies at 64 bytes per cycle.
  const double ms = 100 / m.clock_hz * 1e3;
  EXPECT_NEAR(pipe(p.value(), "tensor cores"), 3 * 1024 * ms, 1e-9);
  EXPECT_NEAR(pipe(p.value(), "shared memory"), (12 * 192 + 2 * 384) * ms, 1e-9);
  EXPECT_NEAR(pipe(p.value(), "copies from L2"), 2 * 768 * ms, 1e-9);
  // The split pre-pass reads 4 bytes per element and writes two terms of 2 bytes.
  const double elements = 6400.0 * (128 + 256 * 132);
  EXPECT_NEAR(pipe(p.value(), "pass over A and B"), 8 * elements / m.bandwidth * 1e3, 1e-9);
  EXPECT_GT(p.value().ms, pipe(p.value(), "pass over A and B") + pipe(p.value(), "tensor cores"));
}

TEST(PredictWarpgroups, is_refused_where_there_is_no_wgmma) {
  EXPECT_FALSE(
      predicted(subject_of("r14_wgmma", kTile), bf16(512, 512, 512), find_machine("a100").value()));
}

TEST(Peak, by_precision) {
  const Machine m = h200();
  std::string name;
  EXPECT_DOUBLE_EQ(m.peak_of(Precision::kIeee, &name), m.peak_flops());
  EXPECT_EQ(name, "FP32 peak");
  // 989 TFLOP/s at 1,830 MHz (NVIDIA's H100 whitepaper, dense).
  EXPECT_NEAR(m.peak_of(Precision::kBf16) * 1830e6 / m.clock_hz, 989.4e12, 0.1e12);
  EXPECT_DOUBLE_EQ(m.peak_of(Precision::kTf32), m.peak_of(Precision::kFp16) / 2);
  EXPECT_DOUBLE_EQ(m.peak_of(Precision::kBf16x6), m.peak_of(Precision::kBf16) / 6);
}

}  // namespace
}  // namespace ladder::analyse
