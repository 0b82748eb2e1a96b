// SPDX-License-Identifier: Apache-2.0
// The GEMM entry points. Each fills in a Product.
#include <cstdint>

#include "blas/api.hpp"
#include "blas/product.hpp"

namespace vgpu::blas {
namespace {

cublasComputeType_t compute_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F: return CUBLAS_COMPUTE_16F;
    case CUDA_R_64F:
    case CUDA_C_64F: return CUBLAS_COMPUTE_64F;
    default: return CUBLAS_COMPUTE_32F;
  }
}

cublasComputeType_t in_math_mode(cublasHandle_t handle, cublasComputeType_t compute,
                                 cudaDataType a) {
  const int mode = handle->math_mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  const bool single = compute == CUBLAS_COMPUTE_32F && (a == CUDA_R_32F || a == CUDA_C_32F);
  return single && mode == CUBLAS_TF32_TENSOR_OP_MATH ? CUBLAS_COMPUTE_32F_FAST_TF32 : compute;
}

cublasStatus_t gemm(cublasHandle_t handle, const Shape& shape, const void* alpha, const Operand& a,
                    const Operand& b, const void* beta, const Operand& c,
                    cublasComputeType_t compute) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool on_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  Product product;
  static_cast<Shape&>(product) = shape;
  product.a = a;
  product.b = b;
  product.c = product.d = c;
  product.compute = in_math_mode(handle, compute, a.type);
  product.scale_type = scale_type_of(compute, c.type);
  product.alpha = {alpha, product.scale_type, on_device};
  product.beta = {beta, product.scale_type, on_device};
  return run(handle->stream, product);
}

template <class T>
Operand single(const T* data, std::int64_t ld, cudaDataType type) {
  return {data, type, ld, 0, false, false, nullptr};
}
template <class T>
Operand strided(const T* data, std::int64_t ld, long long stride, cudaDataType type) {
  return {data, type, ld, stride, false, false, nullptr};
}
template <class T>
Operand array(T* const data[], std::int64_t ld, cudaDataType type) {
  return {data, type, ld, 0, true, false, nullptr};
}

struct Groups {
  const char* function;
  cublasHandle_t handle;
  cublasComputeType_t compute;
  std::size_t factor_bytes;
};

