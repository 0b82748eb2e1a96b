// SPDX-License-Identifier: Apache-2.0
// Every kernel for few rows, with every number of threads per column and k-splits, whether or not a
// plan takes it: sums of integers, which are exact, in every layout, with leading dimensions that
// are aligned or not, and NaN and Inf between rows.
#include <gtest/gtest.h>

#include <string>

#include "device/launch_dependent.cuh"
#include "gemm/plan/costs.hpp"
#include "gemm/plan/part_plan.hpp"
#include "gemm/simt/direct_product.cuh"
#include "gemm/simt/dot_product.cuh"
#include "gemm/simt/thin_product.cuh"
#include "part_job.cuh"

namespace ladder {
namespace {

struct Shape {
  int m, n, k, more;  // more: of the leading dimensions
  bool a_along, c_rows;
  int lanes, parts;
  float alpha = 2.0F, beta = -1.0F;
};

template <class Launch>
void expect_job(const Shape& s, bool b_along, int skip, std::int64_t sums, Launch launch) {
  PartJob job{};
  job.tiles_m = job.cluster = 1;
  job.parts = s.parts;
  job.lanes = s.lanes;
  expect_launched({s.m, s.n, s.k, s.a_along, b_along, s.c_rows, s.alpha, s.beta}, s.more, skip, job,
                  sums, launch);
}

template <class T>
void expect_product(const Shape& s) {
  SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               ", rows " + std::to_string(T::R) + ", columns " + std::to_string(T::V) +
               (T::kAlongK ? " along k" : " across") + (T::kFloat4 ? ", wide" : "") + ", lanes " +
               std::to_string(1 << s.lanes) + ", parts " + std::to_string(s.parts) + ", more " +
               std::to_string(s.more));
  const int columns = 1 << T::log_columns(s.lanes), tiles = (s.n + columns - 1) / columns;
  constexpr auto* kKernel = [] {
    if constexpr (T::kAlongK) {
      return &thin_along<T>;
    } else {
      return &thin_across<T>;
    }
  }();
  expect_job(s, T::kAlongK, T::kFloat4 ? 0 : 1,
             std::int64_t{tiles} * (s.parts - 1) * T::R * columns, [&](const PartJob& x) {
               return launch_dependent("few rows", kKernel, std::int64_t{tiles} * s.parts, 1,
                                       T::kThreads, T::kBytes, nullptr, x);
             });
}

template <bool kFloat4>
void expect_direct(const Shape& s, bool b_along) {
  SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               (b_along ? " along k" : " across") + (kFloat4 ? ", wide" : "") + ", lanes " +
               std::to_string(1 << s.lanes));
  const int threads = b_along ? s.n << s.lanes : kFloat4 ? s.n / 4 : s.n;
  const Grid grid((threads + kDirectThreads - 1) / kDirectThreads, s.m);
  expect_job(s, b_along, kFloat4 ? 0 : 1, 0, [&](const PartJob& x) {
    return launch_dependent("direct", b_along ? direct_along<kFloat4> : direct_across<kFloat4>,
                            grid, 1, kDirectThreads, 0, nullptr, x);
  });
}

template <class T>
void expect_products() {
  for (int lanes = 0; lanes <= (T::kAlongK ? kMostThinLanes : 5); ++lanes) {
    const int columns = 1 << T::log_columns(lanes);
    const bool a_along = lanes % 2 == 0, c_rows = lanes % 3 != 0;
    const int more = T::kFloat4 ? 0 : 1;
    const auto rounded = [](int x) { return T::kFloat4 ? (x + 3) / 4 * 4 : x; };
    // Of A the leading dimension is m or k, of B n or k.
    expect_product<T>({T::R, rounded(columns + 3), 8, more, a_along, c_rows, lanes, 1});
    expect_product<T>(
        {(T::R + 2) / 2, rounded(5), rounded(173), more, !a_along, !c_rows, lanes, 1});
    expect_product<T>({T::R, 7, 95, 1, a_along, !c_rows, lanes, 3, 0.5F, 0.0F});
    if (lanes % 2 == 0)
      expect_product<T>({T::R, 4, 2 * T::kChunk + 36, 4, !a_along, c_rows, lanes, 2});
    if (lanes == 3)
      expect_product<T>(
          {(T::R + 1) / 2, rounded(2 * columns + 1), 32 * 40 - 4, more, true, true, lanes, 40});
  }
}

