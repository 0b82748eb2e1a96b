// SPDX-License-Identifier: Apache-2.0
// Packed operands: the same bits as products without packing, for every layout and side; errors
// name the argument. Runs on a GPU, or under the virtual one.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <ladder/packed.hpp>
#include <ladder/sgemm.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "host/query.hpp"
#include "support/device_memory.hpp"

namespace ladder {
namespace {

using OnDevice = test::OnDevice<float>;

OnDevice normal(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw;
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = draw(engine);
  x[x.size() / 3] = std::numeric_limits<float>::infinity();  // a row without terms
  return test::upload(x);
}

std::vector<std::uint32_t> bits(const OnDevice& g, std::int64_t count) {
  std::vector<std::uint32_t> x(static_cast<std::size_t>(count));
  cudaMemcpy(x.data(), g.get(), x.size() * sizeof(float), cudaMemcpyDefault);
  return x;
}

class Packed : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0 || query_device(0).value().cc / 10 != 9)
      GTEST_SKIP() << "no Hopper";
  }
};

TEST_F(Packed, GivesTheBitsOfTheProductWithoutPacking) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    for (const Op op_a : {Op::kNone, Op::kTranspose}) {
      for (const Op op_b : {Op::kNone, Op::kTranspose}) {
        Problem p = make_problem(70, 45, 150, 0.5F, 2, op_a, op_b, layout);
        p.lda += 2, p.ldb += 3, p.ldc += 1;
        const std::int64_t count = extent_c(p).elements();
        const OnDevice a = normal(extent_a(p).elements(), 1), b = normal(extent_b(p).elements(), 2);
        const OnDevice plain = normal(count, 3);
        ASSERT_TRUE(sgemm(p, {a.get(), b.get(), plain.get()}, nullptr, Precision::kFp16x3));
        for (const Operand which : {Operand::kA, Operand::kB}) {
          const bool is_a = which == Operand::kA;
          const auto packed = pack(p, which, is_a ? a.get() : b.get());
          ASSERT_TRUE(packed) << packed.status().message();
          EXPECT_GT(packed.value().bytes(), 4 * (is_a ? p.m : p.n) * p.k);
          for (int time = 0; time < 2; ++time) {  // packed terms can be used again
            const OnDevice c = normal(count, 3);
            const Status status = sgemm(
                p, {is_a ? nullptr : a.get(), is_a ? b.get() : nullptr, c.get()}, packed.value());
            ASSERT_TRUE(status) << status.message();
            EXPECT_EQ(bits(c, count), bits(plain, count)) << to_string(p) << (is_a ? " A" : " B");
          }
        }
      }
    }
  }
}

TEST_F(Packed, ServesProblemsOfOtherSizes) {
  const Problem p = make_problem(40, 30, 100);
  const OnDevice b = normal(extent_b(p).elements(), 2);
  const auto packed = pack(p, Operand::kB, b.get());
  ASSERT_TRUE(packed) << packed.status().message();
  for (const std::int64_t m : {1, 300}) {
    const Problem other = make_problem(m, 30, 100);
    const OnDevice a = normal(extent_a(other).elements(), 1), c = normal(m * 30, 3),
                   plain = normal(m * 30, 3);
    ASSERT_TRUE(sgemm(other, {a.get(), nullptr, c.get()}, packed.value()));
    ASSERT_TRUE(sgemm(other, {a.get(), b.get(), plain.get()}, nullptr, Precision::kFp16x3));
    EXPECT_EQ(bits(c, m * 30), bits(plain, m * 30));
  }
}

TEST_F(Packed, ErrorsNameTheArgument) {
  const Problem p = make_problem(40, 30, 100);
  const OnDevice a = normal(4000, 1), b = normal(3000, 2), c = normal(1200, 3);
  const auto refused = [](const Status& status, const std::string& argument) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message().find(argument + ":"), 0U) << status.message();
  };
  std::vector<float> host(3000);
  refused(pack(p, Operand::kB, nullptr).status(), "b");
  refused(pack(p, Operand::kB, host.data()).status(), "b");
  refused(pack(make_problem(40, 0, 100), Operand::kB, b.get()).status(), "b");
  const auto packed = pack(p, Operand::kB, b.get());
  ASSERT_TRUE(packed) << packed.status().message();
  const auto with = [&](const Problem& problem, const float* of_a, const float* of_b) {
    return sgemm(problem, {of_a, of_b, c.get()}, packed.value());
  };
  EXPECT_TRUE(with(p, a.get(), b.get()));
  refused(with(p, nullptr, nullptr), "a");
  refused(with(p, a.get(), a.get()), "b");
  refused(with(make_problem(40, 29, 100), a.get(), nullptr), "n");
  refused(with(make_problem(40, 30, 99), a.get(), nullptr), "k");
  Problem wide = p;
  wide.ldb = 31;
  refused(with(wide, a.get(), nullptr), "ldb");
  refused(with(make_problem(40, 30, 100, 1, 0, Op::kNone, Op::kTranspose), a.get(), nullptr),
          "op_b");
  refused(with(make_problem(40, 30, 100, 1, 0, Op::kNone, Op::kNone, Layout::kColMajor), a.get(),
               nullptr),
          "layout");
}

}  // namespace
}  // namespace ladder
