// SPDX-License-Identifier: Apache-2.0
// h05_threads on problems large enough to start threads: equal to h04_simd_pack bit for bit, for
// any number of threads.
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include <array>
#include <random>
#include <vector>

#include "host/team.hpp"

namespace ladder {
namespace {

std::vector<float> product(const char* kernel, const Problem& p, const std::vector<float>& a,
                           const std::vector<float>& b) {
  std::vector<float> c(p.m * p.ldc, 0.5F);
  EXPECT_TRUE(find_kernels(kernel)
                  .value()
                  .front()
                  ->launch(p, {a.data(), b.data(), c.data()}, nullptr)
                  .is_ok());
  return c;
}

TEST(Threads, GiveTheSameBitsAsOneThread) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  for (const auto& [m, n, k] : {std::array{200, 333, 411}, {17, 2049, 700}, {1999, 33, 600}}) {
    for (const Op op_a : {Op::kNone, Op::kTranspose}) {
      for (const Op op_b : {Op::kNone, Op::kTranspose}) {
        const Problem p = make_problem(m, n, k, 1.5F, -0.5F, op_a, op_b);
        std::vector<float> a(extent_a(p).elements()), b(extent_b(p).elements());
        for (float& x : a) x = uniform(engine);
        for (float& x : b) x = uniform(engine);
        const std::vector<float> one = product("h04_simd_pack", p, a, b);
        for (const int threads : {1, 2, 3, 4, 7}) {
          host::Team::set_most_threads(threads);
          ASSERT_EQ(product("h05_threads", p, a, b), one)
              << to_string(p) << " on " << threads << " threads";
        }
      }
    }
  }
  host::Team::set_most_threads(0);
}

}  // namespace
}  // namespace ladder
