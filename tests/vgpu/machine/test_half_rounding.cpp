// SPDX-License-Identifier: Apache-2.0
// Rounding to 16 bits in two steps, of which the first rounds to odd, gives what one step gives.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#define VGPU_ISA of_this_test
#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

void expect_one_rounding(double value) {
  for (const double a : {value, -value}) {
    ASSERT_EQ(to_half(single_to_odd(a)).bits, narrow(a, kHalf, Rounding::kNearest)) << a;
    ASSERT_EQ(to_bfloat(single_to_odd(a)).bits, narrow(a, kBfloat, Rounding::kNearest)) << a;
  }
}

TEST(HalfRounding, OfDoublesOfEveryMagnitude) {
  std::mt19937_64 random(7);
  for (int exponent = -180; exponent < 180; ++exponent) {
    for (int n = 0; n < 200; ++n)
      expect_one_rounding(
          std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), exponent));
  }
}

// Numbers of up to 13 bits are ties of both formats, and of their subnormals, more often than not.
TEST(HalfRounding, OfTiesAndTheirNeighbours) {
  for (int exponent = -150; exponent < 130; ++exponent) {
    for (int bits = 0; bits < 1 << 13; bits += 3) {
      const double tie = std::ldexp(bits, exponent);
      for (const double a : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, HUGE_VAL)})
        expect_one_rounding(a);
    }
  }
}

TEST(HalfRounding, OfWhatIsNoNumber) {
  expect_one_rounding(0);
  expect_one_rounding(std::numeric_limits<double>::infinity());
  expect_one_rounding(std::numeric_limits<double>::max());
  expect_one_rounding(std::numeric_limits<double>::quiet_NaN());
}

// a * b + c has more bits than a double: the sum lies on the side of a * b that c's sign says.
TEST(HalfRounding, OfFusedSums) {
  const double big = multiply_add_to_odd(0x1p16, 0x1p15, 0x1p-24), exact = 0x1p31;
  EXPECT_GT(big, exact);  // 0x1p31 + 0x1p-24 has 56 bits
  EXPECT_LT(multiply_add_to_odd(0x1p16, 0x1p15, -0x1p-24), exact);
  EXPECT_LT(multiply_add_to_odd(0x1p16, -0x1p15, -0x1p-24), -exact);
  EXPECT_GT(multiply_add_to_odd(0x1p16, -0x1p15, 0x1p-24), -exact);
}

}  // namespace
}  // namespace vgpu::machine::VGPU_ISA
