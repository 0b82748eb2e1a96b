// SPDX-License-Identifier: Apache-2.0
// The split pre-pass by itself: terms that sum to their element, zeros behind each vector, scales,
// exceptional vectors, and the census, for K-major and other operands, aligned or not. Runs on a
// GPU, or under the virtual one, whose race check sees a tile that two blocks write.
#include "gemm/split/pass.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/device_memory.hpp"

namespace ladder {
namespace {

struct Case {
  int vectors_a, vectors_b, k;
  bool along_a, along_b;
  int padding;  // of leading dimensions
};

template <class T>
class Memory {
 public:
  explicit Memory(std::size_t count, unsigned char fill)
      : g_(test::filled_array<T>(count, fill)), count_(count) {}
  explicit Memory(const std::vector<T>& values) : g_(test::upload(values)), count_(values.size()) {}
  T* get() const { return g_.get(); }
  std::vector<T> copy() const { return test::download(g_, count_); }

 private:
  test::OnDevice<T> g_;
  std::size_t count_;
};

// An operand on its way: values on the host, everything else on the device.
template <class F>
struct Vectors {
  Vectors(int vectors, int k, bool along, int padding, std::uint32_t seed)
      : vectors(vectors),
        k(k),
        along(along),
        ld((along ? k : vectors) + padding),
        slabs((k + F::BK - 1) / F::BK) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    host.assign(static_cast<std::size_t>(along ? vectors : k) * ld,
                std::numeric_limits<float>::quiet_NaN());
    for (int vector = 0; vector < vectors; ++vector) {
      for (int i = 0; i < k; ++i) at(vector, i) = std::ldexp(normal(engine), vector % 50 - 25);
    }
    if (vectors > 3) {
      at(0, k / 2) = std::numeric_limits<float>::infinity();
      for (int i = 0; i < k; ++i) at(1, i) = 0;
      for (int i = 0; i < k; ++i) at(2, i) = std::ldexp(at(2, i), -120);  // some subnormal
      at(3, 0) = 0x1p120F;                                                // all others tiny
    }
  }
  float& at(int vector, int i) {
    return host[along ? std::size_t(vector) * ld + i : std::size_t(i) * ld + vector];
  }

