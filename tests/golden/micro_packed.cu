// SPDX-License-Identifier: Apache-2.0
// Small kernels: several narrow values per register, and the rarer forms of least and greatest.
#include "micro.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace micro {
namespace {

// Bits of all kinds: NaN, infinities and subnormal numbers among them.
__device__ unsigned bits(const int* x, int i) {
  return static_cast<unsigned>(x[i & 1023]) * 0x9e3779b9U;
}

__device__ float real(const int* x, int i) {
  const unsigned special[] = {0x7f800000, 0xff800000, 0x7fc00123, 0x00000001,
                              0x80000000, 0x00000000, 0xffc00000, 0x007fffff};
  const unsigned b = bits(x, i);
  return __uint_as_float(i % 5 == 0 ? special[b >> 29] : (b & 0x83ffffff) | 0x3c000000);
}

}  // namespace

#define CONVERT_TWO(result, instruction, a, b) \
  asm volatile(instruction " %0, %1, %2;" : "=r"(result) : "f"(a), "f"(b))
#define CONVERT_TWO_NARROW(result, instruction, a, b) \
  asm volatile(instruction " %0, %1, %2;" : "=h"(result) : "f"(a), "f"(b))

__global__ void packed_halves(int* x) {
  const int t = thread_number();
  const float a = real(x, t), b = real(x, t * 3 + 1);
  unsigned r[8];
  CONVERT_TWO(r[0], "cvt.rn.bf16x2.f32", a, b);
  CONVERT_TWO(r[1], "cvt.rn.relu.bf16x2.f32", a, b);
  CONVERT_TWO(r[2], "cvt.rz.bf16x2.f32", a, b);
  CONVERT_TWO(r[3], "cvt.rn.f16x2.f32", a, b);
  CONVERT_TWO(r[4], "cvt.rn.relu.f16x2.f32", a, b);
  CONVERT_TWO(r[5], "cvt.rz.f16x2.f32", a, b);
  asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[6]) : "f"(a));
  asm volatile("cvt.rn.relu.tf32.f32 %0, %1;" : "=r"(r[7]) : "f"(b));
  for (int i = 0; i < 8; ++i) x[1024 + t * 8 + i] = static_cast<int>(r[i]);
}

