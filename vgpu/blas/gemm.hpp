// SPDX-License-Identifier: Apache-2.0
// C = alpha op(A) op(B) + beta C, column-major, on the virtual device's memory: what all GEMM entry
// points come to.
#pragma once
#include <cstdint>

#include "blas/api.hpp"

namespace vgpu::blas {

template <class T>
struct Operand {
  T* data = nullptr;
  std::int64_t ld = 0, stride = 0;  // stride: from one batch entry to the next
};

template <class T>
struct Gemm {
  const char* function = "";  // the entry point, for messages
  cublasOperation_t op_a{}, op_b{};
  std::int64_t m = 0, n = 0, k = 0;
  const T* alpha = nullptr;  // on the host or the device, as the handle has it
  Operand<const T> a, b;
  const T* beta = nullptr;
  Operand<T> c;
  std::int64_t batch = 1;
};

// Checks as cuBLAS does, and computes. T is float or double.
template <class T>
cublasStatus_t run(cublasHandle_t handle, const Gemm<T>& gemm);

extern template cublasStatus_t run<float>(cublasHandle_t, const Gemm<float>&);
extern template cublasStatus_t run<double>(cublasHandle_t, const Gemm<double>&);

// The plain loop, which stands in for OpenBLAS where there is none. Sizes are those of one batch
// entry.
template <class T>
void multiply_by_loop(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                      std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                      std::int64_t ldb, T beta, T* c, std::int64_t ldc);

}  // namespace vgpu::blas
