// SPDX-License-Identifier: Apache-2.0
// The GEMM entry points. Each fills in a Gemm. Modes that the host would compute differently (TF32,
// 16-bit and emulated modes) are refused.
#include <fmt/format.h>

#include <string>

#include "blas/gemm.hpp"

namespace {

using vgpu::blas::Gemm;

cublasStatus_t refuse(const char* function, const std::string& what) {
  vgpu::blas::say(fmt::format("{}: {} is not implemented: the host would compute something else",
                              function, what)
                      .c_str());
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

// Whether the math mode allows single precision to be computed in a mode that the host does not
// have.
bool lowers_precision(cublasHandle_t handle) {
  const int mode = handle->math_mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  return mode == CUBLAS_TF32_TENSOR_OP_MATH || mode == CUBLAS_FP32_EMULATED_BF16X9_MATH;
}

template <class T>
cublasStatus_t in_math_mode(cublasHandle_t handle, const Gemm<T>& gemm) {
  if (handle != nullptr && sizeof(T) == sizeof(float) && lowers_precision(handle)) {
    return refuse(gemm.function, fmt::format("math mode {}", static_cast<int>(handle->math_mode)));
  }
  return vgpu::blas::run(handle, gemm);
}

// An operand of the Ex functions, which pass the data type as an argument.
template <class Pointer>
struct Typed {
  Pointer data;
  cudaDataType type;
  int64_t ld;
  long long stride;
};

template <class T>
Gemm<T> as(const char* function, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
           int64_t n, int64_t k, const void* alpha, const Typed<const void*>& a,
           const Typed<const void*>& b, const void* beta, const Typed<void*>& c, int64_t batch) {
  return {function,
          op_a,
          op_b,
          m,
          n,
          k,
          static_cast<const T*>(alpha),
          {static_cast<const T*>(a.data), a.ld, a.stride},
          {static_cast<const T*>(b.data), b.ld, b.stride},
          static_cast<const T*>(beta),
          {static_cast<T*>(c.data), c.ld, c.stride},
          batch};
}

cublasStatus_t run_typed(const char* function, cublasHandle_t handle, cublasOperation_t op_a,
                         cublasOperation_t op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                         const Typed<const void*>& a, const Typed<const void*>& b, const void* beta,
                         const Typed<void*>& c, int64_t batch, cublasComputeType_t compute) {
  const auto all = [&](cudaDataType type) {
    return a.type == type && b.type == type && c.type == type;
  };
  if (all(CUDA_R_32F) && compute == CUBLAS_COMPUTE_32F) {
    return in_math_mode(handle,
                        as<float>(function, op_a, op_b, m, n, k, alpha, a, b, beta, c, batch));
  }
  if (all(CUDA_R_32F) && compute == CUBLAS_COMPUTE_32F_PEDANTIC) {
    return run(handle, as<float>(function, op_a, op_b, m, n, k, alpha, a, b, beta, c, batch));
  }
  if (all(CUDA_R_64F) &&
      (compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC)) {
    return run(handle, as<double>(function, op_a, op_b, m, n, k, alpha, a, b, beta, c, batch));
  }
  return refuse(function, fmt::format("cudaDataType {}, {}, {} with compute type {}",
                                      static_cast<int>(a.type), static_cast<int>(b.type),
                                      static_cast<int>(c.type), static_cast<int>(compute)));
}

}  // namespace

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t op_a,
                                 cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  return in_math_mode<float>(
      handle,
      {"cublasSgemm", op_a, op_b, m, n, k, alpha, {a, lda, 0}, {b, ldb, 0}, beta, {c, ldc, 0}, 1});
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                              int m, int n, int k, const float* alpha, const float* a, int lda,
                              const float* b, int ldb, const float* beta, float* c, int ldc) {
  return cublasSgemm_v2_64(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t op_a,
                                 cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                 const double* alpha, const double* a, int64_t lda, const double* b,
                                 int64_t ldb, const double* beta, double* c, int64_t ldc) {
  return in_math_mode<double>(
      handle,
      {"cublasDgemm", op_a, op_b, m, n, k, alpha, {a, lda, 0}, {b, ldb, 0}, beta, {c, ldc, 0}, 1});
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                              int m, int n, int k, const double* alpha, const double* a, int lda,
                              const double* b, int ldb, const double* beta, double* c, int ldc) {
  return cublasDgemm_v2_64(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t op_a,
                                            cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                            const float* alpha, const float* a, int64_t lda,
                                            long long stride_a, const float* b, int64_t ldb,
                                            long long stride_b, const float* beta, float* c,
                                            int64_t ldc, long long stride_c, int64_t batch) {
  return in_math_mode<float>(handle, {"cublasSgemmStridedBatched",
                                      op_a,
                                      op_b,
                                      m,
                                      n,
                                      k,
                                      alpha,
                                      {a, lda, stride_a},
                                      {b, ldb, stride_b},
                                      beta,
                                      {c, ldc, stride_c},
                                      batch});
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int batch) {
  return cublasSgemmStridedBatched_64(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                      stride_b, beta, c, ldc, stride_c, batch);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a,
                               cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType type_a, int64_t lda,
                               const void* b, cudaDataType type_b, int64_t ldb, const void* beta,
                               void* c, cudaDataType type_c, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t) {
  return run_typed("cublasGemmEx", handle, op_a, op_b, m, n, k, alpha, {a, type_a, lda, 0},
                   {b, type_b, ldb, 0}, beta, {c, type_c, ldc, 0}, 1, compute);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx_64(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta,
                         c, type_c, ldc, compute, algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType type_a, int64_t lda,
    long long stride_a, const void* b, cudaDataType type_b, int64_t ldb, long long stride_b,
    const void* beta, void* c, cudaDataType type_c, int64_t ldc, long long stride_c, int64_t batch,
    cublasComputeType_t compute, cublasGemmAlgo_t) {
  return run_typed("cublasGemmStridedBatchedEx", handle, op_a, op_b, m, n, k, alpha,
                   {a, type_a, lda, stride_a}, {b, type_b, ldb, stride_b}, beta,
                   {c, type_c, ldc, stride_c}, batch, compute);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a,
                                       b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c,
                                       batch, compute, algorithm);
}
