// SPDX-License-Identifier: Apache-2.0
// Level 2, and level 3 of symmetric, Hermitian and triangular matrices, by their definitions.
#include "blas/structured.hpp"

#include <complex>
#include <tuple>
#include <vector>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

// y = alpha A x + beta y; at(i, j) is A's element.
template <class W, class At, class A>
cublasStatus_t times_vector(const char* name, cublasHandle_t handle, bool valid,
                            const Scalar& alpha, const A& a, At at, const Vector<W>& x,
                            const Scalar& beta, const Vector<W>& y) {
  return enqueue(name, handle, valid && x.step != 0 && y.step != 0 && alpha.valid() && beta.valid(),
                 std::tie(a, x, y), [=] {
                   const W factor = alpha.value<W>(), kept = beta.value<W>();
                   for (std::int64_t i = 0; i < y.n; ++i) {
                     Wide<W> sum{};
                     for (std::int64_t j = 0; j < x.n && factor != W{0}; ++j)
                       sum += Wide<W>(at(i, j)) * Wide<W>(x[j]);
                     y.set(i, factor * static_cast<W>(sum) + (kept == W{0} ? W{0} : kept * y[i]));
                   }
                   y.mark();
                 });
}

template <class C>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op, std::int64_t m,
                    std::int64_t n, const C* alpha, const C* a, std::int64_t lda, const C* x,
                    std::int64_t incx, const C* beta, C* y, std::int64_t incy) {
  const auto matrix = whole(a, m, n, lda);
  const bool plain = op == CUBLAS_OP_N;
  const auto at = [=](std::int64_t i, std::int64_t j) { return element(matrix, op, i, j); };
  return times_vector(name, handle, is_op(op) && matrix.valid(), number(handle, alpha), matrix, at,
                      elements(x, plain ? n : m, incx), number(handle, beta),
                      elements(y, plain ? m : n, incy));
}

template <class W>
cublasStatus_t mirrored_times_vector(const char* name, cublasHandle_t handle, bool hermitian,
                                     const Scalar& alpha, const Triangle<W>& a, const Vector<W>& x,
                                     const Scalar& beta, const Vector<W>& y) {
  const auto at = [=](std::int64_t i, std::int64_t j) { return a.mirrored(i, j, hermitian); };
  return times_vector(name, handle, a.valid(), alpha, a, at, x, beta, y);
}

// A general banded matrix: `below` and `above` diagonals beside the main one.
template <class W>
struct Band {
  W* data = nullptr;
  std::int64_t rows = 0, columns = 0, below = 0, above = 0, ld = 1;

  W at(std::int64_t i, std::int64_t j) const {
    return i - j > below || j - i > above ? W{0} : data[j * ld + above + i - j];
  }
  bool valid() const {
    return rows >= 0 && columns >= 0 && below >= 0 && above >= 0 && ld > below + above;
  }
  bool on_device() const {
    const bool none = rows == 0 || columns == 0;
    return blas::on_device(data, none ? 0 : (columns - 1) * ld + below + above + 1, kTypeOf<W>);
  }
};
template <class W>
Band(W*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t) -> Band<W>;

template <class C>
cublasStatus_t gbmv(const char* name, cublasHandle_t handle, cublasOperation_t op, std::int64_t m,
                    std::int64_t n, std::int64_t below, std::int64_t above, const C* alpha,
                    const C* a, std::int64_t lda, const C* x, std::int64_t incx, const C* beta,
                    C* y, std::int64_t incy) {
  const Band band{numbers(a), m, n, below, above, lda};
  const bool plain = op == CUBLAS_OP_N;
  const auto at = [=](std::int64_t i, std::int64_t j) {
    if (plain) return band.at(i, j);
    return op == CUBLAS_OP_C ? conjugate(band.at(j, i)) : band.at(j, i);
  };
  return times_vector(name, handle, is_op(op) && band.valid(), number(handle, alpha), band, at,
                      elements(x, plain ? n : m, incx), number(handle, beta),
                      elements(y, plain ? m : n, incy));
}

