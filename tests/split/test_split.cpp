// SPDX-License-Identifier: Apache-2.0
// Products of split operands on data that the battery does not contain: Inf, NaN, signed zeros,
// subnormals, the largest numbers, rows of zeros. Runs on a GPU, or under the virtual one.
#include "products.hpp"

namespace ladder {
namespace {

using namespace split_test;

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

TEST(SplitSpecials, ZerosAreZeroAndRowsOfThemStay) {
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

// Beta is 0, so that C, which holds NaN here, is not read.
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

// So deep that vectors that are not contiguous along k are split from shared memory, beside the
// kernel for contiguous ones.
TEST(SplitDeep, IsAsSgemmWhicheverOperandLiesAcross) {
  for (const char* id : {"ladder_bf16x6", "ladder_fp16x3", "ladder_guarded"}) {
    for (const auto& ops : kOps)
      expect_as_sgemm(uniform(make_problem(72, 100, 2112, 1, 0, ops.first, ops.second)), id);
  }
}

}  // namespace
}  // namespace ladder
