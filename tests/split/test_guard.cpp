// SPDX-License-Identifier: Apache-2.0
// The guarded product's choice and errors on operands made to mislead it. Runs on a GPU, or under
// the virtual one.
#include <ladder/guard.hpp>

#include "gemm/plan/choice.hpp"
#include "guarded_products.hpp"
#include "support/streams.hpp"

namespace ladder {
namespace {

using namespace split_test;

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

TEST(Guard, TakesTwoTermsFromTheLeastKOn) {
  std::int64_t k = 1;
  while (!guard_holds(static_cast<double>(k))) ++k;
  Matrices x = uniform(make_problem(96, 80, k));
  x.at_a(3, 5) = x.at_b(7, 9) = 0x1p-30F;
  EXPECT_EQ(chosen_on(x), Precision::kFp16x3) << k;
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
  const test::CreatedStream stream;
  const test::ExecutableGraph graph(stream, cudaStreamCaptureModeRelaxed, [&] {
    for (const Prepared& call : calls.all) call.launch(stream);
  });
  for (int replay = 0; replay < 2; ++replay) {
    graph.replay(stream);
    calls.expect_results();
  }
}

TEST(Guard, ComputesOnSeveralStreamsAtOnce) {
  const Calls calls(Op::kTranspose);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const test::CreatedStream streams[]{test::CreatedStream(cudaStreamNonBlocking),
                                      test::CreatedStream(cudaStreamNonBlocking),
                                      test::CreatedStream(cudaStreamNonBlocking)};
  ASSERT_EQ(std::size(streams), calls.all.size());
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < calls.all.size(); ++i) calls.all[i].launch(streams[i]);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  calls.expect_results();
}

TEST(Guard, KeepsIntegersExact) { expect_exact(make_problem(70, 66, 300), true); }

}  // namespace
}  // namespace ladder
