// SPDX-License-Identifier: Apache-2.0
// C = alpha op(A) op(B) + beta C, column-major, in the virtual device's memory. All GEMM entry
// points use this implementation.
#pragma once
#include <cstdint>

#include "blas/api.hpp"

namespace vgpu::blas {

template <class T>
struct Operand {
  T* data = nullptr;
  std::int64_t ld = 0, stride = 0;  // stride: elements between batch entries
};

template <class T>
struct Gemm {
  const char* function = "";  // the entry point, for messages
  cublasOperation_t op_a{}, op_b{};
  std::int64_t m = 0, n = 0, k = 0;
  const T* alpha = nullptr;  // in host or device memory, depending on the handle's pointer mode
  Operand<const T> a, b;
  const T* beta = nullptr;
  Operand<T> c;
  std::int64_t batch = 1;
};

// Checks the arguments as cuBLAS does and computes the product. T is float or double.
template <class T>
cublasStatus_t run(cublasHandle_t handle, const Gemm<T>& gemm);

extern template cublasStatus_t run<float>(cublasHandle_t, const Gemm<float>&);
extern template cublasStatus_t run<double>(cublasHandle_t, const Gemm<double>&);

// A plain loop, used if OpenBLAS is not available. The sizes are those of one batch entry.
template <class T>
void multiply_by_loop(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                      std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                      std::int64_t ldb, T beta, T* c, std::int64_t ldc);

}  // namespace vgpu::blas
