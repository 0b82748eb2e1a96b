// SPDX-License-Identifier: Apache-2.0
// The guard's decision on statistics made for the purpose: which terms are chosen, that no
// statistics remain, and that many blocks agree. Runs on a GPU, or under the virtual one.
#include "gemm/split/choice.cuh"
#include "problem/split_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace ladder {
namespace {

constexpr std::uint32_t kDepth = 4096;
constexpr int kExponent = 14;
// For vectors whose largest element is in [1, 2), so that their exponent is 14: the smallest
// magnitude, as Census stores it.
constexpr std::uint32_t least(std::uint32_t binades_below_one) {
  return ~((127 + kExponent - binades_below_one) << 23 | 0x80000000U);
}
constexpr Census kDense{least(15), 1, {4000, 4090, 4096}};
constexpr Census kDenseWithTiny{least(17), 1, {4000, 4090, 4093}};
constexpr Census kGraded{least(40), 1, {600, 1000, 1400}};
constexpr Census kMinute{least(101), 1, {4000, 4090, 4096}};
constexpr Census kZeros{0, 0, {0, 0, 0}};
constexpr Census kIntegers{least(10), 0, {3000, 4096, 4096}};

struct Answer {
  int choice = -1;
  float up = 0;
  bool clean = true;
};

// Elements of one vector of an operand, the same for all its vectors: ones, whose sums grow, or
// alternating signs, whose sums do not.
std::vector<float> ones() { return std::vector<float>(kDepth, 1.0F); }
std::vector<float> alternating() {
  std::vector<float> values = ones();
  for (std::size_t k = 1; k < values.size(); k += 2) values[k] = -1.0F;
  return values;
}

__global__ void __launch_bounds__(256) sample(SplitOperand a, SplitOperand b, GrowthSample to) {
  split_detail::sample_pairs<256>(a, b, kDepth, static_cast<int>(blockIdx.x), to);
}

Answer ask(const std::vector<Census>& a, const std::vector<Census>& b,
           const std::vector<float>& values = ones(), std::size_t exceptional = 0) {
  std::vector<Census> all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::vector<int> exponents(all.size(), kExponent);
  std::fill_n(exponents.begin(), exceptional, kExceptional);
  Census* g = nullptr;
  split_detail::Finding* gFindings = nullptr;
  unsigned* gFlags = nullptr;  // (2): finished blocks, the sample's findings
  int* gChoice = nullptr;
  int* gExponent = nullptr;
  float* gValues = nullptr;  // a row of A, all ones, and a column of B
  EXPECT_EQ(cudaMalloc(&g, all.size() * sizeof(Census)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gFindings, split_detail::kChooseBlocks * sizeof *gFindings), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gFlags, 2 * sizeof(unsigned)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gChoice, kChoiceFields * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gExponent, all.size() * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gValues, std::size_t{2} * kDepth * sizeof(float)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(g, all.data(), all.size() * sizeof(Census), cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemset(gFlags, 0, 2 * sizeof(unsigned)), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy(gExponent, exponents.data(), all.size() * sizeof(int), cudaMemcpyHostToDevice),
      cudaSuccess);
  EXPECT_EQ(cudaMemcpy(gValues, ones().data(), kDepth * sizeof(float), cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy(gValues + kDepth, values.data(), kDepth * sizeof(float), cudaMemcpyHostToDevice),
      cudaSuccess);
  const double budget = ieee_error(kDepth) - split_error(Precision::kFp16x3, kDepth).products;
  SplitOperand of_a{}, of_b{};
  of_a.g = gValues, of_a.vectors = static_cast<int>(a.size()), of_a.along_k = true;
  of_a.gExponent = gExponent, of_a.gCensus = g;
  of_b = of_a;
  of_b.g = gValues + kDepth, of_b.vectors = static_cast<int>(b.size());
  of_b.gExponent = gExponent + a.size(), of_b.gCensus = g + a.size();
  const ChoiceInput input{.a = of_a,
                          .b = of_b,
                          .k = kDepth,
                          .needed = places_needed(kDepth, budget),
                          .gGrowth = gFlags + 1,
                          .gDone = gFlags,
                          .gFindings = gFindings,
                          .gChoice = gChoice};
  sample<<<kSampleBlocks, 256>>>(of_a, of_b, {nullptr, nullptr, gFlags + 1});
  const int blocks = split_detail::choose_blocks(static_cast<std::int64_t>(all.size()));
  split_detail::choose<><<<blocks, split_detail::kChooseThreads>>>(input);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int words[kChoiceFields];
  unsigned flags[2]{1, 1};
  EXPECT_EQ(cudaMemcpy(words, gChoice, sizeof words, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(flags, gFlags, sizeof flags, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(all.data(), g, all.size() * sizeof(Census), cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (void* memory :
       {static_cast<void*>(g), static_cast<void*>(gFindings), static_cast<void*>(gFlags),
        static_cast<void*>(gChoice), static_cast<void*>(gExponent), static_cast<void*>(gValues)}) {
    (void)cudaFree(memory);
  }
  Answer answer;
  answer.choice = words[kWhichChoice];
  std::memcpy(&answer.up, &words[kUp], sizeof answer.up);
  EXPECT_EQ(words[kWhichMark], kChoiceMark);
  answer.clean = flags[0] == 0 && flags[1] == 0;
  for (const Census& c : all)
    answer.clean &= c.inverse == 0 && c.seconds == 0 && c.above[0] == 0 && c.above[2] == 0;
  return answer;
}

std::vector<Census> lines(std::size_t count, const Census& census) {
  return std::vector<Census>(count, census);
}

void expect(const Answer& answer, SplitChoice choice) {
  EXPECT_EQ(answer.choice, static_cast<int>(choice));
  EXPECT_TRUE(answer.clean);
}

TEST(SplitChoice, DenseLinesTakeTwoWords) {
  expect(ask(lines(700, kDense), lines(9000, kDense)), SplitChoice::kFp16x3);
  expect(ask(lines(700, kDenseWithTiny), lines(300, kDense)), SplitChoice::kFp16x3);
  expect(ask(lines(700, kDenseWithTiny), lines(300, kDenseWithTiny)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, OneLineFarFromTheOthersIsSeenWhereverItIs) {
  for (const std::size_t at : {0UL, 511UL, 512UL, 8191UL, 8999UL}) {
    auto b = lines(9000, kDense);
    b[at] = kGraded;
    expect(ask(lines(40, kGraded), b), SplitChoice::kBf16x6);
    b[at] = kMinute;
    expect(ask(lines(40, kDense), b), SplitChoice::kBinary64);
  }
}

TEST(SplitChoice, SparseAgainstDenseOverlaps) {
  Census half = kDenseWithTiny;  // half of A is zero
  half.above[0] = half.above[1] = half.above[2] = 2040;
  expect(ask(lines(64, half), lines(64, kDense)), SplitChoice::kFp16x3);
  // they may miss each other's result
  expect(ask(lines(64, half), lines(64, half)), SplitChoice::kBf16x6);
}

TEST(SplitChoice, LinesOfZerosCountForNothing) {
  auto a = lines(90, kDenseWithTiny);
  a[17] = kZeros;
  expect(ask(a, lines(5, kDense)), SplitChoice::kFp16x3);
  expect(ask(lines(3, kZeros), lines(5, kZeros)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, ManyLinesWithInfOrNanTakeNoWords) {
  auto a = lines(300, kDense);
  std::fill_n(a.begin(), 5, kZeros);  // such vectors are not counted
  expect(ask(a, lines(5, kDense), ones(), 4), SplitChoice::kFp16x3);
  expect(ask(a, lines(5, kDense), ones(), 5), SplitChoice::kBinary64);
  expect(ask(lines(5, kZeros), lines(300, kDense), ones(), 1), SplitChoice::kBinary64);
}

TEST(SplitChoice, FewLargeProductsTakeNoWords) {
  Census few = kDense;
  few.above[0] = 3;
  expect(ask(lines(70, few), lines(50, kDense)), SplitChoice::kFp16x3);
  few.above[0] = 2;
  expect(ask(lines(70, few), lines(50, kDense)), SplitChoice::kBinary64);  // 2 x 4000 of 4096
  auto mixed = lines(70, few);
  std::fill_n(mixed.begin(), 35, kDense);
  expect(ask(mixed, lines(50, kDense)), SplitChoice::kFp16x3);
  few.above[0] = 90;
  expect(ask(lines(70, few), lines(50, few)), SplitChoice::kBinary64);
  few.above[0] = 91;
  expect(ask(lines(70, few), lines(50, few)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, SumsThatStaySmallTakeThreeWords) {
  expect(ask(lines(70, kDense), lines(50, kDense), alternating()), SplitChoice::kBf16x6);
  auto later = alternating();  // a chain that grows at the end counts as growing
  for (std::size_t k = kDepth - 64; k < kDepth; ++k) later[k] = 1.0F;
  expect(ask(lines(70, kDense), lines(50, kDense), later), SplitChoice::kBf16x6);
  for (std::size_t k = kDepth - 512; k < kDepth; ++k) later[k] = 1.0F;
  expect(ask(lines(70, kDense), lines(50, kDense), later), SplitChoice::kFp16x3);
  expect(ask(lines(70, kDense), lines(50, kDense), std::vector<float>(kDepth, 0.0F)),
         SplitChoice::kFp16x3);
}

TEST(SplitChoice, SumsOfIntegersAreNotCompensated) {
  EXPECT_EQ(ask(lines(64, kIntegers), lines(70, kIntegers)).up, 1.0F);
  EXPECT_EQ(ask(lines(64, kIntegers), lines(70, kDense)).up, kCompensation);
}

}  // namespace
}  // namespace ladder
