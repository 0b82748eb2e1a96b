// SPDX-License-Identifier: Apache-2.0
// Products of split operands on data that no battery draws: Inf, NaN, signed zeros, subnormals, the largest numbers, lines of
// zeros; and the guarded product's choice and errors on operands made to mislead it. Runs on a GPU, or under the virtual
// one.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <ladder/guard.hpp>
#include <ladder/kernel.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "verify/atlas.hpp"
#include "verify/bound.hpp"
#include "verify/input.hpp"

namespace ladder {

namespace r18_bf16x6 {
extern const std::span<const KernelInfo> kInfo;
}
namespace r19_fp16x3 {
extern const std::span<const KernelInfo> kInfo;
}
namespace r20_guarded {
extern const std::span<const KernelInfo> kInfo;
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

struct Free {
  void operator()(float* g) const { (void)cudaFree(g); }
};
std::unique_ptr<float, Free> on_device(const std::vector<float>& values) {
  float* g = nullptr;
  if (cudaMalloc(&g, values.size() * sizeof(float)) != cudaSuccess) return nullptr;
  (void)cudaMemcpy(g, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  return std::unique_ptr<float, Free>(g);
}

const KernelInfo& kernel(const std::string& id) {
  for (const auto infos : {r18_bf16x6::kInfo, r19_fp16x3::kInfo, r20_guarded::kInfo}) {
    for (const KernelInfo& info : infos) {
      if (info.id == id) return info;
    }
  }
  throw std::out_of_range("no kernel " + id);
}

struct Matrices {
  Problem p;
  std::vector<float> a, b, c;
  float& at_a(std::int64_t i, std::int64_t k) {
    return a[p.op_a == Op::kNone ? i * p.lda + k : k * p.lda + i];
  }
  float& at_b(std::int64_t k, std::int64_t j) {
    return b[p.op_b == Op::kNone ? k * p.ldb + j : j * p.ldb + k];
  }
};

Matrices uniform(const Problem& p, std::uint64_t seed = 3) {
  const Images images = make_images(p, {Values::kUniform, seed}, Precision::kIeee).value();
  return {p, images.a, images.b, images.c};
}

std::vector<float> run(const KernelInfo& which, const Matrices& x) {
  const auto a = on_device(x.a), b = on_device(x.b), c = on_device(x.c);
  const Status status = which.launch(x.p, {a.get(), b.get(), c.get()}, nullptr);
  EXPECT_TRUE(status) << status.message();
  std::vector<float> result(x.c.size());
  EXPECT_EQ(cudaMemcpy(result.data(), c.get(), result.size() * sizeof(float), cudaMemcpyDeviceToHost),
            cudaSuccess);
  return result;
}

struct Sums {
  double sum = 0, absolute = 0;
  bool finite = true, nan = false;
};
Sums exact(Matrices& x, std::int64_t i, std::int64_t j) {
  Sums s;
  for (std::int64_t k = 0; k < x.p.k; ++k) {
    const double product = static_cast<double>(x.at_a(i, k)) * x.at_b(k, j);
    s.sum += product;
    s.absolute += std::abs(product);
  }
  s.nan = std::isnan(s.sum);
  s.finite = std::isfinite(s.sum) && std::abs(s.sum) <= kLargest;
  return s;
}

// Inf and NaN where SGEMM has them, finite elements within the bound of `precision`.
void expect_as_sgemm(Matrices x, const std::string& id) {
  const KernelInfo& which = kernel(id);
  const std::vector<float> c = run(which, x);
  const ErrorBound bound = error_bound(x.p, which.precision).value();
  int wrong = 0;
  for (std::int64_t i = 0; i < x.p.m; ++i) {
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      const float got = c[i * x.p.ldc + j];
      const Sums s = exact(x, i, j);
      bool ok = false;
      if (s.nan) {
        ok = std::isnan(got);
      } else if (!s.finite) {
        ok = std::isinf(got) && std::signbit(got) == (s.sum < 0);
      } else {
        ok = std::abs(got - s.sum) <= bound.at(s.absolute, 0);
      }
      if (!ok && wrong++ < 3)
        ADD_FAILURE() << id << " C(" << i << "," << j << ") is " << got << ", exactly " << s.sum;
    }
  }
  EXPECT_EQ(wrong, 0) << id;
}

const std::vector<std::string> kAll{"r18_bf16x6", "r18_bf16x6_x9", "r19_fp16x3", "r19_fp16x3_fused",
                                    "r20_guarded"};
const std::pair<Op, Op> kOps[] = {
    {Op::kNone, Op::kNone}, {Op::kNone, Op::kTranspose}, {Op::kTranspose, Op::kNone}};

TEST(SplitSpecials, InfAndNanAreWhereSgemmHasThem) {
  for (const std::string& id : kAll) {
    for (const auto& [op_a, op_b] : kOps) {
      Matrices x = uniform(make_problem(150, 140, 200, 1, 0, op_a, op_b));
      x.at_a(3, 5) = kInfinity;
      x.at_a(70, 199) = -kInfinity;
      x.at_a(130, 0) = kNan;
      x.at_b(7, 66) = -kInfinity;
      x.at_b(5, 9) = 0;             // Inf times zero
      x.at_b(199, 12) = kInfinity;  // Inf times Inf
      x.at_b(100, 139) = kNan;
      expect_as_sgemm(x, id);
    }
  }
}

TEST(SplitSpecials, InfKeepsAlphaBetaAndC) {
  for (const std::string& id : kAll) {
    Matrices x = uniform(make_problem(66, 65, 190, 0.5F, 2));
    x.at_a(65, 3) = kInfinity;
    const std::vector<float> c = run(kernel(id), x);
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      EXPECT_TRUE(std::isinf(c[65 * x.p.ldc + j])) << id;
      const double expected = 0.5 * exact(x, 0, j).sum + 2.0 * x.c[j];
      EXPECT_NEAR(c[j], expected, 1e-5) << id;
    }
  }
}

TEST(SplitSpecials, ZerosAreZeroAndLinesOfThemStay) {
  for (const std::string& id : kAll) {
    Matrices x = uniform(make_problem(130, 70, 256));
    for (std::int64_t k = 0; k < x.p.k; ++k) {
      x.at_a(4, k) = k % 2 == 0 ? 0.0F : -0.0F;
      x.at_b(k, 69) = -0.0F;
    }
    const std::vector<float> c = run(kernel(id), x);
    for (std::int64_t j = 0; j < x.p.n; ++j) EXPECT_EQ(c[4 * x.p.ldc + j], 0.0F) << id;
    for (std::int64_t i = 0; i < x.p.m; ++i) EXPECT_EQ(c[i * x.p.ldc + 69], 0.0F) << id;
    expect_as_sgemm(x, id);
  }
}

TEST(SplitSpecials, SubnormalsAndTheLargestNumbersKeepTheirBits) {
  for (const std::string& id : kAll) {
    Matrices x = uniform(make_problem(40, 36, 192));
    for (std::int64_t k = 0; k < x.p.k; ++k) {
      x.at_a(0, k) = kSmallest * static_cast<float>(1 + k % 7);        // all of a row
      x.at_a(1, k) = std::ldexp(x.at_a(1, k), -130);                   // partly
      x.at_a(2, k) = k == 17 ? kLargest : k == 18 ? -kLargest : 0.0F;  // near overflow
      x.at_b(k, 0) = std::ldexp(x.at_b(k, 0), 100);                    // meets them
      x.at_b(k, 1) = kLargest;
    }
    x.at_b(17, 2) = 0.5F, x.at_b(18, 2) = 0.25F;
    for (std::int64_t k = 0; k < x.p.k; ++k) x.at_a(3, k) = kLargest;  // overflows with column 1
    expect_as_sgemm(x, id);
  }
}

// What only a scale for each 64 of k holds: elements of one line up to 2^100 apart, of which each meets zeros elsewhere. K is deep, so
// that blocks hand on sums of either scale; `rising`: the small ones first.
void expect_all_of_k(bool rising, std::pair<Op, Op> ops) {
  constexpr std::int64_t kSlab = 64, kDeep = 20 * kSlab;
  for (const auto& [m, n] : {std::pair{96, 260}, {260, 40}}) {
    Matrices x = uniform(make_problem(m, n, kDeep, 1, 0, ops.first, ops.second));
    const std::int64_t lines = std::max(m, n), others = std::min(m, n);
    const auto many = [&](std::int64_t line, std::int64_t k) -> float& {
      return m > n ? x.at_a(line, k) : x.at_b(k, line);
    };
    const auto few = [&](std::int64_t line, std::int64_t k) -> float& {
      return m > n ? x.at_b(k, line) : x.at_a(line, k);
    };
    for (std::int64_t k = 0; k < kDeep; ++k) {
      const bool small = (k < kDeep / 2) == rising;
      for (std::int64_t line = 0; small && line < lines; ++line)
        many(line, k) = std::ldexp(many(line, k), line % 3 == 0 ? -60 : line % 3 == 1 ? -100 : 0);
      for (std::int64_t line = 0; line < others; ++line) {
        if ((line % 2 == 0) == small) few(line, k) = 0;  // even lines see large elements, odd ones small ones
      }
    }
    expect_as_sgemm(x, "r19_fp16x3_fused");
  }
}

// Beta is 0, so that what C held, NaN here, is not read.
TEST(SplitStore, RowsThatBeginAnywhereHaveTheBitsOfRowsOnEvenPlaces) {
  for (const std::string& id : kAll) {
    for (const auto& ops : kOps) {
      Matrices even = uniform(make_problem(150, 322, 130, 1.5F, 0, ops.first, ops.second));
      Matrices odd = even;
      odd.p.ldc = 325;
      even.c.assign(even.c.size(), kNan);
      odd.c.assign(static_cast<std::size_t>(odd.p.m * odd.p.ldc), kNan);
      const std::vector<float> of_even = run(kernel(id), even), of_odd = run(kernel(id), odd);
      int different = 0;
      for (std::int64_t i = 0; i < odd.p.m; ++i) {
        for (std::int64_t j = 0; j < odd.p.ldc; ++j) {
          const float got = of_odd[i * odd.p.ldc + j];
          different += j < odd.p.n ? got != of_even[i * even.p.ldc + j] : !std::isnan(got);
        }
      }
      EXPECT_EQ(different, 0) << id;
    }
  }
}

// So deep that lines across k are split from shared memory, beside the kernel that has lines along k.
TEST(SplitDeep, IsAsSgemmWhicheverOperandLiesAcross) {
  for (const char* id : {"r18_bf16x6", "r19_fp16x3", "r20_guarded"}) {
    for (const auto& ops : kOps)
      expect_as_sgemm(uniform(make_problem(72, 100, 2112, 1, 0, ops.first, ops.second)), id);
  }
}

TEST(Fused, ScalesEachSlabByItself) {
  for (const auto& ops : kOps) {
    expect_all_of_k(true, ops);
    expect_all_of_k(false, ops);
  }
}

Precision chosen_on(Matrices x) {
  expect_as_sgemm(x, "r20_guarded");
  const auto choice = guarded_choice(nullptr);
  EXPECT_TRUE(choice) << choice.status().message();
  return choice ? choice.value() : Precision::kTf32;
}

TEST(Guard, TakesTwoWordsWhereThatIsProved) {
  for (const auto& [op_a, op_b] : kOps) {
    const Problem p = make_problem(96, 80, 512, 1, 0, op_a, op_b);
    EXPECT_EQ(chosen_on(uniform(p)), Precision::kFp16x3);
    Matrices x = uniform(p);
    for (float& value : x.a) value = std::abs(value);  // truncation is a bias there
    for (float& value : x.b) value = std::abs(value);
    EXPECT_EQ(chosen_on(x), Precision::kFp16x3);
    for (std::int64_t k = 0; k < p.k; ++k) x.at_a(1, k) = std::ldexp(x.at_a(1, k), 60);  // rows far apart
    x.at_a(0, 5) = 0x1p-30F;                                                             // one tiny element
    EXPECT_EQ(chosen_on(x), Precision::kFp16x3);
    Matrices sparse = uniform(p);  // a third of A is zero
    for (std::size_t i = 0; i < sparse.a.size(); i += 3) sparse.a[i] = 0;
    sparse.at_b(4, 4) = 0x1p-40F;
    EXPECT_EQ(chosen_on(sparse), Precision::kFp16x3);
  }
}

TEST(Guard, TakesThreeWordsWhereTinyMeetsHuge) {
  for (const auto& [op_a, op_b] : kOps) {
    Matrices x = uniform(make_problem(64, 72, 320, 1, 0, op_a, op_b));
    for (std::int64_t k = 0; k < x.p.k; ++k) {  // graded: what is small in A is large in B
      for (std::int64_t i = 0; i < x.p.m; ++i)
        x.at_a(i, k) = std::ldexp(x.at_a(i, k), static_cast<int>(k % 40));
      for (std::int64_t j = 0; j < x.p.n; ++j)
        x.at_b(k, j) = std::ldexp(x.at_b(k, j), -static_cast<int>(k % 40));
    }
    EXPECT_EQ(chosen_on(x), Precision::kBf16x6);
    Matrices one = uniform(make_problem(64, 72, 320, 1, 0, op_a, op_b));  // one row, one huge element
    one.at_a(13, 7) = 0x1p40F;
    EXPECT_EQ(chosen_on(one), Precision::kBf16x6);
  }
}

// Of all elements: the square root of the sum of squares of errors.
double error_of(Matrices& x, const std::vector<float>& c) {
  double squares = 0;
  for (std::int64_t i = 0; i < x.p.m; ++i) {
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      const double error = c[static_cast<std::size_t>(i * x.p.ldc + j)] - exact(x, i, j).sum;
      squares += error * error;
    }
  }
  return std::sqrt(squares);
}