// Replaces x by op(T) x or, if `solves`, by the y of op(T) y = x.
template <class W>
cublasStatus_t triangle_and_vector(const char* name, cublasHandle_t handle, cublasOperation_t op,
                                   cublasDiagType_t diagonal, bool solves, const Triangle<W>& t,
                                   const Vector<W>& x) {
  return enqueue(name, handle, is_op(op) && t.valid() && x.step != 0, std::tie(t, x), [=] {
    const bool unit = diagonal == CUBLAS_DIAG_UNIT, lower = t.lower() == (op == CUBLAS_OP_N);
    const auto at = [&](std::int64_t i, std::int64_t j) { return t.of(op, unit, i, j); };
    std::vector<W> values;
    for (std::int64_t i = 0; i < t.n; ++i) values.push_back(x[i]);
    if (solves) solve<W>(t.n, lower, unit, at, [&](std::int64_t i) -> W& { return values[i]; });
    for (std::int64_t i = 0; i < t.n; ++i) {
      W sum = solves ? values[i] : at(i, i) * values[i];
      for (std::int64_t j = lower ? 0 : i + 1; j < (lower ? i : t.n) && !solves; ++j)
        sum += at(i, j) * values[j];
      x.set(i, sum);
    }
    x.mark();
  });
}

// Replaces element (i, j) of the stored triangle by value(i, j). A Hermitian matrix keeps a real
// diagonal.
template <class W, class Value>
void set_triangle(const Triangle<W>& a, bool hermitian, Value value) {
  for (std::int64_t j = 0; j < a.n; ++j) {
    for (std::int64_t i = a.lower() ? j : 0; i < (a.lower() ? a.n : j + 1); ++i) {
      const W now = value(i, j);
      a.at(i, j) = hermitian && i == j ? W(std::real(now)) : now;
    }
  }
  a.mark();
}

// A += alpha x y^T, and the mirrored product where there are two vectors. ^H where `hermitian`.
template <class W>
cublasStatus_t update(const char* name, cublasHandle_t handle, bool hermitian, bool two,
                      const Scalar& alpha, const Vector<W>& x, const Vector<W>& y,
                      const Triangle<W>& a) {
  return enqueue(name, handle, a.valid() && x.step != 0 && y.step != 0 && alpha.valid(),
                 std::tie(x, y, a), [=] {
                   const W factor = alpha.value<W>();
                   if (factor == W{0}) return;
                   const auto turned = [&](W value) {
                     return hermitian ? conjugate(value) : value;
                   };
                   set_triangle(a, hermitian, [&](std::int64_t i, std::int64_t j) {
                     const W first = a.at(i, j) + factor * x[i] * turned(y[j]);
                     return two ? first + turned(factor) * y[i] * turned(x[j]) : first;
                   });
                 });
}

// A += alpha x y^T, or y^H.
template <bool kConjugated, class C>
cublasStatus_t ger(const char* name, cublasHandle_t handle, std::int64_t m, std::int64_t n,
                   const C* alpha, const C* x, std::int64_t incx, const C* y, std::int64_t incy,
                   C* a, std::int64_t lda) {
  using W = Number<C>;
  const Scalar scale = number(handle, alpha);
  const auto left = elements(x, m, incx), right = elements(y, n, incy);
  const auto sum = whole(a, m, n, lda);
  return enqueue(name, handle, sum.valid() && incx != 0 && incy != 0 && scale.valid(),
                 std::tie(left, right, sum), [=] {
                   const W factor = scale.value<W>();
                   if (factor == W{0}) return;
                   set_all(sum, [&](std::int64_t i, std::int64_t j) {
                     const W other = kConjugated ? conjugate(right[j]) : right[j];
                     return sum.at(i, j) + factor * left[i] * other;
                   });
                 });
}