  int vectors, k;
  bool along;
  int ld, slabs;
  std::vector<float> host;
};

template <class F>
class Device {
 public:
  explicit Device(const Vectors<F>& x)
      : g(x.host),
        terms(static_cast<std::size_t>(x.vectors) * x.slabs * F::kTerms * F::BK, 0xFF),
        exponents(x.vectors, 0xFF),
        largest(static_cast<std::size_t>(kChunks) * x.vectors, 0xFF),
        census(x.vectors, 0),
        extremes(1, 0) {}
  SplitOperand operand(const Vectors<F>& x) const {
    return {.g = g.get(),
            .ld = x.ld,
            .vectors = x.vectors,
            .along_k = x.along,
            .aligned = x.ld % 4 == 0,
            .gTerms = terms.get(),
            .gExponent = exponents.get(),
            .gLargest = largest.get(),
            .gCensus = census.get(),
            .gExtremes = extremes.get()};
  }
  Memory<float> g;
  Memory<typename F::Term> terms;
  Memory<int> exponents;
  Memory<std::uint32_t> largest;
  Memory<Census> census;
  Memory<SharedExtremes> extremes;
};

Extremes found(const SharedExtremes& x) {
  Extremes all;
  for (const auto& copy : x.of) {
    all.inverse = std::max(all.inverse, copy.x.inverse);
    all.seconds |= copy.x.seconds;
    for (int i = 0; i < kLevels; ++i) all.missing[i] = std::max(all.missing[i], copy.x.missing[i]);
    all.vectors += copy.x.vectors;
    all.exceptional += copy.x.exceptional;
    all.large += copy.x.large;
  }
  return all;
}

template <class F>
void check(Vectors<F>& x, const Device<F>& device, double relative, double floor, bool counted) {
  const auto terms = device.terms.copy();
  const auto exponents = device.exponents.copy();
  Extremes expected_of_all;
  bool has_seconds = false;
  for (int vector = 0; vector < x.vectors; ++vector) {
    float largest = 0;
    bool exceptional = false;
    for (int i = 0; i < x.k; ++i) {
      exceptional |= !std::isfinite(x.at(vector, i));
      largest = std::max(largest, std::abs(x.at(vector, i)));
    }
    ASSERT_EQ(exponents[vector] == kExceptional, exceptional) << "vector " << vector;
    if (exceptional) {
      ++expected_of_all.exceptional;
      continue;
    }
    if (largest > 0) {
      ASSERT_EQ(std::ilogb(std::ldexp(static_cast<double>(largest), exponents[vector])), F::kTop);
    }
    Census expected{};
    const auto term = [&](int w, int i) {
      const std::size_t slab = static_cast<std::size_t>(vector) * x.slabs + i / F::BK;
      return static_cast<float>(terms[(slab * F::kTerms + w) * F::BK + i % F::BK]);
    };
    for (int i = 0; i < x.slabs * F::BK; ++i) {
      const double element = i < x.k ? static_cast<double>(x.at(vector, i)) : 0.0;
      const double scaled = std::ldexp(element, exponents[vector]);
      double sum = 0;
      for (int w = 0; w < F::kTerms; ++w) sum += term(w, i);
      ASSERT_LE(std::abs(sum - scaled), relative * std::abs(scaled) + floor)
          << "vector " << vector << " k " << i;
      const double top = std::ldexp(1.0, F::kTop);
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::abs(scaled)));
      if (element != 0)
        expected_of_all.inverse = std::max(expected_of_all.inverse, ~(bits | 0x80000000U));
      has_seconds |= term(1, i) != 0;
      for (int l = 0; l < kLevels; ++l)
        expected.above[l] += std::abs(term(0, i)) >= std::ldexp(top, -level_bits(l)) ? 1 : 0;
    }
    if (expected.above[0] == 0) continue;
    ++expected_of_all.vectors;
    expected_of_all.large += expected.above[0];
    for (int l = 0; l < kLevels; ++l)
      expected_of_all.missing[l] = std::max(expected_of_all.missing[l], x.k - expected.above[l]);
  }
  if (!counted) return;
  const Extremes all = found(device.extremes.copy().front());
  EXPECT_EQ(all.inverse, expected_of_all.inverse);
  EXPECT_EQ(all.seconds != 0, has_seconds);
  EXPECT_EQ(all.vectors, expected_of_all.vectors);
  EXPECT_EQ(all.exceptional, expected_of_all.exceptional);
  EXPECT_EQ(all.large, expected_of_all.large);
  for (int l = 0; l < kLevels; ++l) EXPECT_EQ(all.missing[l], expected_of_all.missing[l]) << l;
  for (const Census& c : device.census.copy())
    EXPECT_EQ(c.inverse | c.seconds | c.above[0] | c.above[1] | c.above[2] | c.arrived, 0U);
}

// What the sample must find. None of the cases has a chain at the limit, where the order of
// additions would decide.
template <class F>
Growth growth_of(Vectors<F>& a, Vectors<F>& b) {
  constexpr int kEdge = kSampleEdge;
  Growth growth{0, 0};
  for (int pair = 0; pair < kSamplePairs; ++pair) {
    const int vector_a = a.vectors * (2 * (pair / kEdge) + 1) / (2 * kEdge);
    const int vector_b = b.vectors * (2 * (pair % kEdge) + 1) / (2 * kEdge);
    double sum = 0, squares = 0, products = 0;
    for (int k = 0; k < std::min(a.k, kSampleDepth); ++k) {
      const double p = static_cast<double>(a.at(vector_a, k)) * b.at(vector_b, k);
      if (std::isfinite(p)) sum += p, products += p * p;
      squares += sum * sum;
    }
    growth.chains += products != 0 ? 1 : 0;
    growth.grown += products != 0 && squares >= kGrowth * products ? 1 : 0;
  }
  return growth;
}

// The pass, and what its sample finds.
template <Extra kExtra, class F>
void pass(Vectors<F>& a, Vectors<F>& b, const Device<F>& device_a, const Device<F>& device_b) {
  const Memory<SampleState> state(1, 0);
  const Memory<double> chains(sample_bytes(a.k) / sizeof(double), 0xFF);
  SplitPass pass{device_a.operand(a), device_b.operand(b), a.k, a.slabs};
  pass.sample = {state.get(), chains.get()};
  pass.sampled_a = a.vectors, pass.sampled_b = b.vectors;
  const Status status = split_operands<F, kExtra>(pass, nullptr);
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const Growth expected = growth_of(a, b), found = Growth::unpacked(state.copy().front().growth);
  EXPECT_EQ(found.chains, expected.chains);
  EXPECT_EQ(found.grown, expected.grown);
  EXPECT_EQ(state.copy().front().arrived, 0U);
}

