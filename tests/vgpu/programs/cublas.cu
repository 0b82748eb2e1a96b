// SPDX-License-Identifier: Apache-2.0
// The cuBLAS stand-in: scalars, math modes, and calls that it refuses. Products of all types,
// operations and batches: blas_products.cu.
#include <limits>
#include <vector>

#include "blas.hpp"

static cublasHandle_t handle;

static cublasStatus_t gemm(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb,
                           const float* beta, float* c, int ldc) {
  return cublasSgemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static void check_scalars() {
  const float nan = std::numeric_limits<float>::quiet_NaN(), zero = 0, one = 1;
  float* a = upload(std::vector<float>(16, nan));
  float* c = upload(std::vector<float>(16, nan));
  ok(gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &zero, a, 4, a, 4, &zero, c, 4));
  for (const float value : download(c, 16)) require(value == 0, "alpha = beta = 0 reads nothing");

  // Scalars on the device.
  require(cudaMemset(c, 0, 16 * sizeof(float)));
  float* b = upload(std::vector<float>(16, 1.0f));
  float* scalars = upload(std::vector<float>{2, 0});
  ok(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  ok(gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, scalars, b, 4, b, 4, scalars + 1, c, 4),
     "gemm with scalars on the device");
  require(!on_virtual_gpu() || gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, b, 4, b, 4, &zero, c,
                                    4) == CUBLAS_STATUS_INVALID_VALUE,
          "host scalars in device mode are refused");
  ok(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  for (const float value : download(c, 16)) require(value == 8, "2 * 4");
}

static void check_refusals() {
  const float one = 1;
  float* a = upload(std::vector<float>(16, 1.0f));
  float host[16] = {};
  const auto n = CUBLAS_OP_N;
  require(gemm(n, n, -1, 4, 4, &one, a, 4, a, 4, &one, a, 4), CUBLAS_STATUS_INVALID_VALUE,
          "a negative size");
  require(gemm(n, n, 4, 4, 4, &one, a, 3, a, 4, &one, a, 4), CUBLAS_STATUS_INVALID_VALUE,
          "lda below m");
  require(gemm(n, n, 4, 4, 4, &one, a, 4, a, 4, &one, a, 3), CUBLAS_STATUS_INVALID_VALUE,
          "ldc below m");
  require(gemm(n, n, 4, 4, 4, nullptr, a, 4, a, 4, &one, a, 4), CUBLAS_STATUS_INVALID_VALUE,
          "no alpha");
  ok(gemm(n, n, 0, 4, 4, &one, nullptr, 4, nullptr, 4, &one, nullptr, 4));
  require(cublasGemmEx(handle, n, n, 4, 4, 4, &one, a, CUDA_R_32F, 4, a, CUDA_R_32F, 4, &one, a,
                       CUDA_R_16F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          CUBLAS_STATUS_NOT_SUPPORTED, "types that cuBLAS does not combine");
  if (!on_virtual_gpu()) return;
  require(gemm(n, n, 4, 4, 4, &one, a, 4, a, 4, &one, host, 4), CUBLAS_STATUS_EXECUTION_FAILED,
          "C on the host");
  require(gemm(n, n, 4, 4, 5, &one, a, 4, a, 5, &one, a, 4), CUBLAS_STATUS_EXECUTION_FAILED,
          "A too small");
  require(cublasUint8gemmBias(handle, n, n, n, 0, 0, 0, nullptr, 0, 0, nullptr, 0, 0, nullptr, 0, 0,
                              0, 0),
          CUBLAS_STATUS_NOT_SUPPORTED, "a function that is a stub");
}

// Rounds to 10 fraction bits before it multiplies, where it is told to.
static void check_math_mode() {
  const float one = 1, zero = 0, fine = 1 + 0x1p-12f;
  float* a = upload(std::vector<float>{fine});
  float* c = upload(std::vector<float>{0});
  const auto n = CUBLAS_OP_N;
  for (const auto mode : {CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH}) {
    ok(cublasSetMathMode(handle, mode));
    ok(gemm(n, n, 1, 1, 1, &one, a, 1, a, 1, &zero, c, 1));
    const float host = download(c, 1)[0];
    // cuBLAS need not use tensor cores where it may.
    const bool coarse = mode == CUBLAS_TF32_TENSOR_OP_MATH;
    require(
        host == (coarse ? 1 : fine * fine) || (coarse && !on_virtual_gpu() && host == fine * fine),
        "the mode's product");
  }
  ok(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
}

int main() {
  ok(cublasCreate(&handle));
  int version = 0;
  require(cublasGetVersion(handle, &version) == CUBLAS_STATUS_SUCCESS && version >= 130000,
          "cublasGetVersion");
  check_scalars();
  check_math_mode();
  check_refusals();
  ok(cublasDestroy(handle));
}