// C = alpha A B + beta C, or B A, with a symmetric or Hermitian A.
template <class W>
cublasStatus_t mirrored_product(const char* name, cublasHandle_t handle, bool hermitian,
                                cublasSideMode_t side, const Scalar& alpha, const Triangle<W>& a,
                                const Matrix<W>& b, const Scalar& beta, const Matrix<W>& c) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  return enqueue(name, handle, a.valid() && b.valid() && c.valid() && alpha.valid() && beta.valid(),
                 std::tie(a, b, c), [=] {
                   const W factor = alpha.value<W>(), kept = beta.value<W>();
                   set_all(c, [&](std::int64_t i, std::int64_t j) {
                     W sum{};
                     for (std::int64_t l = 0; l < a.n && factor != W{0}; ++l)
                       sum += left ? a.mirrored(i, l, hermitian) * b.at(l, j)
                                   : b.at(i, l) * a.mirrored(l, j, hermitian);
                     return factor * sum + (kept == W{0} ? W{0} : kept * c.at(i, j));
                   });
                 });
}

// C = alpha op(A) op(B)^T + beta C in a triangle, and with `two` conj(alpha) op(B) op(A)^T, too; ^H
// where `hermitian`.
template <class W>
cublasStatus_t rank_update(const char* name, cublasHandle_t handle, bool hermitian, bool two,
                           cublasOperation_t op, std::int64_t k, const Scalar& alpha,
                           const Matrix<W>& a, const Matrix<W>& b, const Scalar& beta,
                           const Triangle<W>& c) {
  const bool valid =
      is_op(op) && a.valid() && b.valid() && c.valid() && alpha.valid() && beta.valid() && k >= 0;
  return enqueue(name, handle, valid, std::tie(a, b, c), [=] {
    const W factor = alpha.value<W>(), kept = beta.value<W>();
    const auto turned = [&](W value) { return hermitian ? conjugate(value) : value; };
    const auto of = [&](const Matrix<W>& m, std::int64_t i, std::int64_t l) {
      return op == CUBLAS_OP_N ? m.at(i, l) : turned(m.at(l, i));
    };
    set_triangle(c, hermitian, [&](std::int64_t i, std::int64_t j) {
      W first{}, second{};
      for (std::int64_t l = 0; l < k && factor != W{0}; ++l) {
        first += of(a, i, l) * turned(of(b, j, l));
        if (two) second += of(b, i, l) * turned(of(a, j, l));
      }
      const W product = two ? factor * first + turned(factor) * second : factor * first;
      return product + (kept == W{0} ? W{0} : kept * c.at(i, j));
    });
  });
}

// C = alpha op(T) B, or B op(T). C may be B.
template <class C>
cublasStatus_t trmm(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                    cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
                    std::int64_t m, std::int64_t n, const C* alpha, const C* a, std::int64_t lda,
                    const C* b, std::int64_t ldb, C* c, std::int64_t ldc) {
  using W = Number<C>;
  const bool on_left = side == CUBLAS_SIDE_LEFT;
  const Scalar scale = number(handle, alpha);
  const Triangle<W> t = full(a, fill, on_left ? m : n, lda);
  const Matrix<W> from = whole(b, m, n, ldb), to = whole(c, m, n, ldc);
  return enqueue(name, handle,
                 is_op(op) && t.valid() && from.valid() && to.valid() && scale.valid(),
                 std::tie(t, from, to), [=] {
                   const W factor = scale.value<W>();
                   const bool unit = diagonal == CUBLAS_DIAG_UNIT;
                   std::vector<W> product;
                   for (std::int64_t j = 0; j < n; ++j) {
                     for (std::int64_t i = 0; i < m; ++i) {
                       W sum{};
                       for (std::int64_t l = 0; l < t.n && factor != W{0}; ++l)
                         sum += on_left ? t.of(op, unit, i, l) * from.at(l, j)
                                        : from.at(i, l) * t.of(op, unit, l, j);
                       product.push_back(factor * sum);
                     }
                   }
                   set_all(to, [&](std::int64_t i, std::int64_t j) { return product[j * m + i]; });
                 });
}

// Copies the stored triangle of `from` to a matrix that stores the same triangle.
template <class W>
cublasStatus_t store_as(const char* name, cublasHandle_t handle, const Triangle<W>& from,
                        const Triangle<W>& to) {
  return enqueue(name, handle, from.valid() && to.valid(), std::tie(from, to), [=] {
    for (std::int64_t j = 0; j < from.n; ++j) {
      for (std::int64_t i = 0; i < from.n; ++i) {
        if (from.holds(i, j)) to.at(i, j) = from.at(i, j);
      }
    }
    to.mark();
  });
}

