// SPDX-License-Identifier: Apache-2.0
// The library's call, on the host, and on a CUDA device if one is available (ctest runs it under
// vgpu as well).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <ladder/sgemm.hpp>

#include <limits>
#include <random>
#include <vector>

#include "gemm/plan/plan.hpp"
#include "host/query.hpp"
#include "support/device_memory.hpp"
#include "support/integers.hpp"

namespace ladder {
namespace {

using namespace test;

struct Case {
  Problem problem;
  std::vector<float> a, b, c, expected;
};

Case make_case(Op op_a, Op op_b, Layout layout) {
  Case out;
  Problem& p = out.problem = make_problem(37, 29, 41, 2, -1, op_a, op_b, layout);
  p.lda += 3;
  p.ldb += 1;
  p.ldc += 2;
  out.a = integers(extent_a(p).elements(), 1);
  out.b = integers(extent_b(p).elements(), 2);
  out.c = integers(extent_c(p).elements(), 3);
  out.expected = out.c;
  const bool columns = layout == Layout::kColMajor;
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t ld, bool transposed) {
    return static_cast<std::size_t>(columns != transposed ? j * ld + i : i * ld + j);
  };
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        sum += out.a[at(i, k, p.lda, op_a == Op::kTranspose)] *
               out.b[at(k, j, p.ldb, op_b == Op::kTranspose)];
      float& c = out.expected[at(i, j, p.ldc, false)];
      c = p.alpha * sum + p.beta * c;
    }
  }
  return out;
}

TEST(Sgemm, MultipliesHostOperandsOfEveryLayout) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    for (const Op op_a : {Op::kNone, Op::kTranspose}) {
      for (const Op op_b : {Op::kNone, Op::kTranspose}) {
        Case x = make_case(op_a, op_b, layout);
        ASSERT_TRUE(sgemm(x.problem, {x.a.data(), x.b.data(), x.c.data()}));
        EXPECT_EQ(x.c, x.expected) << to_string(x.problem);
      }
    }
  }
}

TEST(Sgemm, TakesThePrecisionThatIsAskedFor) {
  Case x = make_case(Op::kNone, Op::kNone, Layout::kRowMajor);
  const std::vector<float> before = x.c;
  const Operands operands{x.a.data(), x.b.data(), x.c.data()};
  EXPECT_EQ(sgemm(x.problem, operands, nullptr, Precision::kTf32).code(),
            Code::kUnsupportedProblem);  // on the host
  EXPECT_EQ(x.c, before);
  ASSERT_TRUE(sgemm(x.problem, operands, nullptr, Precision::kAuto));
  EXPECT_EQ(x.c, x.expected);
}

TEST(Sgemm, MultipliesDeviceOperands) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  Case x = make_case(Op::kNone, Op::kNone, Layout::kRowMajor);
  const auto a = upload(x.a), b = upload(x.b), c = upload(x.c);
  const Status status = sgemm(x.problem, {a.get(), b.get(), c.get()});
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(download(c, x.c.size()), x.expected);
}

TEST(Sgemm, OperandsInDifferentPlacesAreRefused) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  Case x = make_case(Op::kNone, Op::kNone, Layout::kRowMajor);
  const auto b = upload(x.b);
  const std::vector<float> before = x.c;
  const Status status = sgemm(x.problem, {x.a.data(), b.get(), x.c.data()});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(), "b: lies on CUDA device 0, but c on the host");
  EXPECT_EQ(x.c, before);
}

TEST(Sgemm, BadInputIsNamedAndNothingIsWritten) {
  Case x = make_case(Op::kNone, Op::kNone, Layout::kRowMajor);
  const std::vector<float> before = x.c;
  const auto refused = [&](const Problem& problem, const float* a, float* c, const char* argument) {
    const Status status = sgemm(problem, {a, x.b.data(), c});
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message().find(argument), 0U) << status.message();
  };
  refused(x.problem, nullptr, x.c.data(), "a:");
  refused(x.problem, x.a.data(), nullptr, "c:");
  Problem narrow = x.problem;
  narrow.ldb = narrow.n - 1;
  refused(narrow, x.a.data(), x.c.data(), "ldb");
  Problem typed = x.problem;
  typed.in = Type::kBf16;
  refused(typed, x.a.data(), x.c.data(), "in, out:");
  EXPECT_EQ(x.c, before);
}

TEST(Sgemm, OperandsThatAreNotUsedMayBeNull) {
  Problem p = make_problem(3, 5, 7, 0, 2);
  std::vector<float> c = integers(15, 4), twice = c;
  for (float& x : twice) x *= 2;
  ASSERT_TRUE(sgemm(p, {nullptr, nullptr, c.data()}));
  EXPECT_EQ(c, twice);
  p.m = 0;
  EXPECT_TRUE(sgemm(p, {}));
}

