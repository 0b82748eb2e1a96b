// SPDX-License-Identifier: Apache-2.0
// The functions of MUFU have the results of an H200 (bench/h200/mufu.cu).
#include <gtest/gtest.h>

#define VGPU_ISA of_this_test
#include "machine/isa/mufu.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// Every 61st of the numbers from `first` until `end`, and the FNV-1a hash of the H200's results as
// 32-bit words.
struct Measured {
  float (*function)(float);
  u32 first, end;
  u64 hash;
};

u64 hash(const Measured& m) {
  constexpr u32 kStep = 61;
  constexpr u64 kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;
  u64 sum = kBasis;
  for (u32 bits = m.first; bits < m.end; bits += kStep)
    sum = (sum ^ bits_as<u32>(m.function(bits_as<float>(bits)))) * kPrime;
  return sum;
}

// As the compiler multiplies radians: rounded towards zero.
float turns(float radians) {
  const double product = double{radians} * double{0x1.45f306p-3F};
  const float nearest = static_cast<float>(product);
  return double{nearest} > product ? bits_as<float>(bits_as<u32>(nearest) - 1) : nearest;
}
float sine(float radians) { return mufu_sine<false>(turns(radians)); }
float cosine(float radians) { return mufu_sine<true>(turns(radians)); }

const Measured kMeasured[] = {
    {mufu_exp2, 0x3d000000, 0x3d800000, 0x40fb4d10a19c89ab},
    {mufu_exp2, 0x3f000000, 0x3f800000, 0x35da063c756e744d},
    {mufu_exp2, 0x3f800000, 0x40000000, 0x798e8222da1e662c},
    {mufu_exp2, 0xbf800000, 0xc0000000, 0x50832691a6c9de00},
    {mufu_log2, 0x3f000000, 0x3f7f3ffa, 0x6301adec5a8a80e4},
    {mufu_log2, 0x3f8164c0, 0x40000000, 0xfc5bd07da94a151f},
    {mufu_log2, 0x40000000, 0x40800000, 0x25de0e2634322e3b},
    {mufu_rcp, 0x3f800000, 0x40000000, 0x67838b19786c1a92},
    {mufu_rsqrt, 0x3f800000, 0x40800000, 0xdf50f55be3ec6efa},
    {mufu_sqrt, 0x3f800000, 0x40800000, 0xa8cd722863323987},
    {sine, 0x3e800000, 0x3f000000, 0xd8c06daa36e4a299},
    {sine, 0x3f000000, 0x3f800000, 0xcf1f7097b9d4deb3},
    {sine, 0x3f800000, 0x40000000, 0x7cee308167d567a4},
    {cosine, 0x3f000000, 0x3f800000, 0x1e3e14ebe765f360},
    {cosine, 0x3f800000, 0x3fc5c82b, 0xcaf5654a5a185cd1},
    {cosine, 0x3fca0fdc, 0x40000000, 0xa8f95853fb8340bc},
};

TEST(Mufu, HasTheResultsOfAnH200) {
  for (const Measured& m : kMeasured)
    EXPECT_EQ(hash(m), m.hash) << &m - kMeasured << std::hex << " from 0x" << m.first;
}

constexpr float kInfinite = __builtin_inff(), kNan = __builtin_nanf(""), kSubnormal = 0x1p-127F,
                kLargest = 0x1.fffffep127F;

struct Special {
  float (*function)(float);
  float operand, result;
};
const Special kSpecial[] = {
    {mufu_exp2, 0, 1},
    {mufu_exp2, -kSubnormal, 1},
    {mufu_exp2, -126, 0x1p-126F},
    {mufu_exp2, -0x1.f80002p6F, 0},
    {mufu_exp2, 127, 0x1p127F},
    {mufu_exp2, 128, kInfinite},
    {mufu_exp2, -kLargest, 0},
    {mufu_exp2, kInfinite, kInfinite},
    {mufu_exp2, -kInfinite, 0},
    {mufu_log2, 1, 0},
    {mufu_log2, 2, 1},
    {mufu_log2, -kSubnormal, -kInfinite},
    {mufu_log2, -1, kNan},
    {mufu_log2, kInfinite, kInfinite},
    {mufu_rcp, -0.0F, -kInfinite},
    {mufu_rcp, kSubnormal, kInfinite},
    {mufu_rcp, -4, -0.25F},
    {mufu_rcp, 0x1p126F, 0x1p-126F},
    {mufu_rcp, -kLargest, -0.0F},
    {mufu_rcp, -kInfinite, -0.0F},
    {mufu_rsqrt, 16, 0.25F},
    {mufu_rsqrt, -kSubnormal, -kInfinite},
    {mufu_rsqrt, -1, kNan},
    {mufu_rsqrt, kInfinite, 0},
    {mufu_sqrt, 0x1p-126F, 0x1p-63F},
    {mufu_sqrt, -kSubnormal, -0.0F},
    {mufu_sqrt, -1, kNan},
    {mufu_sqrt, kInfinite, kInfinite},
    {mufu_sine<false>, -0.0F, -0.0F},
    {mufu_sine<false>, -kLargest, -0.0F},
    {mufu_sine<false>, 0.75F, -1},
    {mufu_sine<true>, -0.5F, -1},
    {mufu_sine<false>, kInfinite, kNan},
};

TEST(Mufu, HasSpecialValues) {
  for (const Special& s : kSpecial) {
    const u32 expected = is_nan(s.result) ? kNanBits : bits_as<u32>(s.result);
    EXPECT_EQ(bits_as<u32>(s.function(s.operand)), expected) << &s - kSpecial;
    EXPECT_EQ(bits_as<u32>(s.function(-kNan)), kNanBits) << &s - kSpecial;
  }
}

}  // namespace
}  // namespace vgpu::machine::VGPU_ISA
