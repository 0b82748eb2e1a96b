// SPDX-License-Identifier: Apache-2.0
// Products with a fused split of the larger operand, and the choice of guarded ones, which follows
// the product. The device reports eight SMs: on few SMs a pre-pass takes so long that small
// problems have a fused split.
#include <functional>
#include <span>

#include "guarded_products.hpp"
#include "support/pretended_device.hpp"

namespace ladder {
namespace {

using namespace split_test;

[[maybe_unused]] const bool kFewSms = [] {
  pretended.sms = 8;
  return true;
}();

// Needs a scale per 64 steps of k: elements of one row differ by up to 2^100, and each is
// multiplied by zeros in other ranges. K is deep, so that blocks forward partial sums of either
// scale; `rising`: the small ones first.
void expect_all_of_k(bool rising, std::pair<Op, Op> ops) {
  constexpr std::int64_t kSlab = 64, kDeep = 20 * kSlab;
  for (const auto& [m, n] : {std::pair{96, 260}, {260, 40}}) {
    Matrices x = uniform(make_problem(m, n, kDeep, 1, 0, ops.first, ops.second));
    const std::int64_t lines = std::max(m, n), others = std::min(m, n);
    const bool tall = m > n;
    const auto many = [&](std::int64_t line, std::int64_t k) -> float& {
      return tall ? x.at_a(line, k) : x.at_b(k, line);
    };
    const auto few = [&](std::int64_t line, std::int64_t k) -> float& {
      return tall ? x.at_b(k, line) : x.at_a(line, k);
    };
    for (std::int64_t k = 0; k < kDeep; ++k) {
      const bool small = (k < kDeep / 2) == rising;
      for (std::int64_t line = 0; small && line < lines; ++line)
        many(line, k) = std::ldexp(many(line, k), line % 3 == 0 ? -60 : line % 3 == 1 ? -100 : 0);
      for (std::int64_t line = 0; line < others; ++line) {
        if ((line % 2 == 0) == small)
          few(line, k) = 0;  // even rows are multiplied by large elements, odd ones by small ones
      }
    }
    expect_as_sgemm(x, "ladder_fp16x3_fused");
  }
}

TEST(Fused, ScalesEachSlabByItself) {
  for (const auto& ops : kOps) {
    expect_all_of_k(true, ops);
    expect_all_of_k(false, ops);
  }
}

// C of few rows or columns, where the larger operand is split in the product kernel and the choice
// follows the product.
const std::pair<std::int64_t, std::int64_t> kThin[] = {{2048, 40}, {72, 2052}};

TEST(GuardOfThin, TakesTwoTermsWhereEach64IsProved) {
  for (const auto& [m, n] : kThin) {
    for (const auto& [op_a, op_b] : kOps) {
      const Problem p = make_problem(m, n, 256, 1, 0, op_a, op_b);
      EXPECT_EQ(chosen_on(uniform(p)), Precision::kFp16x3);
      Matrices x = uniform(p);
      for (std::int64_t k = 0; k < p.k; ++k) {  // each range of 64 steps has its own scale
        const int by = k / 64 % 2 == 0 ? 40 : 0;
        for (std::int64_t i = 0; m > n && i < m; ++i) x.at_a(i, k) = std::ldexp(x.at_a(i, k), by);
        for (std::int64_t j = 0; m < n && j < n; ++j) x.at_b(k, j) = std::ldexp(x.at_b(k, j), by);
      }
      EXPECT_EQ(chosen_on(x), Precision::kFp16x3);
    }
  }
}

// Changes one range of 64 elements in one row of an operand.
void expect_no_terms(const Problem& p, const std::function<void(Matrices&)>& change) {
  Matrices x = uniform(p);
  change(x);
  EXPECT_EQ(chosen_on(x), Precision::kIeee);
  EXPECT_EQ(chosen_on(uniform(p)), Precision::kFp16x3);  // no state remains from earlier calls
}

TEST(GuardOfThin, TakesNoTermsWhereOne64OfOneVectorIsNotProved) {
  for (const auto& [m, n] : kThin) {
    for (const auto& [op_a, op_b] : kOps) {
      const Problem p = make_problem(m, n, 256, 1, 0, op_a, op_b);
      expect_no_terms(p, [](Matrices& x) { x.at_a(x.p.m - 1, 255) = 0x1p20F; });
      expect_no_terms(p, [](Matrices& x) { x.at_b(70, x.p.n - 1) = 0x1p20F; });
      expect_no_terms(
          // scales so different that sums lose their earlier or later products
          p, [](Matrices& x) {
            const bool tall = x.p.m > x.p.n;
            for (std::int64_t k = 0; k < 64; ++k) {
              float& of_a = x.at_a(7, tall ? k + 64 : k);
              float& of_b = x.at_b(tall ? k : k + 64, 7);
              of_a = std::ldexp(of_a, tall ? 70 : 0), of_b = std::ldexp(of_b, tall ? 0 : 70);
            }
          });
    }
  }
}

// The last range along k has fewer than 64 elements; those beyond k are not counted as lost.
TEST(GuardOfThin, TakesTwoTermsWhereTheLastRangeIsShortAndProved) {
  for (const auto& [m, n] : kThin) {
    for (const auto& [op_a, op_b] : kOps) {
      for (const std::int64_t k : {296, 540}) {  // 40 and 28 elements
        const Problem p = make_problem(m, n, k, 1, 0, op_a, op_b);
        expect_no_terms(p, [&](Matrices& x) { x.at_a(x.p.m - 1, k - 1) = 0x1p20F; });
        expect_no_terms(p, [&](Matrices& x) { x.at_b(k - 20, x.p.n - 1) = 0x1p20F; });
      }
    }
  }
}

TEST(GuardOfThin, IsNoFurtherOffThanAChainOnAnyKindOfData) {
  for (const Distribution distribution : distributions()) {
    Matrices x = drawn(make_problem(2048, 40, 512), distribution);
    const double guarded = error_of(x, run(kernel("ladder_guarded"), x)),
                 chain = error_of(x, chains_of(x));
    EXPECT_LE(guarded, chain) << to_string(distribution);
  }
}

void expect_all_exact(std::span<const std::pair<std::int64_t, std::int64_t>> shapes,
                      std::int64_t k) {
  for (const float beta : {0.0F, 2.0F}) {
    for (const auto& [m, n] : shapes) {
      Problem p = make_problem(m, n, k, 1, beta);
      p.ldc += 3;
      for (const bool proved : {false, true}) expect_exact(p, proved);
    }
  }
}

TEST(GuardOfThin, KeepsIntegersExactAndCWhereItIsNeededAgain) { expect_all_exact(kThin, 320); }

// C that is small compared with k: many blocks compute a part of each tile.
const std::pair<std::int64_t, std::int64_t> kDeep[] = {{132, 72}, {40, 136}};

TEST(GuardOfDeep, TakesTwoTermsWhereEach64IsProvedAndNoneElsewhere) {
  for (const auto& [m, n] : kDeep) {
    for (const auto& [op_a, op_b] : kOps) {
      EXPECT_EQ(chosen_on(uniform(make_problem(m, n, 4160, 1, 0, op_a, op_b))), Precision::kFp16x3);
    }
    const Problem p = make_problem(m, n, 4160);
    expect_no_terms(p, [](Matrices& x) { x.at_a(x.p.m - 1, 4159) = 0x1p20F; });
    expect_no_terms(p, [](Matrices& x) { x.at_b(70, x.p.n - 1) = 0x1p20F; });
    expect_no_terms(p,
                    [](Matrices& x) {  // a block's scale is so different that its products are lost
                      for (std::int64_t k = 4096; k < 4160; ++k) {
                        float& raw = x.p.m > x.p.n ? x.at_a(7, k) : x.at_b(k, 7);
                        raw = std::ldexp(raw, 70);
                      }
                    });
  }
}

TEST(GuardOfDeep, HasSpecialValuesWhereSgemmHasThem) {
  for (const auto& [m, n] : kDeep) {
    Matrices x = uniform(make_problem(m, n, 4160));
    x.at_a(3, 4100) = kInfinity, x.at_a(m - 1, 0) = kNan, x.at_b(64, n - 1) = -kInfinity;
    for (std::int64_t k = 0; k < x.p.k; ++k) x.at_a(5, k) = 0, x.at_b(k, 6) = 0;
    expect_as_sgemm(x, "ladder_guarded");
    expect_as_sgemm(x, "ladder_fp16x3_fused");
  }
}

TEST(GuardOfDeep, KeepsIntegersExactAndCWhereItIsNeededAgain) { expect_all_exact(kDeep, 4160); }

}  // namespace
}  // namespace ladder