TEST(Sgemm, AnInfiniteAlphaIsNotUsedWhereKIsZero) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  const Device device = query_device(0).value();
  const Problem p = make_problem(8, 9, 0, std::numeric_limits<float>::infinity(), 2);
  const std::vector<float> before = integers(72, 4);
  std::vector<float> twice = before;
  for (float& x : twice) x *= 2;
  for (const Precision precision : precisions()) {
    if (!select(p, Place::kCuda, precision, device)) continue;
    const auto c = upload(before);
    ASSERT_TRUE(sgemm(p, {nullptr, nullptr, c.get()}, nullptr, precision));
    EXPECT_EQ(download(c, before.size()), twice) << to_string(precision);
  }
}

// `count` products of one shape, with one allocation per operand and gaps between the matrices,
// compared with single products.
struct BatchCase {
  BatchCase(const Problem& problem, Batch strides) : p(problem), batch(strides) {
    const auto all = [&](const Extent& one, std::int64_t stride, unsigned seed) {
      return integers((batch.count - 1) * stride + one.elements(), seed);
    };
    a = all(extent_a(p), batch.stride_a, 1);
    b = all(extent_b(p), batch.stride_b, 2);
    c = all(extent_c(p), batch.stride_c, 3);
    expected = c;
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const Operands one{a.data() + i * batch.stride_a, b.data() + i * batch.stride_b,
                         expected.data() + i * batch.stride_c};
      EXPECT_TRUE(sgemm(p, one));
    }
  }
  Problem p;
  Batch batch;
  std::vector<float> a, b, c, expected;
};

std::vector<BatchCase> batch_cases() {
  std::vector<BatchCase> cases;
  Problem p = make_problem(20, 12, 70, 2, -1, Op::kNone, Op::kTranspose);
  p.ldc += 3;
  cases.emplace_back(p, Batch{3, 1500, 900, 400});
  cases.emplace_back(p, Batch{3, 1500, 0, 400});                 // B is shared
  cases.emplace_back(p, Batch{3, p.m * p.lda, 0, p.m * p.ldc});  // one product of 60 rows
  Problem columns = make_problem(9, 11, 66, 1, 0, Op::kTranspose, Op::kNone, Layout::kColMajor);
  cases.emplace_back(columns, Batch{2, 0, columns.n * columns.ldb, columns.n * columns.ldc});
  cases.emplace_back(columns, Batch{1, 0, 0, 0});
  return cases;
}

TEST(Batch, MultipliesHostOperandsAsOneByOne) {
  for (BatchCase& x : batch_cases()) {
    ASSERT_TRUE(sgemm(x.p, {x.a.data(), x.b.data(), x.c.data()}, x.batch));
    EXPECT_EQ(x.c, x.expected) << to_string(x.p);
  }
}

TEST(Batch, MultipliesDeviceOperandsInEveryPrecision) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  const Device device = query_device(0).value();
  for (const Precision precision : precisions()) {
    for (BatchCase& x : batch_cases()) {
      if (!select(x.p, Place::kCuda, precision, device)) continue;
      const auto a = upload(x.a), b = upload(x.b), c = upload(x.c);
      const Status status = sgemm(x.p, {a.get(), b.get(), c.get()}, x.batch, nullptr, precision);
      ASSERT_TRUE(status) << status.message();
      EXPECT_EQ(download(c, x.c.size()), x.expected)
          << to_string(precision) << ' ' << to_string(x.p);
    }
  }
}

TEST(Batch, ErrorsNameTheArgument) {
  std::vector<float> m(1000);
  const Problem p = make_problem(4, 5, 6);
  const Operands o{m.data(), m.data(), m.data() + 500};
  const auto refused = [&](const Batch& batch, const char* argument) {
    const Status status = sgemm(p, o, batch);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message().find(argument), 0U) << status.message();
  };
  refused({-1, 24, 30, 20}, "count:");
  refused({2, -24, 30, 20}, "stride_a:");
  refused({2, 24, -30, 20}, "stride_b:");
  refused({2, 24, 30, 19}, "stride_c:");
  refused({3, std::int64_t{1} << 60, 30, 20}, "stride_a:");
  EXPECT_TRUE(sgemm(p, {}, Batch{0, 0, 0, 0}));
}

