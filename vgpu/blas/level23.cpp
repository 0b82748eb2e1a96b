// SPDX-License-Identifier: Apache-2.0
// Level 2 and 3 without GEMM: matrix times vector, outer products, sums of matrices, products with
// a diagonal or with the own transpose, triangular systems.
#include <complex>
#include <tuple>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

bool is_op(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

template <class W>
W element(const Matrix<W>& a, cublasOperation_t op, std::int64_t i, std::int64_t j) {
  if (op == CUBLAS_OP_N) return a.at(i, j);
  return op == CUBLAS_OP_C ? conjugate(a.at(j, i)) : a.at(j, i);
}

template <class W>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op,
                    const Scalar& alpha, const Matrix<W>& a, const Vector<W>& x, const Scalar& beta,
                    const Vector<W>& y) {
  const bool valid =
      is_op(op) && a.valid() && x.step != 0 && y.step != 0 && alpha.valid() && beta.valid();
  return enqueue(name, handle, valid, std::tie(a, x, y), [=] {
    const W factor = alpha.value<W>(), kept = beta.value<W>();
    for (std::int64_t i = 0; i < y.n; ++i) {
      W sum{};
      if (factor != W{0}) {
        for (std::int64_t j = 0; j < x.n; ++j) sum += element(a, op, i, j) * x[j];
      }
      y.set(i, factor * sum + (kept == W{0} ? W{0} : kept * y[i]));
    }
    y.mark();
  });
}

template <class W>
cublasStatus_t ger(const char* name, cublasHandle_t handle, const Scalar& alpha, const Vector<W>& x,
                   const Vector<W>& y, const Matrix<W>& a) {
  return enqueue(name, handle, a.valid() && x.step != 0 && y.step != 0 && alpha.valid(),
                 std::tie(x, y, a), [=] {
                   const W factor = alpha.value<W>();
                   if (factor == W{0}) return;
                   for (std::int64_t j = 0; j < a.columns; ++j) {
                     for (std::int64_t i = 0; i < a.rows; ++i) a.at(i, j) += factor * x[i] * y[j];
                   }
                   a.mark();
                 });
}

template <class W>
Matrix<W> stored(const void* data, cublasOperation_t op, std::int64_t rows, std::int64_t columns,
                 std::int64_t ld) {
  auto* const elements = static_cast<W*>(const_cast<void*>(data));
  return op == CUBLAS_OP_N ? Matrix<W>{elements, rows, columns, ld}
                           : Matrix<W>{elements, columns, rows, ld};
}

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
    for (std::int64_t j = 0; j < c.columns; ++j) {
      for (std::int64_t i = 0; i < c.rows; ++i) {
        const W first = of_a == W{0} ? W{0} : of_a * element(a, op_a, i, j);
        c.at(i, j) = of_b == W{0} ? first : first + of_b * element(b, op_b, i, j);
      }
    }
    c.mark();
  });
}

template <class W>
cublasStatus_t dgmm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    const Matrix<W>& a, const Vector<W>& x, const Matrix<W>& c) {
  return enqueue(name, handle, a.valid() && c.valid(), std::tie(a, x, c), [=] {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      for (std::int64_t i = 0; i < c.rows; ++i)
        c.at(i, j) = a.at(i, j) * x[side == CUBLAS_SIDE_LEFT ? i : j];
    }
    c.mark();
  });
}

// C = alpha op(A) op(A)^T + beta C, one triangle of it.
template <class W>
cublasStatus_t syrk(const char* name, cublasHandle_t handle, cublasFillMode_t fill,
                    cublasOperation_t op, std::int64_t k, const Scalar& alpha, const Matrix<W>& a,
                    const Scalar& beta, const Matrix<W>& c) {
  const bool valid = is_op(op) && a.valid() && c.valid() && alpha.valid() && beta.valid() &&
                     (fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER);
  return enqueue(name, handle, valid, std::tie(a, c), [=] {
    const W factor = alpha.value<W>(), kept = beta.value<W>();
    const cublasOperation_t transpose = op == CUBLAS_OP_N ? CUBLAS_OP_N : CUBLAS_OP_T;
    for (std::int64_t j = 0; j < c.columns; ++j) {
      const bool lower = fill == CUBLAS_FILL_MODE_LOWER;
      for (std::int64_t i = lower ? j : 0; i < (lower ? c.rows : j + 1); ++i) {
        W sum{};
        for (std::int64_t l = 0; l < k && factor != W{0}; ++l)
          sum += element(a, transpose, i, l) * element(a, transpose, j, l);
        c.at(i, j) = factor * sum + (kept == W{0} ? W{0} : kept * c.at(i, j));
      }
    }
    c.mark();
  });
}

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