template <int R>
void expect_rows() {
  expect_products<ThinAcross<R, true>>();
  expect_products<ThinAcross<R, false>>();
  expect_products<ThinAlong<R, true>>();
  expect_products<ThinAlong<R, false>>();
}

TEST(ThinProduct, OneRow) { expect_rows<1>(); }
TEST(ThinProduct, TwoRows) { expect_rows<2>(); }
TEST(ThinProduct, FourRows) { expect_rows<4>(); }
TEST(ThinProduct, EightRows) { expect_rows<8>(); }
TEST(ThinProduct, SixteenRows) { expect_rows<16>(); }

TEST(DirectProduct, EveryNumberOfThreadsPerColumn) {
  for (int lanes = 0; lanes <= 5; ++lanes) {
    for (const int k : {0, 1, 7, 8, 9, 100}) {
      const bool c_rows = lanes % 2 == 0, a_along = k % 2 == 0;
      expect_direct<false>({3, 70, k, 1, a_along, c_rows, lanes, 1}, true);
      expect_direct<false>({3, 300, k, 1, a_along, c_rows, lanes, 1, 0.5F, 0.0F}, false);
      expect_direct<true>({2, 300, k / 4 * 4, 0, true, c_rows, lanes, 1}, true);
      expect_direct<true>({5, 1032, k, 0, k % 4 == 0, c_rows, lanes, 1, 0.5F, 0.0F}, false);
    }
  }
}

// kAlongK needs a K-major operand, kAcrossK one that is not; kSingle reads either, by 4-byte loads.
template <int M, int N, DotLoads kA, DotLoads kB, int kAtOnce = 1>
void expect_dots(const Shape& s, bool b_along, int skip) {
  SCOPED_TRACE(std::to_string(M) + " x " + std::to_string(N) + " elements of " +
               std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               ", loads " + std::to_string(static_cast<int>(kA)) + " and " +
               std::to_string(static_cast<int>(kB)) + ", threads " + std::to_string(1 << s.lanes));
  expect_job(s, b_along, skip, 0, [&](PartJob x) {
    x.tiles_m = (s.m + M - 1) / M;
    x.early = s.lanes % 2 == 0;
    return launch_dependent("dots", dot_product<M, N, kAtOnce, kA, kB>,
                            std::int64_t{x.tiles_m} * ((s.n + N - 1) / N), 1, 1 << s.lanes, 0,
                            nullptr, x);
  });
}

template <int M, int N, DotLoads kA, DotLoads kB, int kAtOnce = 1>
void expect_every_dot() {
  constexpr bool kAlong = kA == DotLoads::kAlongK || kB == DotLoads::kAlongK,
                 kWide = kAlong || kA == DotLoads::kAcrossK || kB == DotLoads::kAcrossK;
  for (int lanes = 5; 1 << lanes <= kMostDotThreads; ++lanes) {
    for (const int k : {0, 1, 31, 100, 4 << lanes, (8 << lanes) + 4}) {
      if (kAlong && k % 4 != 0) continue;
      const bool a_along = kA == DotLoads::kAlongK || (kA == DotLoads::kSingle && lanes % 2 == 0),
                 b_along = kB == DotLoads::kAlongK || (kB == DotLoads::kSingle && k % 3 == 1);
      const int m = kA == DotLoads::kAcrossK ? 8 : M + 2, n = kB == DotLoads::kAcrossK ? 8 : N + 1;
      expect_dots<M, N, kA, kB, kAtOnce>(
          {m, n, k, kWide ? 4 : 1, a_along, lanes % 3 != 0, lanes, 1}, b_along, kWide ? 0 : 1);
    }
  }
}