// As SGEMM sums: one chain an element.
std::vector<float> chains_of(Matrices& x) {
  std::vector<float> c(x.c);
  for (std::int64_t i = 0; i < x.p.m; ++i) {
    for (std::int64_t j = 0; j < x.p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < x.p.k; ++k) sum = std::fma(x.at_a(i, k), x.at_b(k, j), sum);
      c[static_cast<std::size_t>(i * x.p.ldc + j)] = sum;
    }
  }
  return c;
}

Matrices drawn(const Problem& p, Distribution distribution) {
  const Images images = draw(make_problem(p.m, p.n, p.k), distribution, 17);
  Matrices x = uniform(p);
  for (std::int64_t k = 0; k < p.k; ++k) {
    for (std::int64_t i = 0; i < p.m; ++i) x.at_a(i, k) = images.a[static_cast<std::size_t>(i * p.k + k)];
    for (std::int64_t j = 0; j < p.n; ++j) x.at_b(k, j) = images.b[static_cast<std::size_t>(k * p.n + j)];
  }
  return x;
}

TEST(Guard, IsNoFurtherOffThanAChainOnAnyKindOfData) {
  for (const Distribution distribution : distributions()) {
    for (const std::int64_t k : {256, 1024}) {
      Matrices x = drawn(make_problem(64, 72, k), distribution);
      const double guarded = error_of(x, run(kernel("r20_guarded"), x)), chain = error_of(x, chains_of(x));
      const auto choice = guarded_choice(nullptr);
      ASSERT_TRUE(choice) << choice.status().message();
      EXPECT_LE(guarded, chain) << to_string(distribution) << ", k " << k;
    }
  }
}