// `a`, `b` and `c`: arrays in device memory of the pointers of all groups, one after the other.
template <class Int>
cublasStatus_t grouped(const Groups& all, const cublasOperation_t op_a[],
                       const cublasOperation_t op_b[], const Int m[], const Int n[], const Int k[],
                       const void* alpha, const void* a, cudaDataType type_a, const Int lda[],
                       const void* b, cudaDataType type_b, const Int ldb[], const void* beta,
                       const void* c, cudaDataType type_c, const Int ldc[], Int groups,
                       const Int sizes[]) {
  if (all.handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (groups < 0) return CUBLAS_STATUS_INVALID_VALUE;
  std::size_t first = 0;
  for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) {
    const auto factor = [&](const void* factors) {
      return static_cast<const char*>(factors) + g * all.factor_bytes;
    };
    const auto pointers = [&](const void* array) {
      return static_cast<const void* const*>(array) + first;
    };
    const cublasStatus_t status =
        gemm(all.handle, {all.function, op_a[g], op_b[g], m[g], n[g], k[g], sizes[g]},
             factor(alpha), array(pointers(a), lda[g], type_a), array(pointers(b), ldb[g], type_b),
             factor(beta), array(pointers(c), ldc[g], type_c), all.compute);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    first += static_cast<std::size_t>(sizes[g]);
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_SIZES(INT) \
  cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, INT m, INT n, INT k

// The forms for one type, with sizes of type INT.
#define VGPU_GEMM(NAME, V2, INT, SUFFIX, T, TYPE)                                               \
  cublasStatus_t cublas##NAME##V2##SUFFIX(VGPU_SIZES(INT), const T* alpha, const T* a, INT lda, \
                                          const T* b, INT ldb, const T* beta, T* c, INT ldc) {  \
    return gemm(handle, {"cublas" #NAME, op_a, op_b, m, n, k, 1}, alpha, single(a, lda, TYPE),  \
                single(b, ldb, TYPE), beta, single(c, ldc, TYPE), compute_of(TYPE));            \
  }
#define VGPU_GEMM_BATCHES(NAME, INT, SUFFIX, T, TYPE)                                             \
  cublasStatus_t cublas##NAME##StridedBatched##SUFFIX(                                            \
      VGPU_SIZES(INT), const T* alpha, const T* a, INT lda, long long stride_a, const T* b,       \
      INT ldb, long long stride_b, const T* beta, T* c, INT ldc, long long stride_c, INT batch) { \
    return gemm(handle, {"cublas" #NAME "StridedBatched", op_a, op_b, m, n, k, batch}, alpha,     \
                strided(a, lda, stride_a, TYPE), strided(b, ldb, stride_b, TYPE), beta,           \
                strided(c, ldc, stride_c, TYPE), compute_of(TYPE));                               \
  }                                                                                               \
  cublasStatus_t cublas##NAME##Batched##SUFFIX(                                                   \
      VGPU_SIZES(INT), const T* alpha, const T* const a[], INT lda, const T* const b[], INT ldb,  \
      const T* beta, T* const c[], INT ldc, INT batch) {                                          \
    return gemm(handle, {"cublas" #NAME "Batched", op_a, op_b, m, n, k, batch}, alpha,            \
                array(a, lda, TYPE), array(b, ldb, TYPE), beta, array(c, ldc, TYPE),              \
                compute_of(TYPE));                                                                \
  }

// The forms that name their types.
#define VGPU_GEMM_EX(INT, SUFFIX)                                                                  \
  cublasStatus_t cublasGemmEx##SUFFIX(                                                             \
      VGPU_SIZES(INT), const void* alpha, const void* a, cudaDataType type_a, INT lda,             \
      const void* b, cudaDataType type_b, INT ldb, const void* beta, void* c, cudaDataType type_c, \
      INT ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {                                    \
    return gemm(handle, {"cublasGemmEx", op_a, op_b, m, n, k, 1}, alpha, single(a, lda, type_a),   \
                single(b, ldb, type_b), beta, single(c, ldc, type_c), compute);                    \
  }                                                                                                \
  cublasStatus_t cublasGemmStridedBatchedEx##SUFFIX(                                               \
      VGPU_SIZES(INT), const void* alpha, const void* a, cudaDataType type_a, INT lda,             \
      long long stride_a, const void* b, cudaDataType type_b, INT ldb, long long stride_b,         \
      const void* beta, void* c, cudaDataType type_c, INT ldc, long long stride_c, INT batch,      \
      cublasComputeType_t compute, cublasGemmAlgo_t) {                                             \
    return gemm(handle, {"cublasGemmStridedBatchedEx", op_a, op_b, m, n, k, batch}, alpha,         \
                strided(a, lda, stride_a, type_a), strided(b, ldb, stride_b, type_b), beta,        \
                strided(c, ldc, stride_c, type_c), compute);                                       \
  }                                                                                                \
  cublasStatus_t cublasGemmBatchedEx##SUFFIX(                                                      \
      VGPU_SIZES(INT), const void* alpha, const void* const a[], cudaDataType type_a, INT lda,     \
      const void* const b[], cudaDataType type_b, INT ldb, const void* beta, void* const c[],      \
      cudaDataType type_c, INT ldc, INT batch, cublasComputeType_t compute, cublasGemmAlgo_t) {    \
    return gemm(handle, {"cublasGemmBatchedEx", op_a, op_b, m, n, k, batch}, alpha,                \
                array(a, lda, type_a), array(b, ldb, type_b), beta, array(c, ldc, type_c),         \
                compute);                                                                          \
  }

