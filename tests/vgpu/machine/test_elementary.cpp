// SPDX-License-Identifier: Apache-2.0
// The estimates of elementary functions never differ from the host library's results, rounded to
// single precision, where they claim to be certain, and they are certain nearly everywhere.
#include <gtest/gtest.h>

#include <cmath>

#define VGPU_ISA of_this_test
#include "machine/isa/elementary.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// Calls visit(x, result, certain) for numbers of every exponent.
template <class F, class Visit>
void for_numbers(F f, Visit visit) {
  constexpr u64 kStep = 3989 * kLanes;  // coprime to the numbers of one exponent
  for (u64 first = 0; first < u64{1} << 32; first += kStep) {
    float x[kLanes], results[kLanes];
    for (u32 i = 0; i < kLanes; ++i) x[i] = bits_as<float>(static_cast<u32>(first + i * 3989));
    const u32 doubtful = round_estimates(results, [&](u32 i) { return f(double{x[i]}); });
    for (u32 i = 0; i < kLanes; ++i) visit(x[i], results[i], (doubtful >> i & 1) == 0);
  }
}

template <class F, class Library>
void expect_library_results(F f, Library library, float least, float most) {
  u64 inside = 0, certain_inside = 0;
  for_numbers(f, [&](float x, float result, bool certain) {
    const float expected = static_cast<float>(library(double{x}));
    if (certain) {
      ASSERT_EQ(result, expected) << x;
    }
    const float magnitude = std::fabs(x);
    if (!(x < 0 && least > 0 && std::isnan(expected)) && magnitude >= least && magnitude <= most) {
      ++inside;
      certain_inside += certain ? 1 : 0;
    }
  });
  EXPECT_GT(inside, 10000U);
  EXPECT_GT(certain_inside, inside - inside / 1000);
}

TEST(Elementary, Exp2) {
  expect_library_results([](double x) { return estimate_exp2(x); },
                         [](double x) { return std::exp2(x); }, 0x1p-20F, 0x1p7F);
}

TEST(Elementary, Tanh) {
  expect_library_results([](double x) { return estimate_tanh(x); },
                         [](double x) { return std::tanh(x); }, 0x1p-100F, 0x1p100F);
}

}  // namespace
}  // namespace vgpu::machine::VGPU_ISA
