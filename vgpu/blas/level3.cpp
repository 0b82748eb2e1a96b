// SPDX-License-Identifier: Apache-2.0
// Level 3 without GEMM and what a triangle stores: sums of matrices, products with a diagonal,
// triangular systems.
#include <tuple>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

// C = alpha op(A) + beta op(B). An operand whose factor is 0 is not read.
template <class C>
cublasStatus_t geam(const char* name, cublasHandle_t handle, cublasOperation_t op_a,
                    cublasOperation_t op_b, std::int64_t m, std::int64_t n, const C* alpha,
                    const C* a, std::int64_t lda, const C* beta, const C* b, std::int64_t ldb, C* c,
                    std::int64_t ldc) {
  using W = Number<C>;
  const Scalar factor_a = number(handle, alpha), factor_b = number(handle, beta);
  const Matrix<W> first = operand(a, op_a, m, n, lda), second = operand(b, op_b, m, n, ldb),
                  sum = whole(c, m, n, ldc);
  const bool valid = is_op(op_a) && is_op(op_b) && first.valid() && second.valid() && sum.valid() &&
                     factor_a.valid() && factor_b.valid();
  const auto read = [](const Matrix<W>& matrix, const Scalar& factor) {
    const bool zero = factor.valid() && !factor.on_device() && factor.value<W>() == W{0};
    return zero ? Matrix<W>{nullptr, 0, 0, 1} : matrix;
  };
  const Matrix<W> read_a = read(first, factor_a), read_b = read(second, factor_b);
  return enqueue(name, handle, valid, std::tie(read_a, read_b, sum), [=] {
    const W of_a = factor_a.value<W>(), of_b = factor_b.value<W>();
    set_all(sum, [&](std::int64_t i, std::int64_t j) {
      const W part = of_a == W{0} ? W{0} : of_a * element(first, op_a, i, j);
      return of_b == W{0} ? part : part + of_b * element(second, op_b, i, j);
    });
  });
}

template <class C>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side, std::int64_t m,
                    std::int64_t n, const C* a, std::int64_t lda, const C* x, std::int64_t incx,
                    C* c, std::int64_t ldc) {
  const auto matrix = whole(a, m, n, lda), product = whole(c, m, n, ldc);
  const auto diagonal = elements(x, side == CUBLAS_SIDE_LEFT ? m : n, incx);
  return enqueue(name, handle, matrix.valid() && product.valid(),
                 std::tie(matrix, diagonal, product), [=] {
                   set_all(product, [&](std::int64_t i, std::int64_t j) {
                     return matrix.at(i, j) * diagonal[side == CUBLAS_SIDE_LEFT ? i : j];
                   });
                 });
}

template <class C>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
                    std::int64_t m, std::int64_t n, const C* alpha, const C* a, std::int64_t lda,
                    C* b, std::int64_t ldb) {
  const std::int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  const Scalar factor = number(handle, alpha);
  const auto triangle = whole(a, order, order, lda), x = whole(b, m, n, ldb);
  const bool valid = is_op(op) && triangle.valid() && x.valid() && factor.valid() &&
                     (fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER) &&
                     (side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return enqueue(name, handle, valid, std::tie(triangle, x), [=] {
    solve_system(side, fill, op, diagonal, factor.value<Number<C>>(), triangle, x);
  });
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

VGPU_ROUTINE(geam, , 13);
VGPU_ROUTINE(dgmm, , 10);
VGPU_ROUTINE(trsm, _v2, 12);