TEST(DotProduct, OneElement) {
  using enum DotLoads;
  expect_every_dot<1, 1, kAlongK, kAlongK>();
  expect_every_dot<1, 1, kAlongK, kSingle>();
  expect_every_dot<1, 1, kSingle, kSingle>();
  expect_every_dot<1, 1, kAlongK, kAlongK, 2>();
  expect_every_dot<1, 1, kAlongK, kSingle, 2>();
  expect_every_dot<1, 1, kSingle, kSingle, 2>();
}
TEST(DotProduct, FourColumns) {
  using enum DotLoads;
  expect_every_dot<1, 4, kAlongK, kAlongK>();
  expect_every_dot<1, 4, kAlongK, kAcrossK>();
  expect_every_dot<1, 4, kAlongK, kSingle>();
  expect_every_dot<1, 4, kSingle, kAlongK>();
  expect_every_dot<1, 4, kSingle, kAcrossK>();
  expect_every_dot<1, 4, kSingle, kSingle>();
}
TEST(DotProduct, FourByFour) {
  using enum DotLoads;
  expect_every_dot<4, 4, kAlongK, kAlongK>();
  expect_every_dot<4, 4, kAlongK, kAcrossK>();
  expect_every_dot<4, 4, kAlongK, kSingle>();
  expect_every_dot<4, 4, kAcrossK, kAcrossK>();
  expect_every_dot<4, 4, kAcrossK, kSingle>();
  expect_every_dot<4, 4, kSingle, kSingle>();
}

TEST(ThinProduct, ScalesCWhereNothingIsMultiplied) {
  expect_product<ThinAcross<1, false>>({1, 5, 0, 0, true, true, 1, 1, 0.0F, 3.0F});
  expect_product<ThinAlong<1, false>>({1, 5, 0, 0, true, true, 1, 1, 0.0F, 0.0F});
}

TEST(ThinPlan, SplitsKWhereColumnsAreFewAndNotWhereTheyFillTheDevice) {
  constexpr int kSms = 132;
  for (const bool along : {false, true}) {
    EXPECT_GT(plan_thin({1, 8, 16384, true, along, true, true}, kSms).parts, 4);
    EXPECT_EQ(plan_thin({1, 16384, 256, true, along, true, true}, kSms).parts, 1);
    EXPECT_EQ(plan_thin({1, 64, 8, true, along, true, true}, kSms).parts, 1);
  }
  EXPECT_NE(plan_thin({kThinVectors + 1, 64, 1024, true, true, true, true}, kSms).kind,
            ThinKind::kRows);
}

TEST(ThinPlan, GivesEveryPartAStepAndFewSumsToOtherBlocks) {
  for (const int sms : {1, 2, 78, 132}) {
    for (const std::int64_t rows : {1, 3, 16}) {
      for (const std::int64_t k : {0, 1, 33, 5000, 1 << 28}) {
        for (const bool along : {false, true}) {
          const PartShape x{rows, 1000 * rows + 1, k, true, along, true, false};
          int plans = 0;
          each_thin_plan(x, sms, [&](const ThinPlan& plan) {
            ++plans;
            if (plan.kind != ThinKind::kRows) return;
            const std::int64_t tiles = (x.cols + thin_columns(plan) - 1) / thin_columns(plan);
            EXPECT_GE(plan.parts, 1);
            EXPECT_LE(plan.parts, std::max<std::int64_t>(1, (k + 31) / 32));
            EXPECT_LE((plan.parts - 1) * tiles * thin_columns(plan) * rows, limit::thin_sums);
            EXPECT_GT(plan.cycles, 0);
          });
          EXPECT_GT(plans, 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ladder
