// SPDX-License-Identifier: Apache-2.0
// Triangles between full and packed storage; rank updates whose types the caller names.
#include "blas/structured.hpp"

#include <tuple>

namespace vgpu::blas {
namespace {

// The triangle that `from` holds, to a matrix that holds the same one.
template <class W>
cublasStatus_t store_as(const char* name, cublasHandle_t handle, const Triangle<W>& from,
                        const Triangle<W>& to) {
  return enqueue(name, handle, from.valid() && to.valid(), std::tie(from, to), [=] {
    for (std::int64_t j = 0; j < from.n; ++j) {
      for (std::int64_t i = 0; i < from.n; ++i) {
        if (from.holds(i, j)) to.at(i, j) = from.at(i, j);
      }
    }
    to.mark();
  });
}

cublasStatus_t check_single(const char* name, cudaDataType a, cudaDataType c) {
  return a == CUDA_C_32F && c == CUDA_C_32F ? CUBLAS_STATUS_SUCCESS
                                            : refuse(name, "another type than CUDA_C_32F");
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_STORAGE(INT, SUFFIX, L, C)                                                            \
  cublasStatus_t cublas##L##tpttr(cublasHandle_t handle, cublasFillMode_t fill, INT n,             \
                                  const C* ap, C* a, INT lda) {                                    \
    return store_as("cublas" #L "tpttr", handle, packed(ap, fill, n), full(a, fill, n, lda));      \
  }                                                                                                \
  cublasStatus_t cublas##L##trttp(cublasHandle_t handle, cublasFillMode_t fill, INT n, const C* a, \
                                  INT lda, C* ap) {                                                \
    return store_as("cublas" #L "trttp", handle, full(a, fill, n, lda), packed(ap, fill, n));      \
  }
VGPU_EACH_TYPE(VGPU_STORAGE, int, )

#define VGPU_RANK_EX(INT, SUFFIX, NAME, PLAIN, R)                                                 \
  cublasStatus_t cublas##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,               \
                                      cublasOperation_t op, INT n, INT k, const R* alpha,         \
                                      const void* a, cudaDataType type_a, INT lda, const R* beta, \
                                      void* c, cudaDataType type_c, INT ldc) {                    \
    const cublasStatus_t status = check_single("cublas" #NAME, type_a, type_c);                   \
    return status != CUBLAS_STATUS_SUCCESS                                                        \
               ? status                                                                           \
               : cublas##PLAIN##_v2##SUFFIX(handle, fill, op, n, k, alpha,                        \
                                            static_cast<const cuComplex*>(a), lda, beta,          \
                                            static_cast<cuComplex*>(c), ldc);                     \
  }
#define VGPU_RANKS_EX(INT, SUFFIX)                     \
  VGPU_RANK_EX(INT, SUFFIX, CherkEx, Cherk, float)     \
  VGPU_RANK_EX(INT, SUFFIX, Cherk3mEx, Cherk, float)   \
  VGPU_RANK_EX(INT, SUFFIX, CsyrkEx, Csyrk, cuComplex) \
  VGPU_RANK_EX(INT, SUFFIX, Csyrk3mEx, Csyrk, cuComplex)
VGPU_RANKS_EX(int, )
VGPU_RANKS_EX(int64_t, _64)