// C of few rows or columns, where the larger operand is split on its way and the choice comes after the product.
const std::pair<std::int64_t, std::int64_t> kThin[] = {{2048, 40}, {72, 2052}};

TEST(GuardOfThin, TakesTwoWordsWhereEach64IsProved) {
  for (const auto& [m, n] : kThin) {
    for (const auto& [op_a, op_b] : kOps) {
      const Problem p = make_problem(m, n, 256, 1, 0, op_a, op_b);
      EXPECT_EQ(chosen_on(uniform(p)), Precision::kFp16x3);
      Matrices x = uniform(p);
      for (std::int64_t k = 0; k < p.k; ++k) {  // each 64 has a scale of its own
        const int by = k / 64 % 2 == 0 ? 40 : 0;
        for (std::int64_t i = 0; m > n && i < m; ++i) x.at_a(i, k) = std::ldexp(x.at_a(i, k), by);
        for (std::int64_t j = 0; m < n && j < n; ++j) x.at_b(k, j) = std::ldexp(x.at_b(k, j), by);
      }
      EXPECT_EQ(chosen_on(x), Precision::kFp16x3);
    }
  }
}

// Breaks one 64 of one line of an operand.
void expect_no_words(const Problem& p, const std::function<void(Matrices&)>& change) {
  Matrices x = uniform(p);
  change(x);
  EXPECT_EQ(chosen_on(x), Precision::kIeee);
  EXPECT_EQ(chosen_on(uniform(p)), Precision::kFp16x3);  // nothing is left behind
}

