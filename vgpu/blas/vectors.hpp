// SPDX-License-Identifier: Apache-2.0
// Vectors with steps, and matrices, of the functions of levels 1 to 3 that are no products.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <tuple>

#include "blas/api.hpp"
#include "include/entry_points.hpp"

namespace vgpu::blas {

template <class W>
struct Vector {
  void* data = nullptr;
  cudaDataType type = kTypeOf<W>;
  std::int64_t n = 0, step = 1;

  // As in BLAS: with a negative step the vector begins at its end.
  std::int64_t offset(std::int64_t i) const { return step < 0 ? (i - n + 1) * step : i * step; }
  W operator[](std::int64_t i) const { return load<W>(type, data, offset(i)); }
  void set(std::int64_t i, W value) const { store(type, data, offset(i), value); }
  std::int64_t extent() const { return n <= 0 ? 0 : (n - 1) * std::abs(step) + 1; }
  bool on_device() const { return blas::on_device(data, extent(), type); }
  void mark() const {
    if (std::abs(step) <= 1) return mark_written(data, extent(), type);
    for (std::int64_t i = 0; i < n; ++i)
      mark_written(static_cast<char*>(data) + static_cast<std::size_t>(offset(i)) * bytes_of(type),
                   1, type);
  }
};

template <class W>
struct Matrix {
  W* data = nullptr;
  std::int64_t rows = 0, columns = 0, ld = 1;

  W& at(std::int64_t i, std::int64_t j) const { return data[j * ld + i]; }
  bool valid() const { return rows >= 0 && columns >= 0 && ld >= std::max<std::int64_t>(1, rows); }
  bool on_device() const {
    const std::int64_t elements = rows == 0 || columns == 0 ? 0 : (columns - 1) * ld + rows;
    return blas::on_device(data, elements, kTypeOf<W>);
  }
  void mark() const {
    for (std::int64_t j = 0; j < columns; ++j) mark_written(data + j * ld, rows, kTypeOf<W>);
  }
};

// Replaces every element of C by value(row, column).
template <class W, class Value>
void set_all(const Matrix<W>& c, Value value) {
  for (std::int64_t j = 0; j < c.columns; ++j) {
    for (std::int64_t i = 0; i < c.rows; ++i) c.at(i, j) = value(i, j);
  }
  c.mark();
}

// An argument of cuBLAS's type C, as the type in which this library computes.
template <class C>
Number<C>* numbers(const C* data) {
  return static_cast<Number<C>*>(const_cast<void*>(static_cast<const void*>(data)));
}
template <class C>
Vector<Number<C>> elements(const C* data, std::int64_t n, std::int64_t step) {
  return {numbers(data), kTypeOf<Number<C>>, n, step};
}
// The same with elements of a type that the caller names.
template <class W>
Vector<W> elements(const void* data, std::int64_t n, std::int64_t step, cudaDataType type) {
  return {const_cast<void*>(data), type, n, step};
}
template <class C>
Matrix<Number<C>> whole(const C* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return {numbers(data), rows, columns, ld};
}

// The stored matrix whose op() is rows x columns; and an element of op(A).
template <class C>
Matrix<Number<C>> operand(const C* data, cublasOperation_t op, std::int64_t rows,
                          std::int64_t columns, std::int64_t ld) {
  return op == CUBLAS_OP_N ? whole(data, rows, columns, ld) : whole(data, columns, rows, ld);
}
template <class W>
W element(const Matrix<W>& a, cublasOperation_t op, std::int64_t i, std::int64_t j) {
  if (op == CUBLAS_OP_N) return a.at(i, j);
  return op == CUBLAS_OP_C ? conjugate(a.at(j, i)) : a.at(j, i);
}

// Checks the handle and the operands, and enqueues the work. `valid`: whether the sizes are valid.
template <class Work, class... Operands>
cublasStatus_t enqueue(const char* function, cublasHandle_t handle, bool valid,
                       const std::tuple<const Operands&...>& operands, Work work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!valid) return CUBLAS_STATUS_INVALID_VALUE;
  if (!std::apply([](auto&... each) { return (each.on_device() && ...); }, operands)) {
    say((std::string(function) + ": an operand is not wholly in device memory").c_str());
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return submit(handle->stream, work);
}

inline Scalar scalar(cublasHandle_t handle, const void* pointer, cudaDataType type) {
  const bool on_device = handle != nullptr && handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  return {pointer, type, on_device};
}

template <class C>
Scalar number(cublasHandle_t handle, const C* pointer) {
  return scalar(handle, pointer, kTypeOf<Number<C>>);
}

// The destination of a function's single result: device memory, or host memory, for which the call
// waits.
template <class Result>
class Target {
 public:
  Target(cublasHandle_t handle, Result* pointer)
      : stream_(handle == nullptr ? nullptr : handle->stream),
        pointer_(pointer),
        on_device_(handle != nullptr && handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {}
  bool valid() const {
    return pointer_ != nullptr &&
           (!on_device_ || blas::on_device(pointer_, sizeof(Result), CUDA_R_8I));
  }
  void set(Result value) const {
    *pointer_ = value;
    if (on_device_) mark_written(pointer_, sizeof(Result), CUDA_R_8I);
  }
  cublasStatus_t finish(cublasStatus_t status) const {
    if (status != CUBLAS_STATUS_SUCCESS || on_device_) return status;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream_, &capture);
    if (capture != cudaStreamCaptureStatusNone) return status;
    return cudaStreamSynchronize(stream_) == cudaSuccess ? status : CUBLAS_STATUS_EXECUTION_FAILED;
  }