__global__ void packed_bytes(int* x) {
  const int t = thread_number();
  const float a = real(x, t), b = real(x, t * 3 + 1);
  unsigned short e4m3, e4m3_relu, e5m2, e5m2_relu, from_halves, from_halves_e5m2;
  CONVERT_TWO_NARROW(e4m3, "cvt.rn.satfinite.e4m3x2.f32", a, b);
  CONVERT_TWO_NARROW(e4m3_relu, "cvt.rn.satfinite.relu.e4m3x2.f32", a, b);
  CONVERT_TWO_NARROW(e5m2, "cvt.rn.satfinite.e5m2x2.f32", a, b);
  CONVERT_TWO_NARROW(e5m2_relu, "cvt.rn.satfinite.relu.e5m2x2.f32", a, b);
  asm volatile("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(from_halves) : "r"(bits(x, t)));
  asm volatile("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;"
               : "=h"(from_halves_e5m2)
               : "r"(bits(x, t + 7)));
  unsigned r[4];
  const auto two = static_cast<unsigned short>(bits(x, t * 5 + 2) >> 16);
  asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r[0]) : "h"(two));
  asm volatile("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r[1]) : "h"(two));
  asm volatile("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(r[2]) : "h"(two));
  asm volatile("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(r[3]) : "h"(two));
  int* const to = x + 1024 + t * 8;
  to[0] = e4m3 | e4m3_relu << 16;
  to[1] = e5m2 | e5m2_relu << 16;
  to[2] = from_halves | from_halves_e5m2 << 16;
  for (int i = 0; i < 4; ++i) to[3 + i] = static_cast<int>(r[i]);
}

#define OF_TWO(result, instruction, a, b) \
  asm volatile(instruction " %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b))

__global__ void least_or_nan(int* x) {
  const int t = thread_number();
  const float a = real(x, t), b = real(x, t * 3 + 1);
  float r[8];
  OF_TWO(r[0], "min.NaN.f32", a, b);
  OF_TWO(r[1], "max.NaN.f32", a, b);
  OF_TWO(r[2], "min.xorsign.abs.f32", a, b);
  OF_TWO(r[3], "max.NaN.xorsign.abs.f32", a, b);
  OF_TWO(r[4], "min.ftz.NaN.f32", a, b);
  OF_TWO(r[5], "max.ftz.f32", a, b);
  OF_TWO(r[6], "min.f32", a, b);
  OF_TWO(r[7], "max.f32", a, b);
  for (int i = 0; i < 8; ++i) x[1024 + t * 8 + i] = __float_as_int(r[i]);
}

__global__ void least_halves(int* x) {
  const int t = thread_number();
  const unsigned a = bits(x, t), b = bits(x, t * 3 + 1), c = bits(x, t * 5 + 2);
  unsigned r[8];
#define OF_PAIRS(result, instruction) \
  asm volatile(instruction " %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b))
  OF_PAIRS(r[0], "min.NaN.f16x2");
  OF_PAIRS(r[1], "max.NaN.bf16x2");
  OF_PAIRS(r[2], "max.xorsign.abs.f16x2");
  OF_PAIRS(r[3], "min.NaN.xorsign.abs.bf16x2");
#define OF_THREE_PAIRS(result, instruction) \
  asm volatile(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c))
  OF_THREE_PAIRS(r[4], "fma.rn.relu.f16x2");
  OF_THREE_PAIRS(r[5], "fma.rn.relu.bf16x2");
  OF_THREE_PAIRS(r[6], "fma.rn.sat.f16x2");
  OF_THREE_PAIRS(r[7], "fma.rn.ftz.f16x2");
  for (int i = 0; i < 8; ++i) x[1024 + t * 8 + i] = static_cast<int>(r[i]);
}

__global__ void absolute_differences(int* x) {
  const int t = thread_number();
  const unsigned a = bits(x, t), b = bits(x, t * 3 + 1), c = bits(x, t * 5 + 2);
  unsigned r[8];
  r[0] = __vabsdiffu4(a, b);
  r[1] = __vabsdiffs4(a, b);
  r[2] = __vsadu4(a, b);
  r[3] = __vsads4(a, b);
  r[4] = __usad(a, b, c);
  r[5] = __sad(static_cast<int>(a), static_cast<int>(b), c);
  asm volatile("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[6]) : "r"(a), "r"(b), "r"(c));
  asm volatile("vabsdiff4.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(r[7]) : "r"(a), "r"(b), "r"(c));
  for (int i = 0; i < 8; ++i) x[1024 + t * 8 + i] = static_cast<int>(r[i]);
}

__global__ void dot_products_of_two(int* x) {
  const int t = thread_number();
  const unsigned a = bits(x, t), b = bits(x, t * 3 + 1), c = bits(x, t * 5 + 2);
  const int sa = static_cast<int>(a), sb = static_cast<int>(b), sc = static_cast<int>(c);
  int* const to = x + 1024 + t * 8;
  to[0] = __dp2a_lo(sa, sb, sc);
  to[1] = __dp2a_hi(sa, sb, sc);
  to[2] = static_cast<int>(__dp2a_lo(a, b, c));
  to[3] = static_cast<int>(__dp2a_hi(a, b, c));
  asm volatile("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(to[4]) : "r"(a), "r"(b), "r"(c));
  asm volatile("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(to[5]) : "r"(a), "r"(b), "r"(c));
  asm volatile("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(to[6]) : "r"(a), "r"(b), "r"(c));
  to[7] = static_cast<int>(__dp4a(a, b, c));
}

__global__ void least_of_pairs(int* x) {
  const int t = thread_number();
  const unsigned a = bits(x, t), b = bits(x, t * 3 + 1), c = bits(x, t * 5 + 2);
  const int sa = static_cast<int>(a), sb = static_cast<int>(b), sc = static_cast<int>(c);
  int* const to = x + 1024 + t * 16;
  to[0] = static_cast<int>(__vmaxu2(a, b));
  to[1] = static_cast<int>(__vmins2(a, b));
  to[2] = __vimax3_s32(sa, sb, sc);
  to[3] = static_cast<int>(__vimin3_u32(a, b, c));
  to[4] = static_cast<int>(__vimax3_s16x2(a, b, c));
  to[5] = static_cast<int>(__vimin3_u16x2(a, b, c));
  to[6] = __vimax_s32_relu(sa, sb);
  to[7] = static_cast<int>(__vimin_s16x2_relu(a, b));
  to[8] = static_cast<int>(__vimin3_s16x2_relu(a, b, c));
  to[9] = __vimax3_s32_relu(sa, sb, sc);
  to[10] = __viaddmax_s32(sa, sb, sc);
  to[11] = static_cast<int>(__viaddmin_u32(a, b, c));
  to[12] = static_cast<int>(__viaddmax_u16x2(a, b, c));
  to[13] = static_cast<int>(__viaddmin_s16x2_relu(a, b, c));
  bool first, second;
  to[14] = static_cast<int>(__vibmax_s16x2(a, b, &first, &second));
  to[15] = __vibmin_s32(sa, sb, &first) + static_cast<int>(first) + 2 * static_cast<int>(second);
}

std::span<const Launch> packed_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.packed_halves", [](int* x) { start(packed_halves, x); }},
      {"micro.packed_bytes", [](int* x) { start(packed_bytes, x); }},
      {"micro.least_or_nan", [](int* x) { start(least_or_nan, x); }},
      {"micro.least_halves", [](int* x) { start(least_halves, x); }},
      {"micro.absolute_differences", [](int* x) { start(absolute_differences, x); }},
      {"micro.dot_products_of_two", [](int* x) { start(dot_products_of_two, x); }},
      {"micro.least_of_pairs", [](int* x) { start(least_of_pairs, x); }},
  };
  return kLaunches;
}

}  // namespace micro
