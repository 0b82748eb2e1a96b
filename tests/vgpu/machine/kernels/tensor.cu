// SPDX-License-Identifier: Apache-2.0
// Matrix instructions: fragments filled by plain loads as the PTX ISA lays them out, and by
// ldmatrix and wmma.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace {

using u32 = unsigned;

__device__ u32 address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

// Two 16-bit elements of a row-major or column-major matrix.
__device__ u32 pair(unsigned short low, unsigned short high) {
  return low | static_cast<u32>(high) << 16;
}

// A of m16n8kK (row-major, K columns) and B (K rows of 8), 16-bit elements: "Matrix Fragments for
// mma.m16n8k16".
template <int K>
__device__ void load_16(u32 (&a)[K / 4], u32 (&b)[K / 8], const unsigned short* ga,
                        const unsigned short* gb) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  for (int r = 0; r < K / 4; ++r) {
    const int row = g + (r % 2) * 8, col = 2 * t + (r / 2) * 8;
    a[r] = pair(ga[row * K + col], ga[row * K + col + 1]);
  }
  for (int r = 0; r < K / 8; ++r) {
    const int row = 2 * t + r * 8;
    b[r] = pair(gb[row * 8 + g], gb[(row + 1) * 8 + g]);
  }
}

__device__ void load_c(float (&c)[4], const float* gc) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  c[0] = gc[g * 8 + 2 * t];
  c[1] = gc[g * 8 + 2 * t + 1];
  c[2] = gc[(g + 8) * 8 + 2 * t];
  c[3] = gc[(g + 8) * 8 + 2 * t + 1];
}
__device__ void store_d(float* gd, const float (&d)[4]) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  gd[g * 8 + 2 * t] = d[0];
  gd[g * 8 + 2 * t + 1] = d[1];
  gd[(g + 8) * 8 + 2 * t] = d[2];
  gd[(g + 8) * 8 + 2 * t + 1] = d[3];
}

}  // namespace

#define MMA_16_K16(name, type)                                                                   \
  extern "C" __global__ void name(float* gd, const unsigned short* ga, const unsigned short* gb, \
                                  const float* gc) {                                             \
    u32 a[4], b[2];                                                                              \
    float c[4], d[4];                                                                            \
    load_16<16>(a, b, ga, gb);                                                                   \
    load_c(c, gc);                                                                               \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                          \
                 ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]),  \
                   "f"(c[1]), "f"(c[2]), "f"(c[3]));                                             \
    store_d(gd, d);                                                                              \
  }
MMA_16_K16(mma_f16_k16, "f16")
MMA_16_K16(mma_bf16_k16, "bf16")

#define MMA_16_K8(name, type)                                                                    \
  extern "C" __global__ void name(float* gd, const unsigned short* ga, const unsigned short* gb, \
                                  const float* gc) {                                             \
    u32 a[2], b[1];                                                                              \
    float c[4];                                                                                  \
    load_16<8>(a, b, ga, gb);                                                                    \
    load_c(c, gc);                                                                               \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." type "." type                           \
                 ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                             \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                             \
    store_d(gd, c);                                                                              \
  }
MMA_16_K8(mma_f16_k8, "f16")
MMA_16_K8(mma_bf16_k8, "bf16")

// Sums in f16, both shapes.
extern "C" __global__ void mma_f16_sums(float* gd, const unsigned short* ga,
                                        const unsigned short* gb, const float* gc, int k) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  u32 c[2];
  for (int r = 0; r < 2; ++r) {
    const float* at = gc + (g + 8 * r) * 8 + 2 * t;
    c[r] = pair(__half_as_ushort(__float2half(at[0])), __half_as_ushort(__float2half(at[1])));
  }
  if (k == 16) {
    u32 a[4], b[2];
    load_16<16>(a, b, ga, gb);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
        "{%0,%1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    u32 a[2], b[1];
    load_16<8>(a, b, ga, gb);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
  for (int r = 0; r < 2; ++r) {
    float* at = gd + (g + 8 * r) * 8 + 2 * t;
    at[0] = __half2float(__ushort_as_half(static_cast<unsigned short>(c[r])));
    at[1] = __half2float(__ushort_as_half(static_cast<unsigned short>(c[r] >> 16)));
  }
}

// "Matrix Fragments for mma.m16n8k4" and "k8" with .tf32. The lower 13 bits of an element are
// ignored.
extern "C" __global__ void mma_tf32(float* gd, const float* ga, const float* gb, const float* gc,
                                    int k) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  float c[4];
  load_c(c, gc);
  const auto a = [&](int row, int col) { return __float_as_uint(ga[row * k + col]) | 0x1fff; };
  const auto b = [&](int row) { return __float_as_uint(gb[row * 8 + g]) | 0x0abc; };
  if (k == 8) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a(g, t)), "r"(a(g + 8, t)), "r"(a(g, t + 4)), "r"(a(g + 8, t + 4)), "r"(b(t)),
          "r"(b(t + 4)));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a(g, t)), "r"(a(g + 8, t)), "r"(b(t)));
  }
  store_d(gd, c);
}

