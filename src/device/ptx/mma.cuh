// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of a warp, and loads of their fragments. One function per instruction; PTX
// ISA, "Warp Level Matrix Multiply-Accumulate Instructions: ldmatrix, stmatrix, mma" and "cvt". g =
// lane / 4, t = lane % 4.
#pragma once
#include <cstdint>

namespace ladder::ptx {

// ldmatrix.x4: four matrices of 8 rows x 16 bytes. Lane 8 q + i passes the address of row i of
// matrix q. r[q] is the 32-bit element t of its row g.
__device__ __forceinline__ void load_matrix4(std::uint32_t (&r)[4], std::uint32_t s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(s)
               : "memory");
}

// cvt.rn.tf32: rounds to the nearest tf32, ties to even; a tensor core would truncate. This is one
// instruction from sm_90 on. Rounding ties away from zero (.rna) takes two.
__device__ __forceinline__ std::uint32_t to_tf32(std::uint32_t bits) {
  std::uint32_t rounded;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rounded) : "r"(bits));
  return rounded;
}

// mma.m16n8k8 in tf32: d += a b. a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4) as (m, k). b:
// (t, g), (t + 4, g) as (k, n). d: (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1) as (m,
// n).
__device__ __forceinline__ void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4],
                                         std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// mma.m16n8k16 in bf16: d += a b. A register holds two neighbours along k, the first in its lower
// half. a: (g, 2 t), (g + 8, 2 t), (g, 2 t + 8), (g + 8, 2 t + 8) as (m, k). b: (2 t, g), (2 t + 8,
// g) as (k, n). d: as for tf32.
__device__ __forceinline__ void mma_bf16(float (&d)[4], const std::uint32_t (&a)[4],
                                         std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// mma.m8n8k4 in f64: d += a b, rounded to nearest product by product. a: (g, t) as (m, k). b: (t,
// g) as (k, n). d: (g, 2 t), (g, 2 t + 1) as (m, n).
constexpr int kMmaEdge = 8;
__device__ __forceinline__ void mma_f64(double (&d)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1])
      : "d"(a), "d"(b));
}

}  // namespace ladder::ptx
