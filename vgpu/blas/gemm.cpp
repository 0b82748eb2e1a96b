// SPDX-License-Identifier: Apache-2.0
#include "blas/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "include/vgpu/vgpu.h"
#ifdef VGPU_OPENBLAS
#include <cblas.h>
#endif

namespace vgpu::blas {
namespace {

bool valid(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

// Whether `batch` stored matrices of `rows` x `columns` are entirely in device memory, from the
// first element to the last.
template <class T>
bool on_device(const Operand<T>& matrix, std::int64_t rows, std::int64_t columns,
               std::int64_t batch) {
  if (rows == 0 || columns == 0) return true;
  const std::int64_t one = (columns - 1) * matrix.ld + rows;
  const std::int64_t first = std::min<std::int64_t>(0, (batch - 1) * matrix.stride);
  const std::int64_t last = std::max<std::int64_t>(0, (batch - 1) * matrix.stride) + one;
  return vgpuDeviceContains(matrix.data + first,
                            static_cast<std::size_t>(last - first) * sizeof(T)) != 0;
}

template <class T>
cublasStatus_t refuse_operand(const Gemm<T>& gemm, char name, const void* data, std::int64_t rows,
                              std::int64_t columns, std::int64_t ld) {
  say(fmt::format("{}: {} at {}, {}x{} with leading dimension {}, is not wholly in device memory",
                  gemm.function, name, fmt::ptr(data), rows, columns, ld)
          .c_str());
  return CUBLAS_STATUS_EXECUTION_FAILED;
}

// Reads alpha or beta from host or device memory.
template <class T>
bool read_scalar(cublasHandle_t handle, const T* pointer, T& value) {
  if (pointer == nullptr) return false;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE &&
      vgpuDeviceContains(pointer, sizeof(T)) == 0)
    return false;
  value = *pointer;
  return true;
}

template <class T>
void scale(T beta, std::int64_t m, std::int64_t n, T* c, std::int64_t ldc) {
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      T& element = c[j * ldc + i];
      element = beta == T{0} ? T{0} : beta * element;  // beta = 0 does not read C
    }
  }
}