// "Matrix Fragments for mma.m8n8k4 with .f64".
extern "C" __global__ void mma_f64(double* gd, const double* ga, const double* gb,
                                   const double* gc) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  double d[2] = {gc[g * 8 + 2 * t], gc[g * 8 + 2 * t + 1]};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(ga[g * 4 + t]), "d"(gb[t * 8 + g]));
  gd[g * 8 + 2 * t] = d[0];
  gd[g * 8 + 2 * t + 1] = d[1];
}

// A and B are stored to shared memory by rows; ldmatrix loads the fragments of both.
extern "C" __global__ void mma_by_ldmatrix(float* gd, const unsigned short* ga,
                                           const unsigned short* gb, const float* gc, int generic) {
  __shared__ alignas(16) unsigned short sa[16][24], sb[16][8];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < 256; i += 32) sa[i / 16][i % 16] = ga[i];
  for (int i = lane; i < 128; i += 32) sb[i / 8][i % 8] = gb[i];
  __syncwarp();
  u32 a[4], b[2];
  const void* row_a = &sa[lane % 16][lane / 16 * 8];
  if (generic != 0) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "l"(row_a)
                 : "memory");
    for (int r = 0; r < 2; ++r) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                   : "=r"(b[r])
                   : "r"(address(&sb[r * 8 + lane % 8][0]))
                   : "memory");
    }
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address(row_a))
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0,%1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1])
                 : "r"(address(&sb[lane % 16][0]))
                 : "memory");
  }
  float c[4];
  load_c(c, gc);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  store_d(gd, c);
}

extern "C" __global__ void transpose(unsigned short* out, const unsigned short* in) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  u32 d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(d)
               : "r"(pair(in[g * 8 + 2 * t], in[g * 8 + 2 * t + 1])));
  out[g * 8 + 2 * t] = static_cast<unsigned short>(d);
  out[g * 8 + 2 * t + 1] = static_cast<unsigned short>(d >> 16);
}

// D = 2 A B + C with wmma; A and B in the layouts of L and R, D row-major, through shared or global
// memory.
template <int M, int N, int K, class In, class Sum, class Out, class L, class R>
__device__ void wmma_product(Out* gd, const In* ga, const In* gb, const Sum* gc) {
  using namespace nvcuda::wmma;
  using Fragment = std::conditional_t<std::is_same_v<In, float>, precision::tf32, In>;
  constexpr int lda = std::is_same_v<L, row_major> ? K : M,
                ldb = std::is_same_v<R, row_major> ? N : K;
  __shared__ alignas(32) In sa[M * K];
  for (int i = static_cast<int>(threadIdx.x); i < M * K; i += 32) sa[i] = ga[i];
  __syncwarp();
  fragment<matrix_a, M, N, K, Fragment, L> a;
  fragment<matrix_b, M, N, K, Fragment, R> b;
  fragment<accumulator, M, N, K, Sum> c;
  fragment<accumulator, M, N, K, Out> d;
  load_matrix_sync(a, sa, lda);
  load_matrix_sync(b, gb, ldb);
  load_matrix_sync(c, gc, N, mem_row_major);
  for (int i = 0; i < a.num_elements; ++i) a.x[i] = static_cast<In>(a.x[i] + a.x[i]);
  mma_sync(d, a, b, c);
  store_matrix_sync(gd, d, N, mem_row_major);
}
#define WMMA(name, M, N, K, In, Out, L, R)                                                 \
  extern "C" __global__ void name(Out* gd, const In* ga, const In* gb, const Out* gc) {    \
    wmma_product<M, N, K, In, Out, Out, nvcuda::wmma::L, nvcuda::wmma::R>(gd, ga, gb, gc); \
  }
WMMA(wmma_f16_square_rr, 16, 16, 16, __half, float, row_major, row_major)
WMMA(wmma_f16_square_rc, 16, 16, 16, __half, float, row_major, col_major)
WMMA(wmma_f16_square_cr, 16, 16, 16, __half, float, col_major, row_major)
WMMA(wmma_f16_tall_cc, 32, 8, 16, __half, float, col_major, col_major)
WMMA(wmma_f16_wide_rr, 8, 32, 16, __half, float, row_major, row_major)
WMMA(wmma_half_square_rc, 16, 16, 16, __half, __half, row_major, col_major)
WMMA(wmma_bf16_square_rc, 16, 16, 16, __nv_bfloat16, float, row_major, col_major)
WMMA(wmma_bf16_tall_rr, 32, 8, 16, __nv_bfloat16, float, row_major, row_major)
WMMA(wmma_bf16_wide_cc, 8, 32, 16, __nv_bfloat16, float, col_major, col_major)
WMMA(wmma_tf32_square_rc, 16, 16, 8, float, float, row_major, col_major)
WMMA(wmma_s8_square_rc, 16, 16, 16, signed char, int, row_major, col_major)
WMMA(wmma_s8_square_cr, 16, 16, 16, signed char, int, col_major, row_major)
WMMA(wmma_s8_tall_cc, 32, 8, 16, signed char, int, col_major, col_major)
WMMA(wmma_s8_wide_rr, 8, 32, 16, signed char, int, row_major, row_major)
WMMA(wmma_f64_rc, 8, 8, 4, double, double, row_major, col_major)
WMMA(wmma_f64_cr, 8, 8, 4, double, double, col_major, row_major)
// Sums in single precision from and to f16.
extern "C" __global__ void wmma_from_half(float* gd, const __half* ga, const __half* gb,
                                          const __half* gc) {
  using nvcuda::wmma::row_major;
  wmma_product<16, 16, 16, __half, __half, float, row_major, row_major>(gd, ga, gb, gc);
}
extern "C" __global__ void wmma_to_half(__half* gd, const __half* ga, const __half* gb,
                                        const float* gc) {
  using nvcuda::wmma::row_major;
  wmma_product<16, 16, 16, __half, float, __half, row_major, row_major>(gd, ga, gb, gc);
}

