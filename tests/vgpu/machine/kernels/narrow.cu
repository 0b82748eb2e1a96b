// SPDX-License-Identifier: Apache-2.0
// Kernels of test_narrow.cpp: products of matrices of narrow types, whose registers are read in the
// order [register][lane], and instructions on several narrow values per register.

#define PRODUCT_4_2(name, Sum, constraint, instruction)                                         \
  extern "C" __global__ void name(Sum* d, const unsigned* a, const unsigned* b, const Sum* c) { \
    const unsigned t = threadIdx.x;                                                             \
    Sum r[4];                                                                                   \
    for (unsigned i = 0; i < 4; ++i) r[i] = c[32 * i + t];                                      \
    asm volatile("mma.sync.aligned." instruction                                                \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                 : constraint(r[0]), constraint(r[1]), constraint(r[2]), constraint(r[3])       \
                 : "r"(a[t]), "r"(a[32 + t]), "r"(a[64 + t]), "r"(a[96 + t]), "r"(b[t]),        \
                   "r"(b[32 + t]));                                                             \
    for (unsigned i = 0; i < 4; ++i) d[32 * i + t] = r[i];                                      \
  }
#define PRODUCT_2_1(name, Sum, constraint, instruction)                                         \
  extern "C" __global__ void name(Sum* d, const unsigned* a, const unsigned* b, const Sum* c) { \
    const unsigned t = threadIdx.x;                                                             \
    Sum r[4];                                                                                   \
    for (unsigned i = 0; i < 4; ++i) r[i] = c[32 * i + t];                                      \
    asm volatile("mma.sync.aligned." instruction                                                \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                         \
                 : constraint(r[0]), constraint(r[1]), constraint(r[2]), constraint(r[3])       \
                 : "r"(a[t]), "r"(a[32 + t]), "r"(b[t]));                                       \
    for (unsigned i = 0; i < 4; ++i) d[32 * i + t] = r[i];                                      \
  }
#define PRODUCT_1_1(name, instruction)                                                          \
  extern "C" __global__ void name(int* d, const unsigned* a, const unsigned* b, const int* c) { \
    const unsigned t = threadIdx.x;                                                             \
    int r[2] = {c[t], c[32 + t]};                                                               \
    asm volatile("mma.sync.aligned." instruction " {%0, %1}, {%2}, {%3}, {%0, %1};"             \
                 : "+r"(r[0]), "+r"(r[1])                                                       \
                 : "r"(a[t]), "r"(b[t]));                                                       \
    d[t] = r[0], d[32 + t] = r[1];                                                              \
  }

