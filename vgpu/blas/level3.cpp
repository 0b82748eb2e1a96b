// SPDX-License-Identifier: Apache-2.0
// Level 3 without GEMM and what a triangle stores: sums of matrices, products with a diagonal,
// triangular systems.
#include <tuple>

#include "blas/triangular.hpp"

namespace vgpu::blas {
namespace {

// C = alpha op(A) + beta op(B). An operand whose factor is 0 is not read.
template <class W>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t op_a,
                    cublasOperation_t op_b, const Scalar& alpha, const Matrix<W>& a,
                    const Scalar& beta, const Matrix<W>& b, const Matrix<W>& c) {
  const bool valid = is_op(op_a) && is_op(op_b) && a.valid() && b.valid() && c.valid() &&
                     alpha.valid() && beta.valid();
  const auto read = [](const Matrix<W>& matrix, const Scalar& factor) {
    const bool zero = factor.valid() && !factor.on_device() && factor.value<W>() == W{0};
    return zero ? Matrix<W>{nullptr, 0, 0, 1} : matrix;
  };
  const Matrix<W> read_a = read(a, alpha), read_b = read(b, beta);
  return enqueue(name, handle, valid, std::tie(read_a, read_b, c), [=] {
    const W of_a = alpha.value<W>(), of_b = beta.value<W>();
    set_all(c, [&](std::int64_t i, std::int64_t j) {
      const W first = of_a == W{0} ? W{0} : of_a * element(a, op_a, i, j);
      return of_b == W{0} ? first : first + of_b * element(b, op_b, i, j);
    });
  });
}

template <class W>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    const Matrix<W>& a, const Vector<W>& x, const Matrix<W>& c) {
  return enqueue(name, handle, a.valid() && c.valid(), std::tie(a, x, c), [=] {
    set_all(c, [&](std::int64_t i, std::int64_t j) {
      return a.at(i, j) * x[side == CUBLAS_SIDE_LEFT ? i : j];
    });
  });
}

template <class W>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
                    const Scalar& alpha, const Matrix<W>& a, const Matrix<W>& b) {
  const bool valid = is_op(op) && a.valid() && b.valid() && alpha.valid() &&
                     (fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER) &&
                     (side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return enqueue(name, handle, valid, std::tie(a, b),
                 [=] { solve_system(side, fill, op, diagonal, alpha.value<W>(), a, b); });
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_MATRICES(INT, SUFFIX, L, C)                                                          \
  cublasStatus_t cublas##L##geam##SUFFIX(                                                         \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, INT m, INT n,        \
      const C* alpha, const C* a, INT lda, const C* beta, const C* b, INT ldb, C* c, INT ldc) {   \
    return geam("cublas" #L "geam", handle, op_a, op_b, number(handle, alpha),                    \
                operand(a, op_a, m, n, lda), number(handle, beta), operand(b, op_b, m, n, ldb),   \
                whole(c, m, n, ldc));                                                             \
  }                                                                                               \
  cublasStatus_t cublas##L##dgmm##SUFFIX(cublasHandle_t handle, cublasSideMode_t side, INT m,     \
                                         INT n, const C* a, INT lda, const C* x, INT incx, C* c,  \
                                         INT ldc) {                                               \
    return dgmm("cublas" #L "dgmm", handle, side, whole(a, m, n, lda),                            \
                elements(x, side == CUBLAS_SIDE_LEFT ? m : n, incx), whole(c, m, n, ldc));        \
  }                                                                                               \
  cublasStatus_t cublas##L##trsm_v2##SUFFIX(cublasHandle_t handle, cublasSideMode_t side,         \
                                            cublasFillMode_t fill, cublasOperation_t op,          \
                                            cublasDiagType_t diagonal, INT m, INT n,              \
                                            const C* alpha, const C* a, INT lda, C* b, INT ldb) { \
    const INT order = side == CUBLAS_SIDE_LEFT ? m : n;                                           \
    return trsm("cublas" #L "trsm", handle, side, fill, op, diagonal, number(handle, alpha),      \
                whole(a, order, order, lda), whole(b, m, n, ldb));                                \
  }

VGPU_EACH(VGPU_MATRICES)
