// SPDX-License-Identifier: Apache-2.0
// Deliberately broken host kernels: verification must reject each and name the defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "host/query.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

Status accepts(const Problem& p, const Device&) {
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kNone)
    return Status::ok();
  return {Code::kUnsupportedProblem, "row-major operands only"};
}

float element(const Problem& p, const Operands& o, std::int64_t i, std::int64_t j,
              std::int64_t k_end) {
  float sum = 0;
  for (std::int64_t k = 0; k < k_end; ++k) sum += o.a[i * p.lda + k] * o.b[k * p.ldb + j];
  return sum;
}

void store(const Problem& p, float* c, float sum) {
  *c = reads_c(p) ? p.alpha * sum + p.beta * *c : p.alpha * sum;
}

// The correct kernel, with a replaceable innermost function.
template <class Inner>
Status for_each(const Problem& p, const Operands& o, const Inner& inner) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) inner(i, j, o.c + i * p.ldc + j);
  }
  return Status::ok();
}
std::int64_t depth(const Problem& p) { return reads_ab(p) ? p.k : 0; }

Status honest(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o,
                  [&](auto i, auto j, float* c) { store(p, c, element(p, o, i, j, depth(p))); });
}
Status swapped_row_and_column(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [&](auto i, auto j, float* c) {
    const bool inside = j < p.m && i < p.n;
    store(p, c, inside ? element(p, o, j, i, depth(p)) : 0.0F);
  });
}
Status one_short_in_k(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [&](auto i, auto j, float* c) {
    store(p, c, element(p, o, i, j, std::max<std::int64_t>(0, depth(p) - 1)));
  });
}
Status one_unwritten(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [&](auto i, auto j, float* c) {
    if (i != p.m - 1 || j != p.n - 1) store(p, c, element(p, o, i, j, depth(p)));
  });
}
Status all_nan(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [](auto, auto, float* c) { *c = std::numeric_limits<float>::quiet_NaN(); });
}
Status into_padding(const Problem& p, const Operands& o, Stream s) {
  if (Status status = honest(p, o, s); !status) return status;
  if (p.m > 1 && p.ldc > p.n) o.c[p.n] = 0;
  return Status::ok();
}
Status before_c(const Problem& p, const Operands& o, Stream s) {
  o.c[-1] = 0;
  return honest(p, o, s);
}
Status past_c(const Problem& p, const Operands& o, Stream s) {
  o.c[extent_c(p).elements()] = 0;
  return honest(p, o, s);
}
Status reads_c_at_beta_zero(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [&](auto i, auto j, float* c) {
    *c = p.alpha * element(p, o, i, j, depth(p)) + p.beta * *c;
  });
}
Status reads_ab_at_alpha_zero(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [&](auto i, auto j, float* c) { store(p, c, element(p, o, i, j, p.k)); });
}
float tf32(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFFE000U); }
Status in_tf32(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [&](auto i, auto j, float* c) {
    float sum = 0;
    for (std::int64_t k = 0; k < depth(p); ++k)
      sum += tf32(o.a[i * p.lda + k]) * tf32(o.b[k * p.ldb + j]);
    store(p, c, sum);
  });
}
Status zeros(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o, [](auto, auto, float* c) { *c = 0; });
}
Status ignores_lda(const Problem& p, const Operands& o, Stream s) {
  Problem tight = p;
  tight.lda = std::max<std::int64_t>(1, p.k);
  return honest(tight, o, s);
}
Status ignores_beta(const Problem& p, const Operands& o, Stream) {
  return for_each(p, o,
                  [&](auto i, auto j, float* c) { *c = p.alpha * element(p, o, i, j, depth(p)); });
}
Status does_nothing(const Problem&, const Operands&, Stream) { return Status::ok(); }
Status different_each_time(const Problem& p, const Operands& o, Stream s) {
  static std::atomic<int> run{0};
  if (Status status = honest(p, o, s); !status) return status;
  if (p.m * p.n > 0 && p.k > 40 && run++ % 2 == 1) o.c[0] = std::nextafter(o.c[0], 1e30F);
  return Status::ok();
}
Status fails(const Problem&, const Operands&, Stream) {
  return {Code::kLaunchFailed, "out of registers"};
}

using Launch = Status (*)(const Problem&, const Operands&, Stream);
KernelInfo kernel(std::string_view id, Launch launch) {
  return {.id = id,
          .rung = id,
          .idea = "test",
          .place = Place::kHost,
          .accepts = accepts,
          .launch = launch};
}

Verdict quick(Launch launch, Precision precision = Precision::kIeee) {
  KernelInfo info = kernel("test", launch);
  info.precision = precision;
  ReferenceStore store;
  return verify(info, make_battery(Battery::kQuick, 7), host_device(), {}, store);
}

struct Broken {
  const char* name;
  Launch launch;
  Outcome outcome;
  const char* in_reason;
};