TEST(GuardOfThin, TakesNoWordsWhereOne64OfOneLineIsNotProved) {
  for (const auto& [m, n] : kThin) {
    for (const auto& [op_a, op_b] : kOps) {
      const Problem p = make_problem(m, n, 256, 1, 0, op_a, op_b);
      expect_no_words(p, [](Matrices& x) { x.at_a(x.p.m - 1, 255) = 0x1p20F; });
      expect_no_words(p, [](Matrices& x) { x.at_b(70, x.p.n - 1) = 0x1p20F; });
      expect_no_words(p, [&](Matrices& x) {  // scales so far apart that sums lose what comes first, or later
        for (std::int64_t k = 0; k < 64; ++k) {
          float& of_a = x.at_a(7, m > n ? k + 64 : k);
          float& of_b = x.at_b(m > n ? k : k + 64, 7);
          of_a = std::ldexp(of_a, m > n ? 70 : 0), of_b = std::ldexp(of_b, m > n ? 0 : 70);
        }
      });
    }
  }
}

TEST(GuardOfThin, IsNoFurtherOffThanAChainOnAnyKindOfData) {
  for (const Distribution distribution : distributions()) {
    Matrices x = drawn(make_problem(2048, 40, 512), distribution);
    const double guarded = error_of(x, run(kernel("r20_guarded"), x)), chain = error_of(x, chains_of(x));
    EXPECT_LE(guarded, chain) << to_string(distribution);
  }
}

