// SPDX-License-Identifier: Apache-2.0
// Small kernels: matrix instructions, and the loads and stores of their operands.
#include "micro.cuh"

#include <cuda_fp16.h>
#include <mma.h>

namespace micro {

__global__ void tensor(int* x) {
  using namespace nvcuda::wmma;
  __shared__ alignas(32) __half s[2 * 256];
  const auto t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 512; i += kThreads) s[i] = __int2half_rn(x[i] & 7);
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0F);
  load_matrix_sync(a, s, 16);
  load_matrix_sync(b, s + 256, 16);
  mma_sync(c, a, b, c);
  store_matrix_sync(reinterpret_cast<float*>(x) + 1024 + (thread_number() / 32) * 256, c, 16,
                    mem_row_major);
}

enum class Product { kTf32, kBf16, kHalfSums, kDouble };
template <Product kProduct>
__global__ void products(int* x) {
  const int t = thread_number();
  const int a0 = x[t], a1 = x[t + 1], a2 = x[t + 2], a3 = x[t + 3], b0 = x[t + 4], b1 = x[t + 5];
  int* const to = x + 1024 + t * 4;
  if constexpr (kProduct == Product::kHalfSums) {
    int c0 = a0, c1 = a1;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
        "{%0,%1};"
        : "+r"(c0), "+r"(c1)
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    to[0] = c0;
    to[1] = c1;
  } else if constexpr (kProduct == Product::kDouble) {
    double c0 = 0, c1 = 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(static_cast<double>(a0)), "d"(static_cast<double>(b0)));
    to[0] = static_cast<int>(c0);
    to[1] = static_cast<int>(c1);
  } else {
    float f0 = 0, f1 = 0, f2 = 0, f3 = 0;
    if constexpr (kProduct == Product::kTf32) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    to[0] = __float_as_int(f0 + f1);
    to[1] = __float_as_int(f2 + f3);
  }
}

__global__ void matrix_stores(int* x) {
  __shared__ alignas(16) int s[kThreads * 4];
  const auto t = static_cast<int>(threadIdx.x);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                   shared_address(s + t * 4)),
               "r"(x[t]), "r"(x[t + 1]), "r"(x[t + 2]), "r"(x[t + 3])
               : "memory");
  __syncthreads();
  x[1024 + thread_number()] = s[t];
}

__global__ void transposed(int* x) {
  const int t = thread_number();
  int d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(x[t]));
  x[1024 + t] = d;
}

std::span<const Launch> matrix_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.tensor", [](int* x) { start(tensor, x); }},
      {"micro.product_tf32", [](int* x) { start(products<Product::kTf32>, x); }},
      {"micro.product_bf16", [](int* x) { start(products<Product::kBf16>, x); }},
      {"micro.product_half_sums", [](int* x) { start(products<Product::kHalfSums>, x); }},
      {"micro.product_double", [](int* x) { start(products<Product::kDouble>, x); }},
      {"micro.matrix_stores", [](int* x) { start(matrix_stores, x); }},
      {"micro.transposed", [](int* x) { start(transposed, x); }},
  };
  return kLaunches;
}

}  // namespace micro