cublasStatus_t check_single(const char* name, cudaDataType a, cudaDataType c) {
  return a == CUDA_C_32F && c == CUDA_C_32F ? CUBLAS_STATUS_SUCCESS
                                            : refuse(name, "another type than CUDA_C_32F");
}

}  // namespace

}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

// The product and the solution of a triangle, stored as TR says, and a vector.
#define VGPU_TRIANGULAR(INT, SUFFIX, L, C, TR, STORED, ...)                                    \
  cublasStatus_t cublas##L##TR##mv_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,    \
                                              cublasOperation_t op, cublasDiagType_t diagonal, \
                                              INT n, __VA_ARGS__, C* x, INT incx) {            \
    return triangle_and_vector("cublas" #L#TR "mv", handle, op, diagonal, false, STORED,       \
                               elements(x, n, incx));                                          \
  }                                                                                            \
  cublasStatus_t cublas##L##TR##sv_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,    \
                                              cublasOperation_t op, cublasDiagType_t diagonal, \
                                              INT n, __VA_ARGS__, C* x, INT incx) {            \
    return triangle_and_vector("cublas" #L#TR "sv", handle, op, diagonal, true, STORED,        \
                               elements(x, n, incx));                                          \
  }

#define VGPU_TRIANGLES(INT, SUFFIX, L, C)                                                        \
  VGPU_TRIANGULAR(INT, SUFFIX, L, C, tr, full(a, fill, n, lda), const C* a, INT lda)             \
  VGPU_TRIANGULAR(INT, SUFFIX, L, C, tb, banded(a, fill, n, k, lda), INT k, const C* a, INT lda) \
  VGPU_TRIANGULAR(INT, SUFFIX, L, C, tp, packed(a, fill, n), const C* a)

// Symmetric and Hermitian matrices. R: the type of alpha in updates by one vector or matrix, and of
// beta.
#define VGPU_MIRRORED(INT, SUFFIX, L, C, R, SY, HERMITIAN)                                         \
  cublasStatus_t cublas##L##SY##mv_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill, INT n, \
                                              const C* alpha, const C* a, INT lda, const C* x,     \
                                              INT incx, const C* beta, C* y, INT incy) {           \
    return mirrored_times_vector("cublas" #L#SY "mv", handle, HERMITIAN, number(handle, alpha),    \
                                 full(a, fill, n, lda), elements(x, n, incx),                      \
                                 number(handle, beta), elements(y, n, incy));                      \
  }                                                                                                \
  cublasStatus_t cublas##L##SY##r_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill, INT n,  \
                                             const R* alpha, const C* x, INT incx, C* a,           \
                                             INT lda) {                                            \
    return update("cublas" #L#SY "r", handle, HERMITIAN, false, number(handle, alpha),             \
                  elements(x, n, incx), elements(x, n, incx), full(a, fill, n, lda));              \
  }                                                                                                \
  cublasStatus_t cublas##L##SY##r2_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill, INT n, \
                                              const C* alpha, const C* x, INT incx, const C* y,    \
                                              INT incy, C* a, INT lda) {                           \
    return update("cublas" #L#SY "r2", handle, HERMITIAN, true, number(handle, alpha),             \
                  elements(x, n, incx), elements(y, n, incy), full(a, fill, n, lda));              \
  }                                                                                                \
  cublasStatus_t cublas##L##SY##mm_v2##SUFFIX(                                                     \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, INT m, INT n,           \
      const C* alpha, const C* a, INT lda, const C* b, INT ldb, const C* beta, C* c, INT ldc) {    \
    return mirrored_product("cublas" #L#SY "mm", handle, HERMITIAN, side, number(handle, alpha),   \
                            full(a, fill, side == CUBLAS_SIDE_LEFT ? m : n, lda),                  \
                            whole(b, m, n, ldb), number(handle, beta), whole(c, m, n, ldc));       \
  }                                                                                                \
  cublasStatus_t cublas##L##SY##rk_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,        \
                                              cublasOperation_t op, INT n, INT k, const R* alpha,  \
                                              const C* a, INT lda, const R* beta, C* c, INT ldc) { \
    return rank_update("cublas" #L#SY "rk", handle, HERMITIAN, false, op, k,                       \
                       number(handle, alpha), operand(a, op, n, k, lda),                           \
                       operand(a, op, n, k, lda), number(handle, beta), full(c, fill, n, ldc));    \
  }                                                                                                \
  cublasStatus_t cublas##L##SY##r2k_v2##SUFFIX(                                                    \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, INT n, INT k,            \
      const C* alpha, const C* a, INT lda, const C* b, INT ldb, const R* beta, C* c, INT ldc) {    \
    return rank_update("cublas" #L#SY "r2k", handle, HERMITIAN, true, op, k,                       \
                       number(handle, alpha), operand(a, op, n, k, lda),                           \
                       operand(b, op, n, k, ldb), number(handle, beta), full(c, fill, n, ldc));    \
  }                                                                                                \
  cublasStatus_t cublas##L##SY##rkx##SUFFIX(                                                       \
      cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op, INT n, INT k,            \
      const C* alpha, const C* a, INT lda, const C* b, INT ldb, const R* beta, C* c, INT ldc) {    \
    return rank_update("cublas" #L#SY "rkx", handle, HERMITIAN, false, op, k,                      \
                       number(handle, alpha), operand(a, op, n, k, lda),                           \
                       operand(b, op, n, k, ldb), number(handle, beta), full(c, fill, n, ldc));    \
  }

