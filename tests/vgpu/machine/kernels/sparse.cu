// SPDX-License-Identifier: Apache-2.0
// mma.sp of every type and shape, with every selector. Each lane loads its registers from arrays
// that the test fills.

namespace {

using u32 = unsigned;

struct Registers {
  const u32 *a, *b, *c, *metadata;
};

template <int N>
__device__ void load(u32 (&to)[N], const u32* from) {
  for (int r = 0; r < N; ++r) to[r] = from[threadIdx.x * N + r];
}

template <int N, class F>
__device__ void run(u32* gd, const Registers& from, F multiply) {
  constexpr int kSums = N / 10, kFactors = N % 10;  // registers of D, of A and of B
  u32 d[kSums], a[kFactors], b[kFactors];
  load(d, from.c);
  load(a, from.a);
  load(b, from.b);
  multiply(d, a, b, from.metadata[threadIdx.x]);
  for (int r = 0; r < kSums; ++r) gd[threadIdx.x * kSums + r] = d[r];
}

}  // namespace

#define KERNEL(name, registers, text, ...)                                              \
  extern "C" __global__ void name(u32* gd, const u32* ga, const u32* gb, const u32* gc, \
                                  const u32* metadata) {                                \
    run<registers>(gd, {ga, gb, gc, metadata}, [](auto& d, auto& a, auto& b, u32 e) {   \
      asm volatile(text : __VA_ARGS__);                                                 \
    });                                                                                 \
  }
#define SUMS_2 "+r"(d[0]), "+r"(d[1])
#define SUMS_4 SUMS_2, "+r"(d[2]), "+r"(d[3])
#define FACTORS_2 "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(e)
#define FACTORS_4 \
  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e)
#define TEXT_22(op, selector) op " {%0,%1}, {%2,%3}, {%4,%5}, {%0,%1}, %6, " selector ";"
#define TEXT_24(op, selector) \
  op " {%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, " selector ";"
#define TEXT_42(op, selector) \
  op " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, " selector ";"
#define TEXT_44(op, selector) \
  op " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, " selector ";"

// sums: registers of D. factors: registers of A and of B.
#define PRODUCT(name, sums, factors, selector, op)                                          \
  KERNEL(name##_##selector, sums##factors, TEXT_##sums##factors(op, #selector), SUMS_##sums \
         : FACTORS_##factors)
#define ORDERED(shape, types) "mma.sp::ordered_metadata.sync.aligned." shape ".row.col." types
#define TWO(name, sums, factors, op)  \
  PRODUCT(name, sums, factors, 0, op) \
  PRODUCT(name, sums, factors, 1, op)
#define FOUR(name, sums, factors, op) \
  TWO(name, sums, factors, op)        \
  PRODUCT(name, sums, factors, 2, op) \
  PRODUCT(name, sums, factors, 3, op)

FOUR(f16_k16, 4, 2, ORDERED("m16n8k16", "f32.f16.f16.f32"))
TWO(f16_k32, 4, 4, ORDERED("m16n8k32", "f32.f16.f16.f32"))
FOUR(f16_sums_k16, 2, 2, ORDERED("m16n8k16", "f16.f16.f16.f16"))
TWO(f16_sums_k32, 2, 4, ORDERED("m16n8k32", "f16.f16.f16.f16"))
FOUR(bf16_k16, 4, 2, ORDERED("m16n8k16", "f32.bf16.bf16.f32"))
TWO(bf16_k32, 4, 4, ORDERED("m16n8k32", "f32.bf16.bf16.f32"))
FOUR(tf32_k8, 4, 2, ORDERED("m16n8k8", "f32.tf32.tf32.f32"))
TWO(tf32_k16, 4, 4, ORDERED("m16n8k16", "f32.tf32.tf32.f32"))
TWO(s8_s8_k32, 4, 2, ORDERED("m16n8k32", "s32.s8.s8.s32"))
TWO(s8_u8_k32, 4, 2, ORDERED("m16n8k32", "s32.s8.u8.s32"))
TWO(u8_s8_k32, 4, 2, ORDERED("m16n8k32", "s32.u8.s8.s32"))
TWO(u8_u8_k32, 4, 2, ORDERED("m16n8k32", "s32.u8.u8.s32"))
PRODUCT(s8_s8_k64, 4, 4, 0, ORDERED("m16n8k64", "s32.s8.s8.s32"))
PRODUCT(s8_u8_k64, 4, 4, 0, ORDERED("m16n8k64", "s32.s8.u8.s32"))
PRODUCT(u8_s8_k64, 4, 4, 0, ORDERED("m16n8k64", "s32.u8.s8.s32"))
PRODUCT(u8_u8_k64, 4, 4, 0, ORDERED("m16n8k64", "s32.u8.u8.s32"))
PRODUCT(saturated_k64, 4, 4, 0, ORDERED("m16n8k64", "satfinite.s32.s8.s8.s32"))
TWO(s4_s4_k64, 4, 2, ORDERED("m16n8k64", "s32.s4.s4.s32"))
TWO(s4_u4_k64, 4, 2, ORDERED("m16n8k64", "s32.s4.u4.s32"))
TWO(u4_s4_k64, 4, 2, ORDERED("m16n8k64", "s32.u4.s4.s32"))
TWO(u4_u4_k64, 4, 2, ORDERED("m16n8k64", "s32.u4.u4.s32"))
PRODUCT(s4_s4_k128, 4, 4, 0, ORDERED("m16n8k128", "s32.s4.s4.s32"))
PRODUCT(s4_u4_k128, 4, 4, 0, ORDERED("m16n8k128", "s32.s4.u4.s32"))
PRODUCT(u4_s4_k128, 4, 4, 0, ORDERED("m16n8k128", "s32.u4.s4.s32"))
PRODUCT(u4_u4_k128, 4, 4, 0, ORDERED("m16n8k128", "s32.u4.u4.s32"))
// Metadata in any order.
TWO(f16_any_order_k32, 4, 4, "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
TWO(s8_any_order_k32, 4, 2, "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
PRODUCT(e4m3_e4m3_k64, 4, 4, 0, ORDERED("m16n8k64", "f32.e4m3.e4m3.f32"))
PRODUCT(e4m3_e5m2_k64, 4, 4, 0, ORDERED("m16n8k64", "f32.e4m3.e5m2.f32"))
PRODUCT(e5m2_e4m3_k64, 4, 4, 0, ORDERED("m16n8k64", "f32.e5m2.e4m3.f32"))
PRODUCT(e5m2_e5m2_k64, 4, 4, 0, ORDERED("m16n8k64", "f32.e5m2.e5m2.f32"))
#endif
