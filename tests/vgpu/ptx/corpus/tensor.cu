// SPDX-License-Identifier: Apache-2.0
// Tensor cores of Ampere: wmma, and mma.sync with ldmatrix and cp.async by inline PTX.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void fragments(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + k, n);
    wmma::load_matrix_sync(right, b + k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
}
__global__ void by_hand(const float* a, float* c) {
  __shared__ alignas(16) float tile[32 * 8];
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x * 4));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at),
               "l"(a + threadIdx.x * 4), "r"(16));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(a));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group %0;" ::"n"(0));
  __syncthreads();
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
  float d[4] = {0, 0, 0, 0};
  unsigned x;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(d[0]));
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%0, "
      "%1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(x), "r"(r[0]));
  c[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
