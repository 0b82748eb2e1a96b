// SPDX-License-Identifier: Apache-2.0
// The guarded product's choice and errors on operands made to mislead it. Runs on a GPU, or under
// the virtual one.
#include <ladder/guard.hpp>

#include <functional>
#include <span>

#include "products.hpp"
#include "verify/atlas.hpp"

namespace ladder {
namespace {

using namespace split_test;

Precision chosen_on(Matrices x) {
  expect_as_sgemm(x, "ladder_guarded");
  const auto choice = guarded_choice(nullptr);
  EXPECT_TRUE(choice) << choice.status().message();
  return choice ? choice.value() : Precision::kTf32;
}

TEST(Guard, TakesTwoTermsWhereThatIsProved) {
  for (const auto& [op_a, op_b] : kOps) {
    const Problem p = make_problem(96, 80, 512, 1, 0, op_a, op_b);
    EXPECT_EQ(chosen_on(uniform(p)), Precision::kFp16x3);
    Matrices x = uniform(p);
    for (float& value : x.a) value = std::abs(value);  // truncation is a bias there
    for (float& value : x.b) value = std::abs(value);
    EXPECT_EQ(chosen_on(x), Precision::kFp16x3);
    for (std::int64_t k = 0; k < p.k; ++k)
      x.at_a(1, k) = std::ldexp(x.at_a(1, k), 60);  // rows with very different magnitudes
    x.at_a(0, 5) = 0x1p-30F;                        // one tiny element
    EXPECT_EQ(chosen_on(x), Precision::kFp16x3);
    Matrices sparse = uniform(p);  // a third of A is zero
    for (std::size_t i = 0; i < sparse.a.size(); i += 3) sparse.a[i] = 0;
    sparse.at_b(4, 4) = 0x1p-40F;
    EXPECT_EQ(chosen_on(sparse), Precision::kFp16x3);
  }
}

// Elements that are small in A are large in B.
Matrices graded(const Problem& p) {
  Matrices x = uniform(p);
  for (std::int64_t k = 0; k < p.k; ++k) {
    const int by = static_cast<int>(k % 40);
    for (std::int64_t i = 0; i < p.m; ++i) x.at_a(i, k) = std::ldexp(x.at_a(i, k), by);
    for (std::int64_t j = 0; j < p.n; ++j) x.at_b(k, j) = std::ldexp(x.at_b(k, j), -by);
  }
  return x;
}

TEST(Guard, TakesThreeTermsWhereTinyMeetsHuge) {
  for (const auto& [op_a, op_b] : kOps) {
    const Problem p = make_problem(64, 72, 320, 1, 0, op_a, op_b);
    EXPECT_EQ(chosen_on(graded(p)), Precision::kBf16x6);
    Matrices one = uniform(p);  // one row, one huge element
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

// As SGEMM adds: one chain per element.
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
    for (std::int64_t i = 0; i < p.m; ++i)
      x.at_a(i, k) = images.a[static_cast<std::size_t>(i * p.k + k)];
    for (std::int64_t j = 0; j < p.n; ++j)
      x.at_b(k, j) = images.b[static_cast<std::size_t>(k * p.n + j)];
  }
  return x;
}

TEST(Guard, IsNoFurtherOffThanAChainOnAnyKindOfData) {
  for (const Distribution distribution : distributions()) {
    for (const std::int64_t k : {256, 1024}) {
      Matrices x = drawn(make_problem(64, 72, k), distribution);
      const double guarded = error_of(x, run(kernel("ladder_guarded"), x)),
                   chain = error_of(x, chains_of(x));
      const auto choice = guarded_choice(nullptr);
      ASSERT_TRUE(choice) << choice.status().message();
      EXPECT_LE(guarded, chain) << to_string(distribution) << ", k " << k;
    }
  }
}

TEST(Guard, TakesThreeTermsWhereProductsCancel) {
  for (const auto& [op_a, op_b] : kOps) {
    Matrices x = drawn(make_problem(64, 72, 512, 1, 0, op_a, op_b), Distribution::kCancelling);
    EXPECT_EQ(chosen_on(x), Precision::kBf16x6);
    // Or the choice was unnecessary.
    EXPECT_GT(error_of(x, run(kernel("ladder_fp16x3"), x)), error_of(x, chains_of(x)));
  }
}

TEST(Guard, TakesNoTermsWhereFewProductsAreLarge) {
  for (const auto& [op_a, op_b] : kOps) {
    EXPECT_EQ(
        chosen_on(drawn(make_problem(140, 133, 515, 1, 0, op_a, op_b), Distribution::kSpread4)),
        Precision::kIeee);
    Matrices x = drawn(make_problem(140, 133, 515, 0.5F, 2, op_a, op_b), Distribution::kSpread4);
    const std::vector<float> c = run(kernel("ladder_guarded"), x);
    for (std::int64_t i = 0; i < x.p.m; ++i) {
      for (std::int64_t j = 0; j < x.p.n; ++j) {
        const auto at = static_cast<std::size_t>(i * x.p.ldc + j);
        const Sums s = exact(x, i, j);
        const double expected = 0.5 * s.sum + 2.0 * x.c[at];
        // Rounded to binary32 once, and in binary64 once per product.
        const double wide =
            static_cast<double>(x.p.k + 2) * 0x1p-53 * (0.5 * s.absolute + 2.0 * std::abs(x.c[at]));
        ASSERT_NEAR(c[at], expected, 0x1p-24 * std::abs(expected) + 2 * wide);
      }
    }
  }
  Matrices selection = uniform(make_problem(64, 72, 512));  // rows of the identity
  std::ranges::fill(selection.a, 0.0F);
  for (std::int64_t i = 0; i < selection.p.m; ++i) selection.at_a(i, 7 * i) = 1;
  EXPECT_EQ(chosen_on(selection), Precision::kIeee);
  EXPECT_EQ(error_of(selection, run(kernel("ladder_guarded"), selection)), 0);
}

TEST(Guard, TakesNoTermsWhereManyRowsHoldNan) {
  Matrices x = uniform(make_problem(150, 140, 200));
  for (std::int64_t i = 0; i < x.p.m; i += 2) x.at_a(i, 3 * i % x.p.k) = kNan;
  EXPECT_EQ(chosen_on(x), Precision::kIeee);
}

TEST(Guard, TakesNoTermsWhereNoTermsWillDo) {
  Matrices x = uniform(make_problem(34, 33, 200));
  x.at_a(2, 2) = 0x1p120F;
  x.at_a(2, 3) = 0x1p-100F;
  x.at_b(2, 5) = 0;
  x.at_b(3, 5) = 0x1p100F;
  EXPECT_EQ(chosen_on(x), Precision::kIeee);
}

TEST(Guard, RefusesAKWhoseBoundIsNotBelowSgemms) {
  Device device;
  device.has_cuda = true;
  device.cc = 90;
  EXPECT_FALSE(kernel("ladder_guarded").accepts(make_problem(64, 64, 16), device));
  EXPECT_TRUE(kernel("ladder_guarded").accepts(make_problem(64, 64, 512), device));
}

// Operands on the device for products of one problem, each with its own C.
class Prepared {
 public:
  explicit Prepared(const Matrices& x)
      : p_(x.p), a_(test::upload(x.a)), b_(test::upload(x.b)), c_(test::upload(x.c)) {}
  void launch(cudaStream_t stream) const {
    const Status s = kernel("ladder_guarded").launch(p_, {a_.get(), b_.get(), c_.get()}, stream);
    EXPECT_TRUE(s) << s.message();
  }
  // C, which is overwritten with NaN.
  std::vector<float> take() const {
    std::vector<float> c = test::download(c_, static_cast<std::size_t>(p_.m * p_.ldc));
    EXPECT_EQ(cudaMemset(c_.get(), 0xFF, c.size() * sizeof(float)), cudaSuccess);
    return c;
  }