// Of integers, whose sums are exact in words and in binary64.
void expect_exact(const Problem& p, bool proved) {
  const Images images = make_images(p, {Values::kIntegers, 5}, Precision::kIeee).value();
  Matrices x{p, images.a, images.b, images.c};
  if (!proved) x.at_a(1, 1) = 0x1p24F;
  const std::vector<float> c = run(kernel("r20_guarded"), x);
  EXPECT_EQ(guarded_choice(nullptr).value(), proved ? Precision::kFp16x3 : Precision::kIeee);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const auto at = static_cast<std::size_t>(i * p.ldc + j);
      ASSERT_EQ(c[at],
                static_cast<float>(p.alpha * exact(x, i, j).sum + (p.beta == 0 ? 0.0 : p.beta * x.c[at])));
    }
  }
}

TEST(GuardOfThin, KeepsIntegersExactAndCWhereItIsNeededAgain) {
  for (const float beta : {0.0F, 2.0F}) {
    for (const auto& [m, n] : kThin) {
      for (const bool proved : {false, true}) {
        Problem p = make_problem(m, n, 320, 1, beta);
        p.ldc += 3;
        expect_exact(p, proved);
      }
    }
  }
}

// C that is small beside k, of each tile of which many blocks have a part.
const std::pair<std::int64_t, std::int64_t> kDeep[] = {{132, 72}, {40, 136}};