// Products of narrow elements, whose rows of A and columns of B are words in memory. T: u4 or b1.
template <class T, int K>
__device__ void narrow_product(int* gd, const u32* ga, const u32* gb, const int* gc, bool xors) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 8, 8, K, T, row_major> a;
  fragment<matrix_b, 8, 8, K, T, col_major> b;
  fragment<accumulator, 8, 8, K, int> c;
  load_matrix_sync(a, ga, K);
  load_matrix_sync(b, gb, K);
  load_matrix_sync(c, gc, 8, mem_col_major);
  if constexpr (K == 128)
    bmma_sync(c, a, b, c, xors ? experimental::bmmaBitOpXOR : experimental::bmmaBitOpAND);
  else
    mma_sync(c, a, b, c);
  store_matrix_sync(gd, c, 8, mem_col_major);
}
extern "C" __global__ void wmma_u4(int* gd, const u32* ga, const u32* gb, const int* gc) {
  narrow_product<nvcuda::wmma::experimental::precision::u4, 32>(gd, ga, gb, gc, false);
}
extern "C" __global__ void wmma_b1(int* gd, const u32* ga, const u32* gb, const int* gc) {
  narrow_product<nvcuda::wmma::experimental::precision::b1, 128>(gd, ga, gb, gc, true);
}
extern "C" __global__ void wmma_b1_and(int* gd, const u32* ga, const u32* gb, const int* gc) {
  narrow_product<nvcuda::wmma::experimental::precision::b1, 128>(gd, ga, gb, gc, false);
}

// mma.m8n8k4 of f16, one product for each quarter of the warp. a, b: 8 x 4 and 4 x 8 in the layouts
// that the name has, one matrix after the other; d: 8 x 8.
#define QUADS(name, layouts, a_by_lane, b_by_lane)                                               \
  extern "C" __global__ void name(float* gd, const unsigned short* ga, const unsigned short* gb, \
                                  const float* gc) {                                             \
    const int lane = static_cast<int>(threadIdx.x), quad = lane / 4 % 4;                         \
    const int far = lane < 16 ? 0 : 4, near = lane % 4;                                          \
    unsigned short a[4], b[4];                                                                   \
    for (int i = 0; i < 4; ++i) {                                                                \
      a[i] = (a_by_lane) ? ga[32 * quad + 4 * (near + far) + i]                                  \
                         : ga[32 * quad + 4 * (i + far) + near];                                 \
      b[i] =                                                                                     \
          (b_by_lane) ? gb[32 * quad + 8 * i + near + far] : gb[32 * quad + 8 * near + i + far]; \
    }                                                                                            \
    float c[8];                                                                                  \
    const auto place = [&](int i) {                                                              \
      return 64 * quad + 8 * ((lane & 1) + (i & 2) + far) + (i & 4) + (lane & 2) + (i & 1);      \
    };                                                                                           \
    for (int i = 0; i < 8; ++i) c[i] = gc[place(i)];                                             \
    asm volatile("mma.sync.aligned.m8n8k4." layouts                                              \
                 ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "              \
                 "{%0,%1,%2,%3,%4,%5,%6,%7};"                                                    \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),       \
                   "+f"(c[6]), "+f"(c[7])                                                        \
                 : "r"(pair(a[0], a[1])), "r"(pair(a[2], a[3])), "r"(pair(b[0], b[1])),          \
                   "r"(pair(b[2], b[3])));                                                       \
    for (int i = 0; i < 8; ++i) gd[place(i)] = c[i];                                             \
  }
QUADS(mma_quads_rc, "row.col", true, true)
QUADS(mma_quads_rr, "row.row", true, false)
QUADS(mma_quads_cc, "col.col", false, true)
QUADS(mma_quads_cr, "col.row", false, false)

// Not all lanes of the warp execute it.
extern "C" __global__ void half_a_warp(unsigned short* out, int threads) {
  u32 d = threadIdx.x;
  if (static_cast<int>(threadIdx.x) >= threads) return;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(d));
  out[threadIdx.x] = static_cast<unsigned short>(d);
}
