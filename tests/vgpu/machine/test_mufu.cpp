// SPDX-License-Identifier: Apache-2.0
// The functions of MUFU have the results of an H200 (bench/h200/mufu.cu).
#include <gtest/gtest.h>

#define VGPU_ISA of_this_test
#include "machine/isa/mufu.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

using Warp = void (*)(float* results, const float* operands);
template <class Function>
void of(float* results, const float* operands) {
  mufu<Function>(results, [=](u32 i) { return operands[i]; });
}
// As the compiler multiplies radians: rounded towards zero.
template <bool kCosine>
void of_radians(float* results, const float* operands) {
  mufu<SineOfTurns<kCosine>>(results, [=](u32 i) {
    const double product = double{operands[i]} * double{0x1.45f306p-3F};
    const float nearest = static_cast<float>(product);
    return __builtin_fabs(nearest) > __builtin_fabs(product)
               ? bits_as<float>(bits_as<u32>(nearest) - 1)
               : nearest;
  });
}
constexpr Warp kExp2 = of<Exp2>, kLog2 = of<Log2>, kRcp = of<Reciprocal>, kRsqrt = of<InverseRoot>,
               kSqrt = of<Root>, kSin = of_radians<false>, kCos = of_radians<true>;

// Every 61st of the numbers from `first` until `end`, and the FNV-1a hash of the H200's results as
// 32-bit words.
struct Measured {
  Warp function;
  u32 first, end;
  u64 hash;
};

u64 hash(const Measured& m) {
  constexpr u32 kStep = 61;
  constexpr u64 kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;
  u64 sum = kBasis;
  for (u32 first = m.first; first < m.end; first += kLanes * kStep) {
    float operands[kLanes], results[kLanes];
    for (u32 i = 0; i < kLanes; ++i) operands[i] = bits_as<float>(first + i * kStep);
    m.function(results, operands);
    for (u32 i = 0; i < kLanes && first + i * kStep < m.end; ++i)
      sum = (sum ^ bits_as<u32>(results[i])) * kPrime;
  }
  return sum;
}

// The ranges of bench/h200/mufu.cu.
const Measured kMeasured[] = {
    {kExp2, 0x3d000000, 0x3d800000, 0x40fb4d10a19c89ab},
    {kExp2, 0x3f000000, 0x40000000, 0xc9b90a79d3e79ac0},
    {kExp2, 0x42800000, 0x43000000, 0x0e8140dd84bc4e01},
    {kExp2, 0xb2800000, 0xb4000000, 0xfafaf947b309ae97},
    {kExp2, 0xbf800000, 0xc0000000, 0x50832691a6c9de00},
    {kExp2, 0xc2800000, 0xc3000000, 0x2c9f157118bfc4c7},
    {kLog2, 0x01000000, 0x01800000, 0xce13412f3de49f1a},
    {kLog2, 0x3e800000, 0x41000000, 0x9f05b3973b096693},
    {kLog2, 0x7e800000, 0x7f000000, 0x7a26268ca1c3b4f5},
    {kRcp, 0x3f800000, 0x40000000, 0x67838b19786c1a92},
    {kRcp, 0x7e000000, 0x7f800000, 0x4314eafa0d2cbd72},
    {kRsqrt, 0x3f800000, 0x40800000, 0xdf50f55be3ec6efa},
    {kSqrt, 0x3f800000, 0x40800000, 0xa8cd722863323987},
    {kSin, 0x3e800000, 0x40000000, 0x755b37bf7ccc4434},
    {kCos, 0x3f000000, 0x40000000, 0x7e3ac576d771dc99},
    {kCos, 0xc0800000, 0xc1000000, 0x5dba363457c6e2a3},
};

TEST(Mufu, HasTheResultsOfAnH200) {
  for (const Measured& m : kMeasured)
    EXPECT_EQ(hash(m), m.hash) << &m - kMeasured << std::hex << " from 0x" << m.first;
}

constexpr float kInfinite = __builtin_inff(), kNan = __builtin_nanf(""), kSubnormal = 0x1p-127F,
                kLargest = 0x1.fffffep127F;

struct Special {
  Warp function;
  float operand, result;
};
const Special kSpecial[] = {
    {kExp2, 0, 1},
    {kExp2, -kSubnormal, 1},
    {kExp2, -126, 0x1p-126F},
    {kExp2, -0x1.f80002p6F, 0},
    {kExp2, 127, 0x1p127F},
    {kExp2, 128, kInfinite},
    {kExp2, -kLargest, 0},
    {kExp2, kInfinite, kInfinite},
    {kExp2, -kInfinite, 0},
    {kLog2, 1, 0},
    {kLog2, 2, 1},
    {kLog2, -kSubnormal, -kInfinite},
    {kLog2, -1, kNan},
    {kLog2, kInfinite, kInfinite},
    {kRcp, -0.0F, -kInfinite},
    {kRcp, kSubnormal, kInfinite},
    {kRcp, -4, -0.25F},
    {kRcp, 0x1p126F, 0x1p-126F},
    {kRcp, -kLargest, -0.0F},
    {kRcp, -kInfinite, -0.0F},
    {kRsqrt, 16, 0.25F},
    {kRsqrt, -kSubnormal, -kInfinite},
    {kRsqrt, -1, kNan},
    {kRsqrt, kInfinite, 0},
    {kSqrt, 0x1p-126F, 0x1p-63F},
    {kSqrt, -kSubnormal, -0.0F},
    {kSqrt, -1, kNan},
    {kSqrt, kInfinite, kInfinite},
    {of<SineOfTurns<false>>, -0.0F, -0.0F},
    {of<SineOfTurns<false>>, -kLargest, -0.0F},
    {of<SineOfTurns<false>>, 0.75F, -1},
    {of<SineOfTurns<true>>, -0.5F, -1},
    {of<SineOfTurns<false>>, kInfinite, kNan},
};

TEST(Mufu, HasSpecialValues) {
  for (const Special& s : kSpecial) {
    float operands[kLanes], results[kLanes];
    for (u32 i = 0; i < kLanes; ++i) operands[i] = i % 2 != 0 ? s.operand : -kNan;
    s.function(results, operands);
    const u32 expected = is_nan(s.result) ? kNanBits : bits_as<u32>(s.result);
    for (u32 i = 0; i < kLanes; ++i)
      EXPECT_EQ(bits_as<u32>(results[i]), i % 2 != 0 ? expected : kNanBits) << &s - kSpecial;
  }
}

}  // namespace
}  // namespace vgpu::machine::VGPU_ISA