 private:
  cudaStream_t stream_;
  Result* pointer_;
  bool on_device_;
};

inline bool is_real(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

// Calls `compute(W{})` with W by the execution type, if that and all other types are known.
template <class Compute>
cublasStatus_t typed_real(const char* name, cudaDataType execution,
                          std::initializer_list<cudaDataType> types, Compute compute) {
  if (!std::ranges::all_of(types, is_real) || (execution != CUDA_R_32F && execution != CUDA_R_64F))
    return refuse(name, "this combination of types");
  return execution == CUDA_R_32F ? compute(float{}) : compute(double{});
}
template <class Compute>
cublasStatus_t typed(const char* name, cudaDataType execution,
                     std::initializer_list<cudaDataType> types, Compute compute) {
  if (!is_complex(execution)) return typed_real(name, execution, types, compute);
  const auto is_known = [](cudaDataType type) { return is_real(type) || is_complex(type); };
  if (!std::ranges::all_of(types, is_known)) return refuse(name, "this combination of types");
  return execution == CUDA_C_32F ? compute(std::complex<float>{}) : compute(std::complex<double>{});
}

// Triangular systems.

// Solves T x = b in place for triangular T, of which `at` gives the element (i, j).
template <class W, class At, class Entry>
void solve(std::int64_t n, bool lower, bool unit, At at, Entry x) {
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? step : n - 1 - step;
    W value = x(i);
    for (std::int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) value -= at(i, j) * x(j);
    x(i) = unit ? value : value / at(i, i);
  }
}

// Solves op(A) X = factor B, or X op(A) = factor B, for a triangle of A. X replaces B.
template <class W>
void solve_system(cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                  cublasDiagType_t diagonal, W factor, const Matrix<W>& a, const Matrix<W>& b) {
  const bool left = side == CUBLAS_SIDE_LEFT, unit = diagonal == CUBLAS_DIAG_UNIT;
  // On the right, op(A) transposed is on the left of every row.
  const bool lower = (fill == CUBLAS_FILL_MODE_LOWER) == ((op == CUBLAS_OP_N) == left);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return left ? element(a, op, i, j) : element(a, op, j, i);
  };
  for (std::int64_t line = 0; line < (left ? b.columns : b.rows); ++line) {
    const auto x = [&](std::int64_t i) -> W& { return left ? b.at(i, line) : b.at(line, i); };
    for (std::int64_t i = 0; i < a.rows; ++i)
      x(i) = factor == W{0} ? W{0} : factor * x(i);  // alpha = 0 does not read B
    if (factor != W{0}) solve<W>(a.rows, lower, unit, at, x);
  }
  b.mark();
}

}  // namespace vgpu::blas

// DEFINE(INT, SUFFIX, L, C) per type of elements and per type of sizes of cuBLAS's functions.
#define VGPU_EACH_TYPE(DEFINE, INT, SUFFIX) \
  DEFINE(INT, SUFFIX, S, float)             \
  DEFINE(INT, SUFFIX, D, double)            \
  DEFINE(INT, SUFFIX, C, cuComplex)         \
  DEFINE(INT, SUFFIX, Z, cuDoubleComplex)
#define VGPU_EACH(DEFINE)       \
  VGPU_EACH_TYPE(DEFINE, int, ) \
  VGPU_EACH_TYPE(DEFINE, int64_t, _64)

// VGPU_BY for the function with sizes of 32 bits and for the one with sizes of 64.
#define VGPU_BOTH(name, count, expression) \
  VGPU_BY(name, count, expression);        \
  VGPU_BY(name##_64, count, expression)

// cuBLAS's routine of each type of elements and of sizes, by the function template of its name, to
// which the routine's name and its arguments go: VGPU_ROUTINE(gemv, _v2, 12).
#define VGPU_ROUTINE(NAME, VERSION, COUNT)  \
  VGPU_FORM(S##NAME, VERSION, COUNT, NAME); \
  VGPU_FORM(D##NAME, VERSION, COUNT, NAME); \
  VGPU_FORM(C##NAME, VERSION, COUNT, NAME); \
  VGPU_FORM(Z##NAME, VERSION, COUNT, NAME)
#define VGPU_FORM(NAME, VERSION, COUNT, FUNCTION) \
  VGPU_BOTH(cublas##NAME##VERSION, COUNT, FUNCTION("cublas" #NAME, VGPU_ARGUMENTS_##COUNT))