 private:
  Problem p_;
  test::OnDevice<float> a_, b_, c_;
};

// One of each choice, in tiles of several blocks.
std::vector<Matrices> of_each_choice(Op op_a, Op op_b) {
  const Problem p = make_problem(196, 300, 328, 1, 0, op_a, op_b);
  return {uniform(p), graded(p), drawn(p, Distribution::kSpread4)};
}

TEST(Guard, LeavesNothingToTheNextCall) {
  constexpr Precision kChoices[] = {Precision::kFp16x3, Precision::kBf16x6, Precision::kIeee};
  for (const auto& [op_a, op_b] : kOps) {
    const std::vector<Matrices> x = of_each_choice(op_a, op_b);
    for (const std::size_t i : {0, 1, 0, 2, 1, 1, 2, 0}) EXPECT_EQ(chosen_on(x[i]), kChoices[i]);
  }
}

// One call of each choice, with its result.
struct Calls {
  explicit Calls(Op op) {
    for (const Matrices& x : of_each_choice(op, op)) all.emplace_back(x);
    for (const Prepared& call : all) {
      call.launch(nullptr);
      results.push_back(call.take());
    }
  }
  void expect_results() const {
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].take(), results[i]) << i;
  }
  std::vector<Prepared> all;
  std::vector<std::vector<float>> results;
};

