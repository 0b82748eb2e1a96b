// SPDX-License-Identifier: Apache-2.0
// The guard's decision on statistics made for the purpose, of which many blocks add a part. Runs on
// a GPU, or under the virtual one.
#include "gemm/split/choice.cuh"
#include "gemm/split/sample.cuh"
#include "problem/split_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/device_memory.hpp"

namespace ladder {
namespace {

constexpr std::uint32_t kDepth = 4096;
constexpr int kExponent = 14;
// For vectors whose largest element is in [1, 2), so that their exponent is 14: the smallest
// magnitude, as Census stores it.
constexpr std::uint32_t least(std::uint32_t binades_below_one) {
  return ~((127 + kExponent - binades_below_one) << 23 | 0x80000000U);
}
constexpr Census kDense{least(15), 1, {4000, 4090, 4096}, 0};
constexpr Census kDenseWithTiny{least(17), 1, {4000, 4090, 4093}, 0};
constexpr Census kGraded{least(40), 1, {600, 1000, 1400}, 0};
constexpr Census kMinute{least(101), 1, {4000, 4090, 4096}, 0};
constexpr Census kZeros{0, 0, {0, 0, 0}, 0};
constexpr Census kIntegers{least(10), 0, {3000, 4096, 4096}, 0};

// Elements of one vector of an operand, the same for all its vectors: ones, whose sums grow, or
// alternating signs, whose sums do not.
std::vector<float> ones() { return std::vector<float>(kDepth, 1.0F); }
std::vector<float> alternating() {
  std::vector<float> values = ones();
  for (std::size_t k = 1; k < values.size(); k += 2) values[k] = -1.0F;
  return values;
}

__global__ void __launch_bounds__(256) sample(SplitOperand a, SplitOperand b, GrowthSample to) {
  sample_growth<256>(a, b, kDepth, static_cast<int>(blockIdx.x), to);
}

// As the blocks of the pre-pass do: each adds what a warp has found.
__global__ void __launch_bounds__(32)
    add(const Census* census, int vectors, int exceptional, SharedExtremes* to) {
  const int vector = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  Extremes all;
  if (vector < vectors) all.take(census[vector], vector < exceptional, kDepth);
  all.reduce_warp();
  if (threadIdx.x == 0) to->add(all, static_cast<int>(blockIdx.x));
}

__global__ void __launch_bounds__(32)
    decide(const GuardState* state, int m, int n, PlacesNeeded needed, Verdict* to) {
  const Verdict verdict = verdict_of(*state, m, n, kDepth, needed);
  if (threadIdx.x == 31) *to = verdict;
}

template <class T>
test::OnDevice<T> managed(std::size_t count) {
  T* g = nullptr;
  EXPECT_EQ(cudaMallocManaged(&g, std::max(count, std::size_t{1}) * sizeof(T)), cudaSuccess);
  std::memset(g, 0, count * sizeof(T));
  return test::OnDevice<T>(g);
}

Verdict ask(const std::vector<Census>& a, const std::vector<Census>& b,
            const std::vector<float>& values = ones(), int exceptional = 0) {
  const std::size_t vectors[2] = {a.size(), b.size()};
  const auto gCensus = managed<Census>(a.size() + b.size());
  const auto gState = managed<GuardState>(1);
  const auto gVerdict = managed<Verdict>(1);
  const auto gValues = managed<float>(std::size_t{2} * kDepth);  // ones for A, then B's
  std::copy(a.begin(), a.end(), gCensus.get());
  std::copy(b.begin(), b.end(), gCensus.get() + a.size());
  std::fill_n(gValues.get(), kDepth, 1.0F);
  std::copy(values.begin(), values.end(), gValues.get() + kDepth);
  SplitOperand x[2]{};
  for (int of = 0; of < 2; ++of) {
    const int count = static_cast<int>(vectors[of]);
    x[of].g = gValues.get() + of * kDepth, x[of].vectors = count, x[of].along_k = true;
    add<<<(count + 31) / 32, 32>>>(gCensus.get() + (of == 0 ? 0 : a.size()), count,
                                   of == 0 ? exceptional : 0, &gState[0].of[of]);
  }
  const auto gChains = managed<double>(sample_bytes(kDepth) / sizeof(double));
  sample<<<sample_blocks(kDepth), 256>>>(x[0], x[1], {&gState[0].sample, gChains.get()});
  const double budget = ieee_error(kDepth) - split_error(Precision::kFp16x3, kDepth).products;
  decide<<<1, 32>>>(gState.get(), x[0].vectors, x[1].vectors, places_needed(kDepth, budget),
                    gVerdict.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return gVerdict[0];
}

std::vector<Census> many(std::size_t count, const Census& census) {
  return std::vector<Census>(count, census);
}

void expect(const Verdict& verdict, SplitChoice choice) { EXPECT_EQ(verdict.choice, choice); }

TEST(SplitChoice, DenseVectorsTakeTwoTerms) {
  expect(ask(many(700, kDense), many(9000, kDense)), SplitChoice::kFp16x3);
  expect(ask(many(700, kDenseWithTiny), many(300, kDense)), SplitChoice::kFp16x3);
  expect(ask(many(700, kDenseWithTiny), many(300, kDenseWithTiny)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, OneVectorFarFromTheOthersIsSeenWhereverItIs) {
  for (const std::size_t at : {0UL, 511UL, 512UL, 8191UL, 8999UL}) {
    auto b = many(9000, kDense);
    b[at] = kGraded;
    expect(ask(many(40, kGraded), b), SplitChoice::kBf16x6);
    b[at] = kMinute;
    expect(ask(many(40, kDense), b), SplitChoice::kBinary64);
  }
}

TEST(SplitChoice, SparseAgainstDenseOverlaps) {
  Census half = kDenseWithTiny;  // half of A is zero
  half.above[0] = half.above[1] = half.above[2] = 2040;
  expect(ask(many(64, half), many(64, kDense)), SplitChoice::kFp16x3);
  // they may miss each other's result
  expect(ask(many(64, half), many(64, half)), SplitChoice::kBf16x6);
}

TEST(SplitChoice, VectorsOfZerosCountForNothing) {
  auto a = many(90, kDenseWithTiny);
  a[17] = kZeros;
  expect(ask(a, many(5, kDense)), SplitChoice::kFp16x3);
  expect(ask(many(3, kZeros), many(5, kZeros)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, ManyVectorsWithInfOrNanTakeNoTerms) {
  auto a = many(300, kDense);
  std::fill_n(a.begin(), 5, kZeros);  // such vectors are not counted
  expect(ask(a, many(5, kDense), ones(), 4), SplitChoice::kFp16x3);
  expect(ask(a, many(5, kDense), ones(), 5), SplitChoice::kBinary64);
  expect(ask(many(5, kZeros), many(300, kDense), ones(), 1), SplitChoice::kBinary64);
}

TEST(SplitChoice, FewLargeProductsTakeNoTerms) {
  Census few = kDense;
  few.above[0] = 3;
  expect(ask(many(70, few), many(50, kDense)), SplitChoice::kFp16x3);
  few.above[0] = 2;
  expect(ask(many(70, few), many(50, kDense)), SplitChoice::kBinary64);  // 2 x 4000 of 4096
  auto mixed = many(70, few);
  std::fill_n(mixed.begin(), 35, kDense);
  expect(ask(mixed, many(50, kDense)), SplitChoice::kFp16x3);
  few.above[0] = 90;
  expect(ask(many(70, few), many(50, few)), SplitChoice::kBinary64);
  few.above[0] = 91;
  expect(ask(many(70, few), many(50, few)), SplitChoice::kFp16x3);
}

TEST(SplitChoice, SumsThatStaySmallTakeThreeTerms) {
  expect(ask(many(70, kDense), many(50, kDense), alternating()), SplitChoice::kBf16x6);
  auto later = alternating();  // a chain that grows at the end counts as growing
  for (std::size_t k = kDepth - 64; k < kDepth; ++k) later[k] = 1.0F;
  expect(ask(many(70, kDense), many(50, kDense), later), SplitChoice::kBf16x6);
  for (std::size_t k = kDepth - 512; k < kDepth; ++k) later[k] = 1.0F;
  expect(ask(many(70, kDense), many(50, kDense), later), SplitChoice::kFp16x3);
  expect(ask(many(70, kDense), many(50, kDense), std::vector<float>(kDepth, 0.0F)),
         SplitChoice::kFp16x3);
}

TEST(SplitChoice, SumsOfIntegersAreNotCompensated) {
  EXPECT_EQ(ask(many(64, kIntegers), many(70, kIntegers)).up, 1.0F);
  EXPECT_EQ(ask(many(64, kIntegers), many(70, kDense)).up, kCompensation);
}

}  // namespace
}  // namespace ladder
