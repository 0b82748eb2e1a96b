// SPDX-License-Identifier: Apache-2.0
// PTX as authors of kernels write it: scopes, labels used twice, names without %, comments,
// constant expressions.
__device__ void wait_for(unsigned address, unsigned phase) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.test_wait.parity.shared.b64 P1, [%0], %1; // spins\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(address),
      "r"(phase));
}
__global__ void scopes(int* out, int n) {
  __shared__ unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(1));
  wait_for(at, 0);
  wait_for(at, 1);
  int result;
  asm("{ .reg .pred p; .reg .b32 t, u<2>; setp.ne.s32 p, %1, 0; /* a comment */ @!p mov.b32 t, 5;\n"
      "  @p mov.b32 t, 0x10; { .reg .b32 t; mov.b32 t, 3; add.s32 u0, t, 1; }\n"
      "  add.s32 %0, t, u0; }"
      : "=r"(result)
      : "r"(n));
  out[0] = result;
}
__global__ void operands(float* out, unsigned* words, const float* in) {
  float a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4 + 4*4];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(in));
  asm volatile("st.global.v2.f32 [%0+-8], {%1, %2};" ::"l"(out + 4), "f"(a), "f"(b) : "memory");
  unsigned lane, pieces, value = words[0];
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {high, low}; }"
      : "=r"(pieces)
      : "r"(value));
  asm("{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, 16, !q; selp.u32 %0, 1, 0, p; }"
      : "=r"(value)
      : "r"(lane));
  asm("{ .reg .b32 lo; mov.b64 {lo, _}, %1; add.u32 %0, %0, lo; }" : "+r"(value) : "l"(in));
  asm("fma.rn.f32 %0, %1, 0f3F000000, 0d4000000000000000;" : "=f"(c) : "f"(a));
  asm("add.rn.f32 %0, %1, -1.5;" : "=f"(d) : "f"(b));
  asm("mad.lo.u32 %0, %1, (1 << 4) - 3, WARP_SZ;" : "=r"(value) : "r"(value));
  asm("vadd.u32.u32.u32 %0, %1.b0, %2.h1;" : "=r"(pieces) : "r"(pieces), "r"(value));
  out[lane] = c + d;
  words[lane] = pieces + value;
}