TEST(Guard, DecidesInEveryReplayOfAGraph) {
  const Calls calls(Op::kNone);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  for (const Prepared& call : calls.all) call.launch(stream);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int replay = 0; replay < 2; ++replay) {
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    calls.expect_results();
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Guard, ComputesOnSeveralStreamsAtOnce) {
  const Calls calls(Op::kTranspose);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<cudaStream_t> streams(calls.all.size());
  for (cudaStream_t& stream : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < streams.size(); ++i) calls.all[i].launch(streams[i]);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  calls.expect_results();
  for (cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
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

TEST(GuardOfThin, IsNoFurtherOffThanAChainOnAnyKindOfData) {
  for (const Distribution distribution : distributions()) {
    Matrices x = drawn(make_problem(2048, 40, 512), distribution);
    const double guarded = error_of(x, run(kernel("ladder_guarded"), x)),
                 chain = error_of(x, chains_of(x));
    EXPECT_LE(guarded, chain) << to_string(distribution);
  }
}

// Integers, whose sums are exact in terms and in binary64.
void expect_exact(const Problem& p, bool proved) {
  const Images images = make_images(p, {Values::kIntegers, 5}, Precision::kIeee).value();
  Matrices x{p, images.a, images.b, images.c};
  if (!proved) x.at_a(1, 1) = 0x1p24F;
  const std::vector<float> c = run(kernel("ladder_guarded"), x);
  EXPECT_EQ(guarded_choice(nullptr).value(), proved ? Precision::kFp16x3 : Precision::kIeee);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const auto at = static_cast<std::size_t>(i * p.ldc + j);
      ASSERT_EQ(c[at], static_cast<float>(p.alpha * exact(x, i, j).sum +
                                          (p.beta == 0 ? 0.0 : p.beta * x.c[at])));
    }
  }
}

void expect_exact(std::span<const std::pair<std::int64_t, std::int64_t>> shapes, std::int64_t k) {
  for (const float beta : {0.0F, 2.0F}) {
    for (const auto& [m, n] : shapes) {
      Problem p = make_problem(m, n, k, 1, beta);
      p.ldc += 3;
      for (const bool proved : {false, true}) expect_exact(p, proved);
    }
  }
}

TEST(GuardOfThin, KeepsIntegersExactAndCWhereItIsNeededAgain) { expect_exact(kThin, 320); }

TEST(Guard, KeepsIntegersExact) { expect_exact(make_problem(70, 66, 300), true); }

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

TEST(GuardOfDeep, KeepsIntegersExactAndCWhereItIsNeededAgain) { expect_exact(kDeep, 4160); }

}  // namespace
}  // namespace ladder