// Real symmetric and complex Hermitian matrices. R: the type of a rank-1 update's alpha.
#define VGPU_BANDED_AND_PACKED(INT, SUFFIX, L, C, R, BANDED, PACKED, HERMITIAN)                   \
  cublasStatus_t cublas##L##BANDED##mv_v2##SUFFIX(                                                \
      cublasHandle_t handle, cublasFillMode_t fill, INT n, INT k, const C* alpha, const C* a,     \
      INT lda, const C* x, INT incx, const C* beta, C* y, INT incy) {                             \
    return mirrored_times_vector("cublas" #L#BANDED "mv", handle, HERMITIAN,                      \
                                 number(handle, alpha), banded(a, fill, n, k, lda),               \
                                 elements(x, n, incx), number(handle, beta),                      \
                                 elements(y, n, incy));                                           \
  }                                                                                               \
  cublasStatus_t cublas##L##PACKED##mv_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,   \
                                                  INT n, const C* alpha, const C* a, const C* x,  \
                                                  INT incx, const C* beta, C* y, INT incy) {      \
    return mirrored_times_vector("cublas" #L#PACKED "mv", handle, HERMITIAN,                      \
                                 number(handle, alpha), packed(a, fill, n), elements(x, n, incx), \
                                 number(handle, beta), elements(y, n, incy));                     \
  }                                                                                               \
  cublasStatus_t cublas##L##PACKED##r_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,    \
                                                 INT n, const R* alpha, const C* x, INT incx,     \
                                                 C* a) {                                          \
    return update("cublas" #L#PACKED "r", handle, HERMITIAN, false, number(handle, alpha),        \
                  elements(x, n, incx), elements(x, n, incx), packed(a, fill, n));                \
  }                                                                                               \
  cublasStatus_t cublas##L##PACKED##r2_v2##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,   \
                                                  INT n, const C* alpha, const C* x, INT incx,    \
                                                  const C* y, INT incy, C* a) {                   \
    return update("cublas" #L#PACKED "r2", handle, HERMITIAN, true, number(handle, alpha),        \
                  elements(x, n, incx), elements(y, n, incy), packed(a, fill, n));                \
  }