// op(A) X = alpha B, or X op(A) = alpha B; X takes B's place.
template <class W>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
                    const Scalar& alpha, const Matrix<W>& a, const Matrix<W>& b) {
  const bool valid = is_op(op) && a.valid() && b.valid() && alpha.valid() &&
                     (fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER) &&
                     (side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return enqueue(name, handle, valid, std::tie(a, b), [=] {
    const W factor = alpha.value<W>();
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
  });
}

template <class W>
Vector<W> vector(const void* data, std::int64_t n, std::int64_t step) {
  return {const_cast<void*>(data), kTypeOf<W>, n, step};
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_SCALAR(pointer, W) scalar(handle, pointer, kTypeOf<W>)
#define VGPU_MATRIX(data, rows, columns, ld, W) stored<W>(data, CUBLAS_OP_N, rows, columns, ld)

#define VGPU_MATRICES(INT, SUFFIX, L, GER, C, W)                                                   \
  cublasStatus_t cublas##L##gemv_v2##SUFFIX(cublasHandle_t handle, cublasOperation_t op, INT m,    \
                                            INT n, const C* alpha, const C* a, INT lda,            \
                                            const C* x, INT incx, const C* beta, C* y, INT incy) { \
    const bool plain = op == CUBLAS_OP_N;                                                          \
    return gemv("cublas" #L "gemv", handle, op, VGPU_SCALAR(alpha, W),                             \
                VGPU_MATRIX(a, m, n, lda, W), vector<W>(x, plain ? n : m, incx),                   \
                VGPU_SCALAR(beta, W), vector<W>(y, plain ? m : n, incy));                          \
  }                                                                                                \
  cublasStatus_t cublas##GER##_v2##SUFFIX(cublasHandle_t handle, INT m, INT n, const C* alpha,     \
                                          const C* x, INT incx, const C* y, INT incy, C* a,        \
                                          INT lda) {                                               \
    return ger("cublas" #GER, handle, VGPU_SCALAR(alpha, W), vector<W>(x, m, incx),                \
               vector<W>(y, n, incy), VGPU_MATRIX(a, m, n, lda, W));                               \
  }                                                                                                \
  cublasStatus_t cublas##L##geam##SUFFIX(                                                          \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, INT m, INT n,         \
      const C* alpha, const C* a, INT lda, const C* beta, const C* b, INT ldb, C* c, INT ldc) {    \
    return geam("cublas" #L "geam", handle, op_a, op_b, VGPU_SCALAR(alpha, W),                     \
                stored<W>(a, op_a, m, n, lda), VGPU_SCALAR(beta, W),                               \
                stored<W>(b, op_b, m, n, ldb), VGPU_MATRIX(c, m, n, ldc, W));                      \
  }                                                                                                \
  cublasStatus_t cublas##L##dgmm##SUFFIX(cublasHandle_t handle, cublasSideMode_t side, INT m,      \
                                         INT n, const C* a, INT lda, const C* x, INT incx, C* c,   \
                                         INT ldc) {                                                \
    return dgmm("cublas" #L "dgmm", handle, side, VGPU_MATRIX(a, m, n, lda, W),                    \
                vector<W>(x, side == CUBLAS_SIDE_LEFT ? m : n, incx),                              \
                VGPU_MATRIX(c, m, n, ldc, W));                                                     \
  }                                                                                                \
  cublasStatus_t cublas##L##syrk_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,          \
                                            cublasOperation_t op, INT n, INT k, const C* alpha,    \
                                            const C* a, INT lda, const C* beta, C* c, INT ldc) {   \
    return syrk("cublas" #L "syrk", handle, fill, op, k, VGPU_SCALAR(alpha, W),                    \
                stored<W>(a, op, n, k, lda), VGPU_SCALAR(beta, W), VGPU_MATRIX(c, n, n, ldc, W));  \
  }                                                                                                \
  cublasStatus_t cublas##L##trsm_v2##SUFFIX(cublasHandle_t handle, cublasSideMode_t side,          \
                                            cublasFillMode_t fill, cublasOperation_t op,           \
                                            cublasDiagType_t diagonal, INT m, INT n,               \
                                            const C* alpha, const C* a, INT lda, C* b, INT ldb) {  \
    const INT order = side == CUBLAS_SIDE_LEFT ? m : n;                                            \
    return trsm("cublas" #L "trsm", handle, side, fill, op, diagonal, VGPU_SCALAR(alpha, W),       \
                VGPU_MATRIX(a, order, order, lda, W), VGPU_MATRIX(b, m, n, ldb, W));               \
  }

#define VGPU_ALL_MATRICES(INT, SUFFIX)                                 \
  VGPU_MATRICES(INT, SUFFIX, S, Sger, float, float)                    \
  VGPU_MATRICES(INT, SUFFIX, D, Dger, double, double)                  \
  VGPU_MATRICES(INT, SUFFIX, C, Cgeru, cuComplex, std::complex<float>) \
  VGPU_MATRICES(INT, SUFFIX, Z, Zgeru, cuDoubleComplex, std::complex<double>)

VGPU_ALL_MATRICES(int, )
VGPU_ALL_MATRICES(int64_t, _64)