// The kernel that `ladder explain --call` prints is the one that sgemm() launches. What one of them
// refuses, the other refuses, too.
TEST(Select, TakesTheKernelOfThePlan) {
  std::mt19937 random(7);
  const auto size = [&] { return std::int64_t{1} << random() % 14 | random() % 97; };
  for (int i = 0; i < 4000; ++i) {
    const Problem p = make_problem(size(), size(), size(), 1.0F, 0.0F,
                                   random() % 2 == 0 ? Op::kNone : Op::kTranspose,
                                   random() % 2 == 0 ? Op::kNone : Op::kTranspose);
    constexpr int kCapabilities[] = {75, 80, 86, 90, 90, 90, 100, 120};
    const int cc = kCapabilities[i % std::size(kCapabilities)];
    const Device device{.name = "a GPU", .has_cuda = true, .cc = cc, .sm_count = 132};
    for (const Precision precision : {Precision::kIeee, Precision::kAuto, Precision::kTf32,
                                      Precision::kBf16x6, Precision::kFp16x3}) {
      const auto kernel = select(p, Place::kCuda, precision, device);
      const auto planned = plan(p, precision, {.cc = cc});
      const bool transposed = p.op_a != Op::kNone || p.op_b != Op::kNone;
      const bool refused = precision == Precision::kTf32 ? cc != 90 || transposed
                           : precision == Precision::kFp16x3
                               ? cc != 90
                               : precision == Precision::kBf16x6 && cc < 80;
      ASSERT_EQ(kernel.status().is_ok(), !refused) << to_string(p);
      ASSERT_EQ(planned.status().is_ok(), !refused) << to_string(p);
      if (refused) continue;
      EXPECT_EQ(kernel.value()->id, planned.value().choice.kernel)
          << to_string(p) << " in " << to_string(precision);
    }
  }
}

TEST(Select, TakesTheHighestRungThatAccepts) {
  Device hopper{.name = "a Hopper", .has_cuda = true, .cc = 90, .sm_count = 132};
  Device ampere{.name = "an Ampere", .has_cuda = true, .cc = 80, .sm_count = 108};
  const auto rung = [](const Device& device, Place place) {
    const auto found = select(make_problem(2048, 2048, 2048), place, Precision::kIeee, device);
    return found ? std::string(found.value()->id) : found.status().message();
  };
  EXPECT_EQ(rung(hopper, Place::kCuda), "ladder_large_tiles");
  EXPECT_EQ(rung(ampere, Place::kCuda), "ladder_strided");
  EXPECT_EQ(rung(host_device(), Place::kHost).substr(0, 1), "h");
  const Problem transposed = make_problem(8, 8, 8, 1, 0, Op::kTranspose);
  const auto strided = select(transposed, Place::kCuda, Precision::kIeee, ampere);
  ASSERT_TRUE(strided) << strided.status().message();
  EXPECT_EQ(strided.value()->id, "ladder_strided");
  const auto none = select(transposed, Place::kCuda, Precision::kFp16x3, ampere);
  EXPECT_EQ(none.status().code(), Code::kUnsupportedProblem);
  EXPECT_NE(none.status().message().find("ladder_fp16x3: "), std::string::npos)
      << none.status().message();
}

TEST(Select, TakesSplitKWhereTilesAreFewAndTermsWhereTheyGain) {
  const Device hopper{.name = "a Hopper", .has_cuda = true, .cc = 90, .sm_count = 132};
  const auto rung = [&](const std::string& shape, Precision precision) {
    const auto found = select(parse_shape(shape).value(), Place::kCuda, precision, hopper);
    return found ? std::string(found.value()->id) : found.status().message();
  };
  for (const Precision precision : {Precision::kIeee, Precision::kAuto}) {
    for (const char* few : {"64", "256", "64x64x65536", "1x4096x4096", "65536x8x256",
                            "128x128x8192", "512", "8x4096x4096", "96x96x16384", "1000x1000x3"})
      EXPECT_EQ(rung(few, precision), "ladder_split_k") << few;
    for (const char* shallow : {"4096x4096x64", "2048x2048x128", "128x65536x128", "65536x128x128"})
      EXPECT_EQ(rung(shallow, precision), "ladder_large_tiles") << shallow;
  }
  for (const char* large : {"1024", "4096", "16384x256x4096", "2048x4096x14336"}) {
    EXPECT_EQ(rung(large, Precision::kIeee), "ladder_large_tiles") << large;
    EXPECT_EQ(rung(large, Precision::kAuto), "ladder_guarded") << large;
  }
  // Few rows or columns: the larger operand is split in the product kernel if tensor maps accept
  // it.
  for (const char* thin :
       {"64x4096x4096", "65536x64x1024", "128x14336x4096", "4096x128x4096", "512x512x16384"})
    EXPECT_EQ(rung(thin, Precision::kAuto), "ladder_guarded") << thin;
  for (const char* thin : {"64x4095x4096", "4096x64x4097", "64x4096x4100"})
    EXPECT_NE(rung(thin, Precision::kAuto), "ladder_guarded") << thin;
  EXPECT_EQ(select(make_problem(64, 4096, 4096, 1, 1), Place::kCuda, Precision::kAuto, hopper)
                .value()
                ->id,
            "ladder_guarded");
}

}  // namespace
}  // namespace ladder