#define VGPU_STRUCTURED(INT, SUFFIX)                                            \
  VGPU_BANDED_AND_PACKED(INT, SUFFIX, S, float, float, sb, sp, false)           \
  VGPU_BANDED_AND_PACKED(INT, SUFFIX, D, double, double, sb, sp, false)         \
  VGPU_BANDED_AND_PACKED(INT, SUFFIX, C, cuComplex, float, hb, hp, true)        \
  VGPU_BANDED_AND_PACKED(INT, SUFFIX, Z, cuDoubleComplex, double, hb, hp, true) \
  VGPU_MIRRORED(INT, SUFFIX, S, float, float, sy, false)                        \
  VGPU_MIRRORED(INT, SUFFIX, D, double, double, sy, false)                      \
  VGPU_MIRRORED(INT, SUFFIX, C, cuComplex, cuComplex, sy, false)                \
  VGPU_MIRRORED(INT, SUFFIX, Z, cuDoubleComplex, cuDoubleComplex, sy, false)    \
  VGPU_MIRRORED(INT, SUFFIX, C, cuComplex, float, he, true)                     \
  VGPU_MIRRORED(INT, SUFFIX, Z, cuDoubleComplex, double, he, true)

VGPU_ROUTINE(gemv, _v2, 12);
VGPU_ROUTINE(gbmv, _v2, 14);
VGPU_ROUTINE(trmm, _v2, 14);
VGPU_FORM(Sger, _v2, 10, ger<false>);
VGPU_FORM(Dger, _v2, 10, ger<false>);
VGPU_FORM(Cgeru, _v2, 10, ger<false>);
VGPU_FORM(Zgeru, _v2, 10, ger<false>);
VGPU_FORM(Cgerc, _v2, 10, ger<true>);
VGPU_FORM(Zgerc, _v2, 10, ger<true>);
VGPU_EACH(VGPU_TRIANGLES)
VGPU_STRUCTURED(int, )
VGPU_STRUCTURED(int64_t, _64)

#define VGPU_STORAGE(INT, SUFFIX, L, C)                                                            \
  cublasStatus_t cublas##L##tpttr(cublasHandle_t handle, cublasFillMode_t fill, INT n,             \
                                  const C* ap, C* a, INT lda) {                                    \
    return store_as("cublas" #L "tpttr", handle, packed(ap, fill, n), full(a, fill, n, lda));      \
  }                                                                                                \
  cublasStatus_t cublas##L##trttp(cublasHandle_t handle, cublasFillMode_t fill, INT n, const C* a, \
                                  INT lda, C* ap) {                                                \
    return store_as("cublas" #L "trttp", handle, full(a, fill, n, lda), packed(ap, fill, n));      \
  }
VGPU_EACH_TYPE(VGPU_STORAGE, int, )

#define VGPU_RANK_EX(INT, SUFFIX, NAME, PLAIN, R)                                                 \
  cublasStatus_t cublas##NAME##SUFFIX(cublasHandle_t handle, cublasFillMode_t fill,               \
                                      cublasOperation_t op, INT n, INT k, const R* alpha,         \
                                      const void* a, cudaDataType type_a, INT lda, const R* beta, \
                                      void* c, cudaDataType type_c, INT ldc) {                    \
    const cublasStatus_t status = check_single("cublas" #NAME, type_a, type_c);                   \
    return status != CUBLAS_STATUS_SUCCESS                                                        \
               ? status                                                                           \
               : cublas##PLAIN##_v2##SUFFIX(handle, fill, op, n, k, alpha,                        \
                                            static_cast<const cuComplex*>(a), lda, beta,          \
                                            static_cast<cuComplex*>(c), ldc);                     \
  }
#define VGPU_RANKS_EX(INT, SUFFIX)                     \
  VGPU_RANK_EX(INT, SUFFIX, CherkEx, Cherk, float)     \
  VGPU_RANK_EX(INT, SUFFIX, Cherk3mEx, Cherk, float)   \
  VGPU_RANK_EX(INT, SUFFIX, CsyrkEx, Csyrk, cuComplex) \
  VGPU_RANK_EX(INT, SUFFIX, Csyrk3mEx, Csyrk, cuComplex)
VGPU_RANKS_EX(int, )
VGPU_RANKS_EX(int64_t, _64)
