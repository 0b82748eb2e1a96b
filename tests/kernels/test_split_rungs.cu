// SPDX-License-Identifier: Apache-2.0
// r18 and r19 with operands of any scale: rows of A and columns of B are small integers times
// powers of two, so that every element of C has an exact result. Tiles with moderate scales have an
// epilogue of their own.
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include <cmath>
#include <string_view>
#include <vector>

#include "support/device_memory.hpp"

namespace ladder {
namespace {

constexpr int kM = 200, kN = 300, kK = 70;  // one whole tile of 128 x 256, three at the edges

int exponent_at(const std::vector<int>& cycle, int i) { return cycle[i % cycle.size()]; }
float integer_at(int i, int j) { return static_cast<float>((i * 7 + j * 3 + i * j % 3) % 5 - 2); }

// Row i of A is times 2^rows[i], column j of B times 2^cols[j], cyclically; row 5 and column 9 are
// zeros. ldc even: C takes stores of pairs.
void check(std::string_view id, const std::vector<int>& rows, const std::vector<int>& cols,
           std::int64_t ldc, float alpha, float beta) {
  std::vector<float> a(kM * kK), b(kK * kN), c(kM * ldc, 1.0F);
  for (int i = 0; i < kM; ++i) {
    for (int k = 0; k < kK; ++k)
      a[i * kK + k] = i == 5 ? 0.0F : std::ldexp(integer_at(i, k), exponent_at(rows, i));
  }
  for (int k = 0; k < kK; ++k) {
    for (int j = 0; j < kN; ++j)
      b[k * kN + j] = j == 9 ? 0.0F : std::ldexp(integer_at(k, j + 1), exponent_at(cols, j));
  }
  const auto on_a = test::upload(a), on_b = test::upload(b), on_c = test::upload(c);
  Problem p = make_problem(kM, kN, kK, alpha, beta);
  p.ldc = ldc;
  const KernelInfo& kernel = *find_kernels(id).value().front();
  ASSERT_TRUE(kernel.launch(p, {on_a.get(), on_b.get(), on_c.get()}, nullptr));
  c = test::download(on_c, c.size());
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      double sum = 0;
      for (int k = 0; k < kK; ++k) sum += integer_at(i, k) * integer_at(k, j + 1);
      if (i == 5 || j == 9) sum = 0;
      const auto product =
          static_cast<float>(std::ldexp(sum, exponent_at(rows, i) + exponent_at(cols, j)));
      ASSERT_EQ(c[i * ldc + j], alpha * product + beta) << id << " at " << i << ", " << j;
    }
    for (std::int64_t j = kN; j < ldc; ++j) ASSERT_EQ(c[i * ldc + j], 1.0F) << "beyond row " << i;
  }
}

class SplitRungs : public testing::TestWithParam<const char*> {};

TEST_P(SplitRungs, ModerateScales) {
  for (const std::int64_t ldc : {kN + 2, kN + 3}) {
    check(GetParam(), {0, 3, -45, 20, 48}, {0, -7, 44, -46}, ldc, 1, 0);
    check(GetParam(), {0, 1}, {0, 2, -1}, ldc, 2, 1);
  }
}
TEST_P(SplitRungs, LargeScales) {
  check(GetParam(), {0, 66, -66, 80, -140}, {0, 62, -61, -70, 30}, kN + 2, 1, 0);
  check(GetParam(), {100, 110}, {-120, -149}, kN + 2, 1, 0);
  check(GetParam(), {90, 0}, {90, 1}, kN + 2, 1, 0);  // overflows
}
INSTANTIATE_TEST_SUITE_P(All, SplitRungs, testing::Values("r18_bf16x6", "r19_fp16x3"));

}  // namespace
}  // namespace ladder