TEST(GuardOfDeep, TakesTwoWordsWhereEach64IsProvedAndNoneElsewhere) {
  for (const auto& [m, n] : kDeep) {
    for (const auto& [op_a, op_b] : kOps) {
      EXPECT_EQ(chosen_on(uniform(make_problem(m, n, 4160, 1, 0, op_a, op_b))), Precision::kFp16x3);
    }
    const Problem p = make_problem(m, n, 4160);
    expect_no_words(p, [](Matrices& x) { x.at_a(x.p.m - 1, 4159) = 0x1p20F; });
    expect_no_words(p, [](Matrices& x) { x.at_b(70, x.p.n - 1) = 0x1p20F; });
    expect_no_words(p, [&](Matrices& x) {  // a block's scale so far from the others' that they are lost
      for (std::int64_t k = 4096; k < 4160; ++k) {
        float& raw = m > n ? x.at_a(7, k) : x.at_b(k, 7);
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
    expect_as_sgemm(x, "r20_guarded");
    expect_as_sgemm(x, "r19_fp16x3_fused");
  }
}

TEST(GuardOfDeep, KeepsIntegersExactAndCWhereItIsNeededAgain) {
  for (const float beta : {0.0F, 2.0F}) {
    for (const auto& [m, n] : kDeep) {
      for (const bool proved : {false, true}) {
        Problem p = make_problem(m, n, 4160, 1, beta);
        p.ldc += 3;
        expect_exact(p, proved);
      }
    }
  }
}

TEST(Guard, TakesThreeWordsWhereProductsCancel) {
  for (const auto& [op_a, op_b] : kOps) {
    Matrices x = drawn(make_problem(64, 72, 512, 1, 0, op_a, op_b), Distribution::kCancelling);
    EXPECT_EQ(chosen_on(x), Precision::kBf16x6);
    // Or there was nothing to guard against.
    EXPECT_GT(error_of(x, run(kernel("r19_fp16x3"), x)), error_of(x, chains_of(x)));
  }
}

TEST(Guard, TakesNoWordsWhereFewProductsAreLarge) {
  for (const auto& [op_a, op_b] : kOps) {
    EXPECT_EQ(chosen_on(drawn(make_problem(140, 133, 515, 1, 0, op_a, op_b), Distribution::kSpread4)),
              Precision::kIeee);
    Matrices x = drawn(make_problem(140, 133, 515, 0.5F, 2, op_a, op_b), Distribution::kSpread4);
    const std::vector<float> c = run(kernel("r20_guarded"), x);
    for (std::int64_t i = 0; i < x.p.m; ++i) {
      for (std::int64_t j = 0; j < x.p.n; ++j) {
        const auto at = static_cast<std::size_t>(i * x.p.ldc + j);
        const Sums s = exact(x, i, j);
        const double expected = 0.5 * s.sum + 2.0 * x.c[at];
        // Rounded to binary32 once, and in binary64 as often as there are products.
        const double wide =
            static_cast<double>(x.p.k + 2) * 0x1p-53 * (0.5 * s.absolute + 2.0 * std::abs(x.c[at]));
        ASSERT_NEAR(c[at], expected, 0x1p-24 * std::abs(expected) + 2 * wide);
      }
    }
  }
  Matrices selection = uniform(make_problem(64, 72, 512));  // rows of the identity
  std::fill(selection.a.begin(), selection.a.end(), 0.0F);
  for (std::int64_t i = 0; i < selection.p.m; ++i) selection.at_a(i, 7 * i) = 1;
  EXPECT_EQ(chosen_on(selection), Precision::kIeee);
  EXPECT_EQ(error_of(selection, run(kernel("r20_guarded"), selection)), 0);
}

TEST(Guard, TakesNoWordsWhereManyLinesHoldNan) {
  Matrices x = uniform(make_problem(150, 140, 200));
  for (std::int64_t i = 0; i < x.p.m; i += 2) x.at_a(i, 3 * i % x.p.k) = kNan;
  EXPECT_EQ(chosen_on(x), Precision::kIeee);
}

TEST(Guard, TakesNoWordsWhereNoWordsWillDo) {
  Matrices x = uniform(make_problem(34, 33, 200));
  x.at_a(2, 2) = 0x1p120F;
  x.at_a(2, 3) = 0x1p-100F;
  x.at_b(2, 5) = 0;
  x.at_b(3, 5) = 0x1p100F;
  EXPECT_EQ(chosen_on(x), Precision::kIeee);
}

TEST(Guard, KeepsIntegersExact) {
  const Problem p = make_problem(70, 66, 300);
  const Images images = make_images(p, {Values::kIntegers, 5}, Precision::kIeee).value();
  Matrices x{p, images.a, images.b, images.c};
  const std::vector<float> c = run(kernel("r20_guarded"), x);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) ASSERT_EQ(c[i * p.ldc + j], exact(x, i, j).sum);
  }
}

TEST(Guard, RefusesAKWhoseBoundIsNotBelowSgemms) {
  Device device;
  device.has_cuda = true;
  device.cc = 90;
  EXPECT_FALSE(kernel("r20_guarded").accepts(make_problem(64, 64, 16), device));
  EXPECT_TRUE(kernel("r20_guarded").accepts(make_problem(64, 64, 512), device));
}

}  // namespace
}  // namespace ladder
