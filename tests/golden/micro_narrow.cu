// SPDX-License-Identifier: Apache-2.0
// Small kernels: products of matrices of integers of 1 to 8 bits, and of 8-bit floating-point
// numbers.
#include "micro.cuh"

namespace micro {

// A warp's product of matrices of `type`, by the number of 32-bit registers per thread of A and B;
// C and D have twice as many as A, at most four.
#define PRODUCT_4_2(name, Sum, constraint, instruction)                                         \
  __global__ void name(int* x) {                                                                \
    const int t = thread_number();                                                              \
    int a[4], b[2];                                                                             \
    for (int i = 0; i < 4; ++i) a[i] = x[t * 4 + i] * 0x01234567;                               \
    for (int i = 0; i < 2; ++i) b[i] = x[t * 2 + i] * 0x00fedcba + 5;                           \
    Sum c[4] = {1, -2, 3, -4};                                                                  \
    asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : constraint(c[0]), constraint(c[1]), constraint(c[2]), constraint(c[3])       \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));           \
    for (int i = 0; i < 4; ++i) reinterpret_cast<Sum*>(x)[4096 + t * 4 + i] = c[i];             \
  }
#define PRODUCT_2_1(name, instruction)                                              \
  __global__ void name(int* x) {                                                    \
    const int t = thread_number();                                                  \
    int c[4] = {1, -2, 3, -4};                                                      \
    asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                   \
                 : "r"(x[t * 2] * 0x01234567), "r"(x[t * 2 + 1] * 0x01234567),      \
                   "r"(x[t] * 0x00fedcba + 5));                                     \
    for (int i = 0; i < 4; ++i) x[4096 + t * 4 + i] = c[i];                         \
  }
#define PRODUCT_1_1(name, instruction)                                      \
  __global__ void name(int* x) {                                            \
    const int t = thread_number();                                          \
    int c[2] = {1, -2};                                                     \
    asm volatile(instruction " {%0, %1}, {%2}, {%3}, {%0, %1};"             \
                 : "+r"(c[0]), "+r"(c[1])                                   \
                 : "r"(x[t] * 0x01234567), "r"(x[t + 1] * 0x00fedcba + 5)); \
    for (int i = 0; i < 2; ++i) x[4096 + t * 4 + i] = c[i];                 \
  }

PRODUCT_4_2(s8_k32, int, "+r", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
PRODUCT_4_2(u8_k32, int, "+r", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32")
PRODUCT_4_2(s4_k64, int, "+r", "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32")
PRODUCT_4_2(b1_k256, int, "+r", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc")
PRODUCT_4_2(b1_xor, int, "+r", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
PRODUCT_4_2(e4m3_k32, float, "+f", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
PRODUCT_4_2(e5m2_k32, float, "+f", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32")
PRODUCT_2_1(s8_k16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32")
PRODUCT_2_1(s4_k32, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.s4.s32")
PRODUCT_2_1(b1_k128, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc")
PRODUCT_1_1(s8_small, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32")
PRODUCT_1_1(s4_small, "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32")
PRODUCT_1_1(b1_small, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc")

std::span<const Launch> narrow_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.s8_k32", [](int* x) { start(s8_k32, x); }},
      {"micro.u8_k32", [](int* x) { start(u8_k32, x); }},
      {"micro.s4_k64", [](int* x) { start(s4_k64, x); }},
      {"micro.b1_k256", [](int* x) { start(b1_k256, x); }},
      {"micro.b1_xor", [](int* x) { start(b1_xor, x); }},
      {"micro.e4m3_k32", [](int* x) { start(e4m3_k32, x); }},
      {"micro.e5m2_k32", [](int* x) { start(e5m2_k32, x); }},
      {"micro.s8_k16", [](int* x) { start(s8_k16, x); }},
      {"micro.s4_k32", [](int* x) { start(s4_k32, x); }},
      {"micro.b1_k128", [](int* x) { start(b1_k128, x); }},
      {"micro.s8_small", [](int* x) { start(s8_small, x); }},
      {"micro.s4_small", [](int* x) { start(s4_small, x); }},
      {"micro.b1_small", [](int* x) { start(b1_small, x); }},
  };
  return kLaunches;
}

}  // namespace micro