template <class F>
void run(const Case& c, double relative, double floor) {
  SCOPED_TRACE(testing::Message() << c.vectors_a << "x" << c.vectors_b << "x" << c.k << " along "
                                  << c.along_a << c.along_b << " padding " << c.padding);
  Vectors<F> a(c.vectors_a, c.k, c.along_a, c.padding, 1),
      b(c.vectors_b, c.k, c.along_b, c.padding, 2);
  const Device<F> device_a(a), device_b(b);
  constexpr bool kCounts = std::is_same_v<typename F::Term, __half>;
  pass<kCounts ? Extra::kCount : Extra::kSample>(a, b, device_a, device_b);
  check(a, device_a, relative, floor, kCounts);
  check(b, device_b, relative, floor, kCounts);
}

constexpr Case kCases[] = {{70, 66, 100, true, true, 0},    {9, 130, 320, true, false, 3},
                           {65, 5, 333, false, true, 1},    {64, 72, 600, false, false, 0},
                           {3, 2, 1300, true, false, 5},    {4, 4, 5000, true, true, 0},
                           {1, 1, 1, false, false, 0},      {6, 7, 9000, true, false, 0},
                           {5, 4, 17000, true, true, 3},    {33, 31, 1900, false, false, 2},
                           {5, 18, 5000, false, false, 0},  {40, 3, 570, false, true, 0},
                           {36, 72, 2500, false, false, 0}, {34, 9, 4096, false, true, 2},
                           {5, 1300, 2049, true, false, 0}, {41, 2050, 2304, false, false, 2},
                           {41, 47, 3000, false, false, 1}, {9, 30, 2040, true, true, 1},
                           {20, 34, 8192, false, false, 2}, {7, 40, 4100, true, false, 0},
                           {9, 12, 768, true, true, 0},     {10, 8, 769, false, true, 0}};

TEST(SplitPass, TwoFp16TermsHoldTwentyTwoBits) {
  for (const Case& c : kCases) run<TermFormat<__half, 2>>(c, 0x1p-23, 0x1p-25);
}

TEST(SplitPass, SamplesWithoutACensus) {
  for (const Case& c : kCases) {
    using F = TermFormat<__half, 2>;
    SCOPED_TRACE(testing::Message() << c.vectors_a << "x" << c.vectors_b << "x" << c.k << " along "
                                    << c.along_a << c.along_b);
    Vectors<F> a(c.vectors_a, c.k, c.along_a, c.padding, 3),
        b(c.vectors_b, c.k, c.along_b, c.padding, 4);
    const Device<F> device_a(a), device_b(b);
    pass<Extra::kSample>(a, b, device_a, device_b);
  }
}

// Random walks between two walls: some grow by a little too much, others by a little too little.
TEST(SplitPass, SamplesPartialSumsInTheOrderOfK) {
  using F = TermFormat<__half, 2>;
  std::mt19937 engine(5);
  for (const int k : {300, 768, 769, 1000, 2048, 6100, 9000}) {
    for (const bool along : {true, false}) {
      SCOPED_TRACE(testing::Message() << k << " along " << along);
      Vectors<F> a(8, k, along, 0, 3), b(8, k, !along, 0, 4);
      for (int vector = 0; vector < 8; ++vector) {
        const int wall = 6 + vector;
        for (int i = 0, sum = 0; i < k; ++i) {
          const int step = std::abs(sum) == wall ? (sum > 0 ? -1 : 1) : (engine() % 2 ? 1 : -1);
          sum += step;
          a.at(vector, i) = static_cast<float>(step);
          b.at(vector, i) = std::ldexp(1.0F, vector);
        }
      }
      const Growth expected = growth_of(a, b);
      EXPECT_GT(expected.grown, 0U);
      EXPECT_LT(expected.grown, expected.chains);
      const Device<F> device_a(a), device_b(b);
      pass<Extra::kSample>(a, b, device_a, device_b);
    }
  }
}

TEST(SplitPass, ThreeBf16TermsHoldAllBits) {
  for (const Case& c : kCases) run<TermFormat<__nv_bfloat16, 3>>(c, 0, 0x1p-125);
}

TEST(SplitPass, TwoBf16TermsHoldSixteenBits) {
  run<TermFormat<__nv_bfloat16, 2>>(kCases[3], 0x1p-17, 0x1p-125);
}

TEST(SplitPass, TwoTf32TermsHoldTwentyTwoBits) {
  run<TermFormat<float, 2>>(kCases[3], 0x1p-23, 0x1p-125);
}

}  // namespace
}  // namespace ladder