#define OF_TYPES(a, b, bits, small, flat, deep)                                               \
  PRODUCT_1_1(small_##a##_##b, small ".row.col.s32." #a "." #b ".s32")                        \
  PRODUCT_1_1(small_sat_##a##_##b, small ".row.col.satfinite.s32." #a "." #b ".s32")          \
  PRODUCT_2_1(flat_##a##_##b, int, "+r", flat ".row.col.s32." #a "." #b ".s32")               \
  PRODUCT_2_1(flat_sat_##a##_##b, int, "+r", flat ".row.col.satfinite.s32." #a "." #b ".s32") \
  PRODUCT_4_2(deep_##a##_##b, int, "+r", deep ".row.col.s32." #a "." #b ".s32")               \
  PRODUCT_4_2(deep_sat_##a##_##b, int, "+r", deep ".row.col.satfinite.s32." #a "." #b ".s32")
OF_TYPES(s8, s8, 8, "m8n8k16", "m16n8k16", "m16n8k32")
OF_TYPES(s8, u8, 8, "m8n8k16", "m16n8k16", "m16n8k32")
OF_TYPES(u8, s8, 8, "m8n8k16", "m16n8k16", "m16n8k32")
OF_TYPES(u8, u8, 8, "m8n8k16", "m16n8k16", "m16n8k32")
OF_TYPES(s4, s4, 4, "m8n8k32", "m16n8k32", "m16n8k64")
OF_TYPES(s4, u4, 4, "m8n8k32", "m16n8k32", "m16n8k64")
OF_TYPES(u4, s4, 4, "m8n8k32", "m16n8k32", "m16n8k64")
OF_TYPES(u4, u4, 4, "m8n8k32", "m16n8k32", "m16n8k64")

#define OF_BITS(op)                                                                 \
  PRODUCT_1_1(small_##op, "m8n8k128.row.col.s32.b1.b1.s32." #op ".popc")            \
  PRODUCT_2_1(flat_##op, int, "+r", "m16n8k128.row.col.s32.b1.b1.s32." #op ".popc") \
  PRODUCT_4_2(deep_##op, int, "+r", "m16n8k256.row.col.s32.b1.b1.s32." #op ".popc")
OF_BITS(and)
OF_BITS(xor)

#define OF_BYTES(a, b)                                                               \
  PRODUCT_2_1(flat_##a##_##b, float, "+f", "m16n8k16.row.col.f32." #a "." #b ".f32") \
  PRODUCT_4_2(deep_##a##_##b, float, "+f", "m16n8k32.row.col.f32." #a "." #b ".f32")
OF_BYTES(e4m3, e4m3)
OF_BYTES(e4m3, e5m2)
OF_BYTES(e5m2, e4m3)
OF_BYTES(e5m2, e5m2)

// The sums in f16.
extern "C" __global__ void half_sums(unsigned* d, const unsigned* a, const unsigned* b,
                                     const unsigned* c) {
  const unsigned t = threadIdx.x;
  unsigned r[2] = {c[t], c[32 + t]};
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(r[0]), "+r"(r[1])
      : "r"(a[t]), "r"(a[32 + t]), "r"(a[64 + t]), "r"(a[96 + t]), "r"(b[t]), "r"(b[32 + t]));
  d[t] = r[0], d[32 + t] = r[1];
}

// d = f(a, b, c).
#define PACKED(name, body)                                                           \
  extern "C" __global__ void name(unsigned* d, const unsigned* a, const unsigned* b, \
                                  const unsigned* c) {                               \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                        \
    unsigned r;                                                                      \
    asm volatile(                                                                    \
        "{.reg .b32 t, u; .reg .b16 h, l, k, m, n, o; .reg .f32 x, y; "              \
        ".reg .pred p, q; " body "}"                                                 \
        : "=r"(r)                                                                    \
        : "r"(a[i]), "r"(b[i]), "r"(c[i]));                                          \
    d[i] = r;                                                                        \
  }

#define EXTREMES(op, type)                                                               \
  PACKED(op##_##type, #op "." #type " %0, %1, %2;")                                      \
  PACKED(op##_of_three_##type, #op "." #type " t, %1, %2; " #op "." #type " %0, t, %3;") \
  PACKED(op##_of_sum_##type, "add." #type " t, %1, %2; " #op "." #type " %0, t, %3;")
EXTREMES(min, u32)
EXTREMES(max, u32)
EXTREMES(min, s32)
EXTREMES(max, s32)
EXTREMES(min, u16x2)
EXTREMES(max, u16x2)
EXTREMES(min, s16x2)
EXTREMES(max, s16x2)
// With .relu at either place.
#define EXTREMES_RELU(op, type)                                              \
  PACKED(op##_relu_##type, #op ".relu." #type " %0, %1, %2;")                \
  PACKED(op##_relu_of_three_##type,                                          \
         #op "." #type ".relu t, %1, %2; " #op "." #type ".relu %0, t, %3;") \
  PACKED(op##_relu_of_sum_##type, "add." #type " t, %1, %2; " #op "." #type ".relu %0, t, %3;")
EXTREMES_RELU(min, s32)
EXTREMES_RELU(max, s32)
EXTREMES_RELU(min, s16x2)
EXTREMES_RELU(max, s16x2)
// The maximum, with which halves are a's in the lowest bits of another result.
#define WITH_PREDICATES(name, op)                                                   \
  PACKED(name, op                                                                   \
         " t, %1, %2; mov.b32 {h, l}, t; mov.b32 {k, m}, %1; setp.eq.s16 p, h, k; " \
         "setp.eq.s16 q, l, m; selp.b32 u, 1, 0, p; and.b32 %0, t, 0xfffefffe; "    \
         "or.b32 %0, %0, u; selp.b32 u, 0x10000, 0, q; or.b32 %0, %0, u;")
WITH_PREDICATES(which_max_s16x2, "max.s16x2")
WITH_PREDICATES(which_min_u16x2, "min.u16x2")

PACKED(differences, "vabsdiff4.u32.u32.u32 %0, %1, %2, %3;")
PACKED(differences_added, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;")
PACKED(differences_signed, "vabsdiff4.u32.s32.s32 %0, %1, %2, %3;")
PACKED(differences_signed_added, "vabsdiff4.s32.s32.s32.add %0, %1, %2, %3;")
PACKED(differences_mixed, "vabsdiff4.u32.u32.s32.add %0, %1, %2, %3;")
PACKED(differences_clamped, "vabsdiff4.s32.u32.u32.sat %0, %1, %2, %3;")
PACKED(differences_of_halves, "vabsdiff2.u32.u32.u32 %0, %1, %2, %3;")
PACKED(differences_of_halves_added, "vabsdiff2.u32.s32.u32.add %0, %1, %2, %3;")
PACKED(differences_of_halves_clamped, "vabsdiff2.s32.s32.s32.sat %0, %1, %2, %3;")
PACKED(sad_u32, "sad.u32 %0, %1, %2, %3;")
PACKED(sad_s32, "sad.s32 %0, %1, %2, %3;")

#define DOTS(a, b)                                                   \
  PACKED(dp4a_##a##_##b, "dp4a." #a "." #b " %0, %1, %2, %3;")       \
  PACKED(dp2a_lo_##a##_##b, "dp2a.lo." #a "." #b " %0, %1, %2, %3;") \
  PACKED(dp2a_hi_##a##_##b, "dp2a.hi." #a "." #b " %0, %1, %2, %3;")
DOTS(u32, u32)
DOTS(u32, s32)
DOTS(s32, u32)
DOTS(s32, s32)

#define FLOATS(name, op) \
  PACKED(name, "mov.b32 x, %1; mov.b32 y, %2; " op " x, x, y; mov.b32 %0, x;")
FLOATS(fmin_plain, "min.f32")
FLOATS(fmin_nan, "min.NaN.f32")
FLOATS(fmax_nan, "max.NaN.f32")
FLOATS(fmin_sign, "min.xorsign.abs.f32")
FLOATS(fmax_nan_sign, "max.NaN.xorsign.abs.f32")
FLOATS(fmax_ftz, "max.ftz.f32")
FLOATS(fmin_ftz_nan, "min.ftz.NaN.f32")
FLOATS(fmin_ftz_sign, "min.ftz.xorsign.abs.f32")

#define HALVES(name, op) PACKED(name, op " %0, %1, %2;")
HALVES(hmin_nan, "min.NaN.f16x2")
HALVES(hmax_sign, "max.xorsign.abs.f16x2")
HALVES(hmin_nan_sign, "min.NaN.xorsign.abs.f16x2")
HALVES(hmax_ftz, "max.ftz.f16x2")
HALVES(hmin_ftz_nan, "min.ftz.NaN.f16x2")
HALVES(bmax_nan, "max.NaN.bf16x2")
HALVES(bmin_nan_sign, "min.NaN.xorsign.abs.bf16x2")
HALVES(hadd_ftz, "add.ftz.f16x2")
HALVES(hmul_ftz, "mul.ftz.f16x2")
HALVES(hadd, "add.f16x2")
HALVES(hmul, "mul.f16x2")
PACKED(hfma, "fma.rn.f16x2 %0, %1, %2, %3;")
PACKED(hfma_ftz, "fma.rn.ftz.f16x2 %0, %1, %2, %3;")
PACKED(hfma_relu, "fma.rn.relu.f16x2 %0, %1, %2, %3;")
PACKED(bfma_relu, "fma.rn.relu.bf16x2 %0, %1, %2, %3;")

#define SINGLES_TO(name, op) PACKED(name, "mov.b32 x, %1; mov.b32 y, %2; " op " %0, x, y;")
SINGLES_TO(to_f16x2, "cvt.rn.relu.satfinite.f16x2.f32")
SINGLES_TO(to_bf16x2, "cvt.rz.satfinite.bf16x2.f32")
#define SINGLES_TO_BYTES(name, op) \
  PACKED(name, "mov.b32 x, %1; mov.b32 y, %2; " op " h, x, y; cvt.u32.u16 %0, h;")
SINGLES_TO_BYTES(to_e4m3, "cvt.rn.satfinite.e4m3x2.f32")
SINGLES_TO_BYTES(to_e4m3_relu, "cvt.rn.satfinite.relu.e4m3x2.f32")
SINGLES_TO_BYTES(to_e5m2, "cvt.rn.satfinite.e5m2x2.f32")
SINGLES_TO_BYTES(to_e5m2_relu, "cvt.rn.satfinite.relu.e5m2x2.f32")
// Two conversions that become the halves of one register.
PACKED(halves_to_bytes,
       "cvt.rn.satfinite.e4m3x2.f16x2 h, %1; cvt.rn.satfinite.relu.e5m2x2.f16x2 l, %2; "
       "mov.b32 %0, {h, l};")
PACKED(halves_to_bytes_relu,
       "cvt.rn.satfinite.relu.e4m3x2.f16x2 h, %1; cvt.rn.satfinite.e5m2x2.f16x2 l, %2; "
       "mov.b32 %0, {h, l};")
// From the lower and from the upper half.
#define FROM_BYTES(name, op, at) PACKED(name, "mov.b32 {h, l}, %1; " op " %0, " at ";")
FROM_BYTES(from_e4m3, "cvt.rn.f16x2.e4m3x2", "h")
FROM_BYTES(from_e4m3_relu, "cvt.rn.relu.f16x2.e4m3x2", "l")
FROM_BYTES(from_e5m2, "cvt.rn.f16x2.e5m2x2", "l")
FROM_BYTES(from_e5m2_relu, "cvt.rn.relu.f16x2.e5m2x2", "h")
PACKED(to_tf32, "mov.b32 x, %1; cvt.rn.tf32.f32 %0, x;")
PACKED(to_tf32_relu, "mov.b32 x, %1; cvt.rz.relu.tf32.f32 %0, x;")

// Votes and a shuffle with .sync behind their kind, under a guard.
PACKED(votes,
       "setp.ne.u32 p, %1, 0; setp.ne.u32 q, %2, 0; vote.ballot.sync.b32 t, p, 0xffffffff; "
       "@q not.b32 t, t; vote.sync.ballot.b32 u, !q, 0xffffffff; xor.b32 t, t, u; "
       "vote.any.sync.pred p, q, 0xffffffff; @p add.u32 t, t, 1; "
       "shfl.bfly.sync.b32 %0, t, 1, 31, 0xffffffff;")
// Only the even lanes vote.
PACKED(vote_of_some,
       "mov.u32 t, %%laneid; and.b32 t, t, 1; setp.eq.u32 q, t, 0; setp.ne.u32 p, %1, 0; "
       "mov.u32 %0, 7; @q vote.ballot.sync.b32 %0, p, 0x55555555;")
PACKED(
    matches,
    "and.b32 t, %1, 3; match.sync.any.b32 u, t, 0xffffffff; redux.add.sync.u32 t, t, 0xffffffff; "
    "add.u32 %0, t, u;")
// Bit 0: the lower halves compare, bit 1: the upper ones.
PACKED(compare_halves,
       "setp.lt.f16x2 p|q, %1, %2; selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; or.b32 %0, t, u;")
// Signs of three registers: PLOP3 of registers.
PACKED(signs,
       "setp.lt.s32 p, %1, 0; setp.lt.s32 q, %2, 0; xor.pred p, p, q; setp.lt.s32 q, %3, 0; "
       "and.pred p, p, q; selp.b32 %0, 1, 0, p;")

PACKED(prmt_f4e, "prmt.b32.f4e %0, %1, %2, %3;")
PACKED(prmt_b4e, "prmt.b32.b4e %0, %1, %2, %3;")
PACKED(prmt_rc8, "prmt.b32.rc8 %0, %1, %2, %3;")
PACKED(prmt_ecl, "prmt.b32.ecl %0, %1, %2, %3;")
PACKED(prmt_ecr, "prmt.b32.ecr %0, %1, %2, %3;")
PACKED(prmt_rc16, "prmt.b32.rc16 %0, %1, %2, %3;")

// VIADD.16x2.
PACKED(add_halves, "add.u16x2 %0, %1, %2;")
extern "C" __global__ void subtract_halves(unsigned* d, const unsigned* a, const unsigned* b,
                                           const unsigned*) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  d[i] = __vsub2(a[i], b[i]);
}

// VHMNMX.
#define OF_THREE(name, op) PACKED(name, op " t, %1, %2; " op " %0, t, %3;")
OF_THREE(hmax_of_three, "max.f16x2")
OF_THREE(hmin_nan_of_three, "min.NaN.f16x2")
OF_THREE(hmin_ftz_of_three, "min.ftz.f16x2")
OF_THREE(bmax_nan_of_three, "max.NaN.bf16x2")
OF_THREE(bmin_of_three, "min.bf16x2")

// a b + c of complex numbers: HFMA2 with the upper half of an operand negated.
PACKED(complex_fma,
       "mov.b32 {h, l}, %1; mov.b32 {k, m}, %2; mov.b32 {n, o}, %3; fma.rn.f16 n, h, k, n; "
       "fma.rn.f16 o, h, m, o; neg.f16 h, l; fma.rn.f16 n, h, m, n; fma.rn.f16 o, l, k, o; "
       "mov.b32 %0, {n, o};")

HALVES(hset_ftz, "set.lt.ftz.u32.f16x2")
HALVES(hset_ftz_number, "set.geu.ftz.f16x2.f16x2")
PACKED(hsetp_ftz,
       "setp.gt.ftz.f16x2 p|q, %1, %2; selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; or.b32 %0, t, u;")
// To integers of 8 and 16 bits.
#define TO_SMALL(name, op, extend) \
  PACKED(name, "mov.b32 {h, l}, %1; " op " k, h; " extend " %0, k;")
TO_SMALL(half_to_s8, "cvt.rzi.s8.f16", "cvt.s32.s16")
TO_SMALL(half_to_u8, "cvt.rni.u8.f16", "cvt.u32.u16")
TO_SMALL(half_to_u16, "cvt.rpi.u16.f16", "cvt.u32.u16")
TO_SMALL(bfloat_to_s16, "cvt.rmi.s16.bf16", "cvt.s32.s16")
PACKED(single_to_s8, "mov.b32 x, %1; cvt.rni.s8.f32 %0, x;")

// Fields of bits whose place is the same in all threads: UBMSK.
extern "C" __global__ void fields(unsigned* d, const unsigned* a, unsigned first, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask;
  asm volatile("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(first), "r"(count));
  d[i] = a[i] & mask;
}

// "Matrix Fragments for mma.m16n8k4, mma.m16n8k8, mma.m16n8k16 with .f64": registers in the order
// [register][lane].
#define DOUBLES(name, instruction, counts_a, counts_b, registers, ...)                            \
  extern "C" __global__ void name(double* d, const double* a, const double* b, const double* c) { \
    const unsigned t = threadIdx.x;                                                               \
    double r[4], x[counts_a], y[counts_b];                                                        \
    for (unsigned i = 0; i < 4; ++i) r[i] = c[32 * i + t];                                        \
    for (unsigned i = 0; i < counts_a; ++i) x[i] = a[32 * i + t];                                 \
    for (unsigned i = 0; i < counts_b; ++i) y[i] = b[32 * i + t];                                 \
    asm volatile("mma.sync.aligned." instruction                                                  \
                 ".row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, " registers ", {%0, %1, %2, %3};"    \
                 : "+d"(r[0]), "+d"(r[1]), "+d"(r[2]), "+d"(r[3])                                 \
                 : __VA_ARGS__);                                                                  \
    for (unsigned i = 0; i < 4; ++i) d[32 * i + t] = r[i];                                        \
  }
DOUBLES(doubles_4, "m16n8k4", 2, 1, "{%4, %5}, {%6}", "d"(x[0]), "d"(x[1]), "d"(y[0]))
DOUBLES(doubles_8, "m16n8k8", 4, 2, "{%4, %5, %6, %7}, {%8, %9}", "d"(x[0]), "d"(x[1]), "d"(x[2]),
        "d"(x[3]), "d"(y[0]), "d"(y[1]))
DOUBLES(doubles_16, "m16n8k16", 8, 4, "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}",
        "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7]),
        "d"(y[0]), "d"(y[1]), "d"(y[2]), "d"(y[3]))

// Machine code takes parts of a register (I2F.U8 R0.B2) and scales products (FMUL.D2).
extern "C" __global__ void parts_to_floats(float* d, const unsigned* a) {
  const unsigned t = threadIdx.x, v = a[t];
  for (unsigned k = 0; k < 4; ++k) {
    d[32 * k + t] = static_cast<float>(v >> 8 * k & 255);
    d[32 * (4 + k) + t] = static_cast<float>(static_cast<signed char>(v >> 8 * k));
  }
  for (unsigned k = 0; k < 2; ++k) {
    d[32 * (8 + k) + t] = static_cast<float>(v >> 16 * k & 65535);
    d[32 * (10 + k) + t] = static_cast<float>(static_cast<short>(v >> 16 * k));
  }
}
extern "C" __global__ void scaled_products(float* d, const float* a, const float* b) {
  const unsigned t = threadIdx.x;
  d[t] = a[t] * b[t] * 0.125F;
  d[32 + t] = a[32 + t] * b[t] * 0.25F;
  d[64 + t] = a[64 + t] * -b[t] * 0.5F;
  d[96 + t] = a[96 + t] * b[t] * 4.0F;
  d[128 + t] = a[128 + t] * b[t] * 8.0F;
}
extern "C" __global__ void permuted(unsigned* d, const unsigned* a, const unsigned* b,
                                    const unsigned* c) {
  const unsigned t = threadIdx.x;
  d[t] = __byte_perm(a[t], b[t], c[t]);
}