template <class T>
void multiply(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
              T alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c,
              std::int64_t ldc) {
  if (k == 0 || alpha == T{0}) return scale(beta, m, n, c, ldc);
#ifdef VGPU_OPENBLAS
  constexpr std::int64_t kLargest = std::numeric_limits<blasint>::max();
  if (std::max({m, n, k, lda, ldb, ldc}) <= kLargest) {
    if (beta == T{0}) scale(beta, m, n, c, ldc);
    const auto op = [](bool transpose) { return transpose ? CblasTrans : CblasNoTrans; };
    const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
    if constexpr (std::is_same_v<T, float>) {
      cblas_sgemm(CblasColMajor, op(transpose_a), op(transpose_b), size(m), size(n), size(k), alpha,
                  a, size(lda), b, size(ldb), beta, c, size(ldc));
    } else {
      cblas_dgemm(CblasColMajor, op(transpose_a), op(transpose_b), size(m), size(n), size(k), alpha,
                  a, size(lda), b, size(ldb), beta, c, size(ldc));
    }
    return;
  }
#endif
  multiply_by_loop(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class T>
void compute(const Gemm<T>& gemm, T alpha, T beta) {
  const bool transpose_a = gemm.op_a != CUBLAS_OP_N, transpose_b = gemm.op_b != CUBLAS_OP_N;
  for (std::int64_t i = 0; i < gemm.batch; ++i) {
    multiply(transpose_a, transpose_b, gemm.m, gemm.n, gemm.k, alpha,
             gemm.a.data + i * gemm.a.stride, gemm.a.ld, gemm.b.data + i * gemm.b.stride, gemm.b.ld,
             beta, gemm.c.data + i * gemm.c.stride, gemm.c.ld);
    for (std::int64_t j = 0; j < gemm.n; ++j) {
      vgpuMarkWritten(gemm.c.data + i * gemm.c.stride + j * gemm.c.ld,
                      static_cast<std::size_t>(gemm.m) * sizeof(T));
    }
  }
}

// Executes the work as a host function of the stream. If the stream is being captured, the work is
// never freed, because the graph may be launched as long as the program runs.
cublasStatus_t submit(cudaStream_t stream, bool captured, std::function<void()> work) {
  using Work = std::function<void()>;
  const auto run = [](void* function) { (*static_cast<Work*>(function))(); };
  const auto run_once = [](void* function) {
    const std::unique_ptr<Work> owned(static_cast<Work*>(function));
    (*owned)();
  };
  auto owned = std::make_unique<Work>(std::move(work));
  const auto error = captured ? cudaLaunchHostFunc(stream, run, owned.get())
                              : cudaLaunchHostFunc(stream, run_once, owned.get());
  if (error != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  static_cast<void>(owned.release());
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

template <class T>
void multiply_by_loop(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                      std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                      std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  scale(beta, m, n, c, ldc);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t l = 0; l < k; ++l) {
      const T factor = alpha * (transpose_b ? b[l * ldb + j] : b[j * ldb + l]);
      for (std::int64_t i = 0; i < m; ++i)
        c[j * ldc + i] += (transpose_a ? a[i * lda + l] : a[l * lda + i]) * factor;
    }
  }
}

template <class T>
cublasStatus_t run(cublasHandle_t handle, const Gemm<T>& gemm) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool transpose_a = gemm.op_a != CUBLAS_OP_N, transpose_b = gemm.op_b != CUBLAS_OP_N;
  const std::int64_t rows_a = transpose_a ? gemm.k : gemm.m,
                     columns_a = transpose_a ? gemm.m : gemm.k;
  const std::int64_t rows_b = transpose_b ? gemm.n : gemm.k,
                     columns_b = transpose_b ? gemm.k : gemm.n;
  constexpr std::int64_t kOne = 1;
  if (!valid(gemm.op_a) || !valid(gemm.op_b) || gemm.m < 0 || gemm.n < 0 || gemm.k < 0 ||
      gemm.batch < 0 || gemm.a.ld < std::max(kOne, rows_a) || gemm.b.ld < std::max(kOne, rows_b) ||
      gemm.c.ld < std::max(kOne, gemm.m)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // If earlier work failed, this call fails with the sticky error. Kernels may write the factors.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(handle->stream, &status) != cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  const bool captured = status != cudaStreamCaptureStatusNone;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE && !captured &&
      cudaDeviceSynchronize() != cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return CUBLAS_STATUS_SUCCESS;
  T alpha{}, beta{};
  if (!read_scalar(handle, gemm.alpha, alpha) || !read_scalar(handle, gemm.beta, beta)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool reads_operands = gemm.k != 0 && alpha != T{0};
  if (reads_operands && !on_device(gemm.a, rows_a, columns_a, gemm.batch)) {
    return refuse_operand(gemm, 'A', gemm.a.data, rows_a, columns_a, gemm.a.ld);
  }
  if (reads_operands && !on_device(gemm.b, rows_b, columns_b, gemm.batch)) {
    return refuse_operand(gemm, 'B', gemm.b.data, rows_b, columns_b, gemm.b.ld);
  }
  if (!on_device(gemm.c, gemm.m, gemm.n, gemm.batch)) {
    return refuse_operand(gemm, 'C', gemm.c.data, gemm.m, gemm.n, gemm.c.ld);
  }
  return submit(handle->stream, captured, [=] { compute(gemm, alpha, beta); });
}

template cublasStatus_t run<float>(cublasHandle_t, const Gemm<float>&);
template cublasStatus_t run<double>(cublasHandle_t, const Gemm<double>&);
template void multiply_by_loop<float>(bool, bool, std::int64_t, std::int64_t, std::int64_t, float,
                                      const float*, std::int64_t, const float*, std::int64_t, float,
                                      float*, std::int64_t);
template void multiply_by_loop<double>(bool, bool, std::int64_t, std::int64_t, std::int64_t, double,
                                       const double*, std::int64_t, const double*, std::int64_t,
                                       double, double*, std::int64_t);

}  // namespace vgpu::blas
