// SPDX-License-Identifier: Apache-2.0
// The guard's decision from censuses made for the purpose: which words, that nothing of a census is left behind, and that
// many blocks agree. Runs on a GPU, or under the virtual one.
#include "device/split_choice.cuh"
#include "problem/split_error.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ladder {
namespace {

constexpr std::uint32_t kDepth = 4096;
constexpr Census kDense{0, 0, 1, {4000, 4090, 4096}};
constexpr Census kDenseWithTiny{3, 0, 1, {4000, 4090, 4093}};
constexpr Census kGraded{3000, 0, 1, {600, 1000, 1400}};
constexpr Census kZeros{0, 0, 0, {0, 0, 0}};
constexpr Census kIntegers{0, 0, 0, {3000, 4096, 4096}};

struct Answer {
  int kernel = -1, choice = -1;
  float up = 0;
  bool clean = true, exceptional = true;
};

Answer ask(const std::vector<Census>& a, const std::vector<Census>& b) {
  std::vector<Census> all(a);
  all.insert(all.end(), b.begin(), b.end());
  Census* g = nullptr;
  Census* gExtremes = nullptr;
  unsigned* gDone = nullptr;
  int* gChoice = nullptr;
  int* gExponent = nullptr;
  EXPECT_EQ(cudaMalloc(&g, all.size() * sizeof(Census)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gExtremes, 2 * split_detail::kChooseBlocks * sizeof(Census)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gDone, sizeof(unsigned)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gChoice, kChoiceWords * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&gExponent, a.size() * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(g, all.data(), all.size() * sizeof(Census), cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(gDone, 0, sizeof(unsigned)), cudaSuccess);
  EXPECT_EQ(cudaMemset(gExponent, 0, a.size() * sizeof(int)), cudaSuccess);
  const double budget = ieee_error(kDepth) - split_error(Precision::kFp16x3, kDepth).products;
  const ChoiceInput input{.gA = g,
                          .gB = g + a.size(),
                          .lines_a = static_cast<int>(a.size()),
                          .lines_b = static_cast<int>(b.size()),
                          .k = kDepth,
                          .budget = budget,
                          .gExponentA = gExponent,
                          .gDone = gDone,
                          .gExtremes = gExtremes,
                          .gChoice = gChoice};
  split_detail::choose<><<<split_detail::kChooseBlocks, split_detail::kChooseThreads>>>(input);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int words[kChoiceWords];
  unsigned done = 1;
  std::vector<int> exponents(a.size());
  EXPECT_EQ(cudaMemcpy(words, gChoice, sizeof words, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&done, gDone, sizeof done, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(all.data(), g, all.size() * sizeof(Census), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(exponents.data(), gExponent, exponents.size() * sizeof(int), cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (void* memory : {static_cast<void*>(g), static_cast<void*>(gExtremes), static_cast<void*>(gDone),
                       static_cast<void*>(gChoice), static_cast<void*>(gExponent)}) {
    (void)cudaFree(memory);
  }
  Answer answer;
  answer.kernel = words[kWhichKernel];
  answer.choice = words[kWhichChoice];
  std::memcpy(&answer.up, &words[kUp], sizeof answer.up);
  EXPECT_EQ(words[kWhichMark], kChoiceMark);
  answer.clean = done == 0;
  for (const Census& c : all)
    answer.clean &= c.tiny == 0 && c.seconds == 0 && c.above[0] == 0 && c.above[2] == 0;
  for (const int e : exponents) answer.exceptional &= e == kExceptional;
  return answer;
}

std::vector<Census> lines(std::size_t count, const Census& census) {
  return std::vector<Census>(count, census);
}

void expect(const Answer& answer, SplitChoice choice) {
  EXPECT_EQ(answer.choice, static_cast<int>(choice));
  EXPECT_EQ(answer.kernel, choice == SplitChoice::kBf16x6 ? 1 : 0);
  EXPECT_EQ(answer.exceptional, choice == SplitChoice::kBinary32);
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
    b[at] = kDense;
    b[at].minute = b[at].tiny = 1;
    expect(ask(lines(40, kDense), b), SplitChoice::kBinary32);
  }
}

TEST(SplitChoice, SparseAgainstDenseOverlaps) {
  Census half = kDenseWithTiny;  // half of A is zero
  half.above[0] = half.above[1] = half.above[2] = 2040;
  expect(ask(lines(64, half), lines(64, kDense)), SplitChoice::kFp16x3);
  expect(ask(lines(64, half), lines(64, half)), SplitChoice::kBf16x6);  // they may miss each other
}

TEST(SplitChoice, LinesOfZerosCountForNothing) {
  auto a = lines(90, kDenseWithTiny);
  a[17] = kZeros;
  expect(ask(a, lines(5, kDense)), SplitChoice::kFp16x3);
  expect(ask(lines(3, kZeros), lines(5, kZeros)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, SumsOfIntegersAreNotCompensated) {
  EXPECT_EQ(ask(lines(64, kIntegers), lines(70, kIntegers)).up, 1.0F);
  EXPECT_EQ(ask(lines(64, kIntegers), lines(70, kDense)).up, kCompensation);
}

}  // namespace
}  // namespace ladder