// Products of operands whose types the caller names, with factors of the type T.
#define VGPU_GEMM_FACTORS(NAME, INT, SUFFIX, T)                                                    \
  cublasStatus_t cublas##NAME##SUFFIX(                                                             \
      VGPU_SIZES(INT), const T* alpha, const void* a, cudaDataType type_a, INT lda, const void* b, \
      cudaDataType type_b, INT ldb, const T* beta, void* c, cudaDataType type_c, INT ldc) {        \
    return gemm(handle, {"cublas" #NAME, op_a, op_b, m, n, k, 1}, alpha, single(a, lda, type_a),   \
                single(b, ldb, type_b), beta, single(c, ldc, type_c), CUBLAS_COMPUTE_32F);         \
  }

// Groups of products; the arrays of sizes and factors are the host's.
#define VGPU_GEMM_GROUPS(INT, SUFFIX)                                                              \
  cublasStatus_t cublasSgemmGroupedBatched##SUFFIX(VGPU_GROUPS(INT, float)) {                      \
    return grouped({"cublasSgemmGroupedBatched", handle, CUBLAS_COMPUTE_32F, 4}, op_a, op_b, m, n, \
                   k, alpha, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb, beta, c, CUDA_R_32F, ldc,     \
                   groups, sizes);                                                                 \
  }                                                                                                \
  cublasStatus_t cublasDgemmGroupedBatched##SUFFIX(VGPU_GROUPS(INT, double)) {                     \
    return grouped({"cublasDgemmGroupedBatched", handle, CUBLAS_COMPUTE_64F, 8}, op_a, op_b, m, n, \
                   k, alpha, a, CUDA_R_64F, lda, b, CUDA_R_64F, ldb, beta, c, CUDA_R_64F, ldc,     \
                   groups, sizes);                                                                 \
  }                                                                                                \
  cublasStatus_t cublasGemmGroupedBatchedEx##SUFFIX(                                               \
      cublasHandle_t handle, const cublasOperation_t op_a[], const cublasOperation_t op_b[],       \
      const INT m[], const INT n[], const INT k[], const void* alpha, const void* const a[],       \
      cudaDataType_t type_a, const INT lda[], const void* const b[], cudaDataType_t type_b,        \
      const INT ldb[], const void* beta, void* const c[], cudaDataType_t type_c, const INT ldc[],  \
      INT groups, const INT sizes[], cublasComputeType_t compute) {                                \
    return grouped(                                                                                \
        {"cublasGemmGroupedBatchedEx", handle, compute, bytes_of(scale_type_of(compute, type_c))}, \
        op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, groups,  \
        sizes);                                                                                    \
  }
#define VGPU_GROUPS(INT, T)                                                               \
  cublasHandle_t handle, const cublasOperation_t op_a[], const cublasOperation_t op_b[],  \
      const INT m[], const INT n[], const INT k[], const T alpha[], const T *const a[],   \
      const INT lda[], const T *const b[], const INT ldb[], const T beta[], T *const c[], \
      const INT ldc[], INT groups, const INT sizes[]

#define VGPU_GEMM_SIZES(NAME, V2, T, TYPE) \
  VGPU_GEMM(NAME, V2, int, , T, TYPE)      \
  VGPU_GEMM(NAME, V2, int64_t, _64, T, TYPE)
#define VGPU_GEMM_ALL(NAME, V2, T, TYPE)  \
  VGPU_GEMM_SIZES(NAME, V2, T, TYPE)      \
  VGPU_GEMM_BATCHES(NAME, int, , T, TYPE) \
  VGPU_GEMM_BATCHES(NAME, int64_t, _64, T, TYPE)
#define VGPU_GEMM_FACTORS_ALL(NAME, T) \
  VGPU_GEMM_FACTORS(NAME, int, , T)    \
  VGPU_GEMM_FACTORS(NAME, int64_t, _64, T)

VGPU_GEMM_ALL(Sgemm, _v2, float, CUDA_R_32F)
VGPU_GEMM_ALL(Dgemm, _v2, double, CUDA_R_64F)
VGPU_GEMM_ALL(Cgemm, _v2, cuComplex, CUDA_C_32F)
VGPU_GEMM_ALL(Zgemm, _v2, cuDoubleComplex, CUDA_C_64F)
VGPU_GEMM_ALL(Hgemm, , __half, CUDA_R_16F)
// With three real products instead of four on a GPU.
VGPU_GEMM_ALL(Cgemm3m, , cuComplex, CUDA_C_32F)
VGPU_GEMM_SIZES(Zgemm3m, , cuDoubleComplex, CUDA_C_64F)
VGPU_GEMM_FACTORS_ALL(SgemmEx, float)
VGPU_GEMM_FACTORS_ALL(CgemmEx, cuComplex)
VGPU_GEMM_FACTORS_ALL(Cgemm3mEx, cuComplex)
VGPU_GEMM_EX(int, )
VGPU_GEMM_EX(int64_t, _64)
VGPU_GEMM_GROUPS(int, )
VGPU_GEMM_GROUPS(int64_t, _64)