class BrokenHost : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenHost, IsRejectedByName) {
  const Verdict verdict = quick(GetParam().launch);
  EXPECT_STREQ(to_string(verdict.outcome), to_string(GetParam().outcome)) << verdict.reason;
  EXPECT_NE(verdict.reason.find(GetParam().in_reason), std::string::npos) << verdict.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, BrokenHost,
    ::testing::Values(
        Broken{"swapped_row_and_column", swapped_row_and_column, Outcome::kWrongValue, "C("},
        Broken{"one_short_in_k", one_short_in_k, Outcome::kWrongValue, "expected"},
        Broken{"one_unwritten", one_unwritten, Outcome::kUnwritten, "was never written; 1 of"},
        Broken{"all_nan", all_nan, Outcome::kNan, "is NaN"},
        Broken{"into_padding", into_padding, Outcome::kPaddingWritten,
               "C(0,29) lies in the padding"},
        Broken{"before_c", before_c, Outcome::kGuardWritten, "4 bytes before C"},
        Broken{"past_c", past_c, Outcome::kGuardWritten, "0 bytes past the end of C"},
        Broken{"reads_c_at_beta_zero", reads_c_at_beta_zero, Outcome::kNan,
               "C is read although beta = 0"},
        Broken{"reads_ab_at_alpha_zero", reads_ab_at_alpha_zero, Outcome::kNan,
               "A or B is read although alpha = 0"},
        Broken{"in_tf32", in_tf32, Outcome::kWrongValue, "not ieee arithmetic"},
        Broken{"zeros", zeros, Outcome::kWrongValue, "C is all zeros"},
        Broken{"ignores_lda", ignores_lda, Outcome::kNan, "lda"},
        Broken{"ignores_beta", ignores_beta, Outcome::kWrongValue, "beta"},
        Broken{"does_nothing", does_nothing, Outcome::kUnwritten, "1 of 1"},
        Broken{"different_each_time", different_each_time, Outcome::kNondeterministic, "two runs"},
        Broken{"fails", fails, Outcome::kLaunchError, "out of registers"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(HonestHost, Passes) {
  const Verdict verdict = quick(honest);
  EXPECT_TRUE(verdict.ok()) << verdict.reason;
  EXPECT_EQ(verdict.refused, 7U);  // the transposed and column-major cases
}

TEST(HonestHost, PassesTheFullBattery) {
  ReferenceStore store;
  const Verdict verdict =
      verify(kernel("honest", honest), make_battery(Battery::kFull, 2), host_device(), {}, store);
  EXPECT_TRUE(verdict.ok()) << verdict.reason;
}

TEST(HonestHost, Tf32PassesWhereItIsNamed) {
  const Verdict verdict = quick(in_tf32, Precision::kTf32);
  EXPECT_TRUE(verdict.ok()) << verdict.reason;
}

TEST(Verify, SwappedSquareIsCalledTransposed) {
  const Verdict verdict = verify(kernel("swapped", swapped_row_and_column),
                                 make_problem(16, 16, 16), {}, host_device());
  EXPECT_EQ(verdict.outcome, Outcome::kWrongValue);
  EXPECT_NE(verdict.reason.find("C is transposed"), std::string::npos) << verdict.reason;
}

TEST(Verify, RefusedIsNotPassed) {
  const Problem columns = make_problem(4, 4, 4, 1, 0, Op::kNone, Op::kNone, Layout::kColMajor);
  const Verdict verdict = verify(kernel("honest", honest), columns, {}, host_device());
  EXPECT_EQ(verdict.outcome, Outcome::kRefused);
  EXPECT_EQ(verdict.reason, "row-major operands only");
  EXPECT_FALSE(verdict.ok());
}

TEST(Verify, AnElementBeyondItsBoundIsWrong) {
  // Off by the smallest factor that rounding cannot explain: slightly more than (k + 2) units.
  const auto slightly_off = [](const Problem& p, const Operands& o, Stream s) {
    if (Status status = honest(p, o, s); !status) return status;
    o.c[5] *= 1.0F + 1e-4F;
    return Status::ok();
  };
  const Verdict verdict =
      verify(kernel("off", slightly_off), make_problem(4, 4, 4), {}, host_device());
  EXPECT_EQ(verdict.outcome, Outcome::kWrongValue) << verdict.reason;
  EXPECT_NE(verdict.reason.find("C(1,1)"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("1 of 16"), std::string::npos) << verdict.reason;
  EXPECT_GT(verdict.cases[0].errors.of_bound, 1.0);
}

TEST(Verify, NothingIsProvedAboutAnUnboundedK) {
  const Verdict verdict =
      verify(kernel("honest", honest), make_problem(1, 1, 1 << 24), {}, host_device());
  EXPECT_EQ(verdict.outcome, Outcome::kNotVerified);
  EXPECT_FALSE(verdict.ok());
}

TEST(Verify, InterruptedIsNotPassed) {
  VerifyOptions options;
  options.interrupted = [] { return true; };
  const Verdict verdict =
      verify(kernel("honest", honest), make_problem(2, 2, 2), {}, host_device(), options);
  EXPECT_EQ(verdict.outcome, Outcome::kNotVerified);
}

TEST(Verify, ReportsErrorsOfRealInputs) {
  const Verdict verdict =
      verify(kernel("honest", honest), make_problem(50, 60, 200), {}, host_device());
  ASSERT_TRUE(verdict.ok()) << verdict.reason;
  const Errors& errors = verdict.cases[0].errors;
  EXPECT_TRUE(errors.known);
  EXPECT_GT(errors.normwise, 1e-9);
  EXPECT_LT(errors.normwise, 1e-5);
  EXPECT_GT(errors.componentwise, 0);
  EXPECT_LT(errors.of_bound, 1);
}

TEST(Outcome, NamesComeBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::kNotVerified); ++i) {
    Outcome back{};
    ASSERT_TRUE(parse(to_string(static_cast<Outcome>(i)), back));
    EXPECT_EQ(back, static_cast<Outcome>(i));
  }
  Outcome none{};
  EXPECT_FALSE(parse("fine", none));
}

}  // namespace
}  // namespace ladder
