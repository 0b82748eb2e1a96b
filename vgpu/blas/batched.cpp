// SPDX-License-Identifier: Apache-2.0
// Batches of small matrices: triangular systems, LU and QR factorisations, inverses, least squares.
#include <cmath>
#include <complex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

// Matrices of one shape, by an array of pointers in device memory.
template <class W>
struct Batch {
  W* const* pointers = nullptr;
  std::int64_t count = 0, rows = 0, columns = 0, ld = 1;

  template <class C>
  Batch(C* const* data, std::int64_t n, std::int64_t r, std::int64_t c, std::int64_t step)
      : pointers(reinterpret_cast<W* const*>(
            const_cast<void* const*>(reinterpret_cast<const void* const*>(data)))),
        count(n),
        rows(r),
        columns(c),
        ld(step) {}
  Matrix<W> operator[](std::int64_t i) const { return {pointers[i], rows, columns, ld}; }
  bool valid() const { return count >= 0 && Matrix<W>{nullptr, rows, columns, ld}.valid(); }
  bool on_device() const {
    return blas::on_device(pointers, count * std::int64_t{sizeof(void*)}, CUDA_R_8I);
  }
};

template <class C>
Batch(C* const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t)
    -> Batch<Number<std::remove_const_t<C>>>;

// Integers in device memory: pivots, or a status per matrix. May be absent.
struct Integers {
  int* data = nullptr;
  std::int64_t count = 0;

  Integers(const int* numbers, std::int64_t n) : data(const_cast<int*>(numbers)), count(n) {}
  bool on_device() const { return data == nullptr || blas::on_device(data, count, CUDA_R_32I); }
  Integers of(std::int64_t matrix, std::int64_t n) const {
    return {data == nullptr ? nullptr : data + matrix * n, n};
  }
  void set(std::int64_t i, std::int64_t value) const {
    if (data == nullptr) return;
    data[i] = static_cast<int>(value);
    mark_written(data + i, 1, CUDA_R_32I);
  }
};

// Enqueues each(i) for every matrix of the batch that lies in device memory.
template <class Each, class... Operands>
cublasStatus_t for_each(const char* name, cublasHandle_t handle, bool valid,
                        const std::tuple<const Operands&...>& operands, Each each) {
  const auto lies_there = [](const auto& operand, std::int64_t i) {
    if constexpr (requires { operand.pointers; })
      return operand[i].on_device();
    else
      return true;
  };
  const std::tuple<Operands...> all = operands;
  return enqueue(name, handle, valid, operands, [=] {
    for (std::int64_t i = 0; i < std::get<0>(all).count; ++i) {
      if (std::apply([&](const auto&... one) { return (lies_there(one, i) && ...); }, all))
        each(i);
      else
        say((std::string(name) + ": a matrix is not wholly in device memory").c_str());
    }
  });
}

// Replaces A by the factors of P A = L U and writes the pivots: row numbers from 1. Without room
// for pivots no rows are exchanged. Returns the number, from 1, of the first diagonal element that
// is 0.
template <class W>
std::int64_t factorise(const Matrix<W>& a, const Integers& pivots) {
  std::int64_t singular = 0;
  for (std::int64_t k = 0; k < a.columns; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < a.rows && pivots.data != nullptr; ++i) {
      if (std::abs(a.at(i, k)) > std::abs(a.at(best, k))) best = i;
    }
    pivots.set(k, best + 1);
    for (std::int64_t j = 0; j < a.columns && best != k; ++j) std::swap(a.at(k, j), a.at(best, j));
    if (a.at(k, k) == W{0}) {
      if (singular == 0) singular = k + 1;
      continue;
    }
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      a.at(i, k) /= a.at(k, k);
      for (std::int64_t j = k + 1; j < a.columns; ++j) a.at(i, j) -= a.at(i, k) * a.at(k, j);
    }
  }
  a.mark();
  return singular;
}

// The number, from 1, of the first diagonal element that is 0; 0 if there is none.
template <class W>
std::int64_t first_zero(const Matrix<W>& a) {
  for (std::int64_t k = 0; k < a.columns; ++k) {
    if (a.at(k, k) == W{0}) return k + 1;
  }
  return 0;
}

// Solves op(T) x = b for a triangle T of `a`. x replaces b.
template <class W>
void solve_triangle(const Matrix<W>& a, std::int64_t n, bool lower, bool unit, cublasOperation_t op,
                    W* x) {
  solve<W>(
      n, lower == (op == CUBLAS_OP_N), unit,
      [&](std::int64_t i, std::int64_t j) { return element(a, op, i, j); },
      [&](std::int64_t i) -> W& { return x[i]; });
}

// Solves op(A) x = b, given the factors of A.
template <class W>
void solve_factored(const Matrix<W>& a, const Integers& pivots, cublasOperation_t op, W* x) {
  const std::int64_t n = a.rows;
  const auto swap = [&](std::int64_t i) {
    if (pivots.data != nullptr) std::swap(x[i], x[pivots.data[i] - 1]);
  };
  if (op == CUBLAS_OP_N) {
    for (std::int64_t i = 0; i < n; ++i) swap(i);
    solve_triangle(a, n, true, true, op, x);
    solve_triangle(a, n, false, false, op, x);
  } else {
    solve_triangle(a, n, false, false, op, x);
    solve_triangle(a, n, true, true, op, x);
    for (std::int64_t i = n; i-- > 0;) swap(i);
  }
}

template <class W>
void invert_factored(const Matrix<W>& a, const Integers& pivots, const Matrix<W>& inverse) {
  for (std::int64_t j = 0; j < a.rows; ++j) {
    std::vector<W> column(a.rows);
    column[j] = 1;
    solve_factored(a, pivots, CUBLAS_OP_N, column.data());
    std::ranges::copy(column, &inverse.at(0, j));
  }
  inverse.mark();
}

// Applies the conjugate transpose of the reflector whose vector is in column k of `a`.
template <class W>
void apply_reflector(const Matrix<W>& a, std::int64_t k, W tau, W* x) {
  W sum = x[k];
  for (std::int64_t i = k + 1; i < a.rows; ++i) sum += conjugate(a.at(i, k)) * x[i];
  sum *= conjugate(tau);
  x[k] -= sum;
  for (std::int64_t i = k + 1; i < a.rows; ++i) x[i] -= sum * a.at(i, k);
}

// A = Q R as LAPACK stores it: R, below it the reflectors' vectors, and their factors in tau.
template <class W>
void reflect(const Matrix<W>& a, W* tau) {
  for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const W alpha = a.at(k, k);
    Real<W> rest = 0;
    for (std::int64_t i = k + 1; i < a.rows; ++i) rest = std::hypot(rest, std::abs(a.at(i, k)));
    if (rest == 0 && std::imag(alpha) == 0) {
      tau[k] = 0;
      continue;
    }
    const Real<W> beta = -std::copysign(std::hypot(std::abs(alpha), rest), std::real(alpha));
    tau[k] = (W{beta} - alpha) / W{beta};
    for (std::int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) /= alpha - W{beta};
    a.at(k, k) = beta;
    for (std::int64_t j = k + 1; j < a.columns; ++j) apply_reflector(a, k, tau[k], &a.at(0, j));
  }
  a.mark();
}

template <class C>
cublasStatus_t getrf(const char* name, cublasHandle_t handle, int n, C* const* a, int lda,
                     int* pivots, int* info, int count) {
  const Batch matrices(a, count, n, n, lda);
  const Integers places(pivots, std::int64_t{n} * count), singular(info, count);
  return for_each(
      name, handle, matrices.valid(), std::tie(matrices, places, singular),
      [=](std::int64_t i) { singular.set(i, factorise(matrices[i], places.of(i, n))); });
}

// `info`, in host memory, receives which argument is invalid.
template <class C>
cublasStatus_t getrs(const char* name, cublasHandle_t handle, cublasOperation_t op, int n,
                     int columns, const C* const* a, int lda, const int* pivots, C* const* b,
                     int ldb, int* info, int count) {
  const Batch factors(a, count, n, n, lda), x(b, count, n, columns, ldb);
  const Integers places(pivots, std::int64_t{n} * count);
  const bool valid = factors.valid() && x.valid() && info != nullptr;
  if (info != nullptr) *info = !factors.valid() ? -5 : !x.valid() ? -8 : 0;
  return for_each(name, handle, valid, std::tie(factors, places, x), [=](std::int64_t i) {
    for (std::int64_t j = 0; j < columns; ++j)
      solve_factored(factors[i], places.of(i, n), op, &x[i].at(0, j));
    x[i].mark();
  });
}

template <class C>
cublasStatus_t getri(const char* name, cublasHandle_t handle, int n, const C* const* a, int lda,
                     const int* pivots, C* const* c, int ldc, int* info, int count) {
  const Batch factors(a, count, n, n, lda), inverse(c, count, n, n, ldc);
  const Integers places(pivots, std::int64_t{n} * count), singular(info, count);
  return for_each(name, handle, factors.valid() && inverse.valid(),
                  std::tie(factors, places, inverse, singular), [=](std::int64_t i) {
                    const std::int64_t zero = first_zero(factors[i]);
                    if (zero == 0) invert_factored(factors[i], places.of(i, n), inverse[i]);
                    singular.set(i, zero);
                  });
}

template <class C>
cublasStatus_t matinv(const char* name, cublasHandle_t handle, int n, const C* const* a, int lda,
                      C* const* c, int ldc, int* info, int count) {
  using W = Number<C>;
  constexpr int kMost = 32;
  const Batch matrices(a, count, n, n, lda), inverse(c, count, n, n, ldc);
  const Integers singular(info, count);
  return for_each(name, handle, matrices.valid() && inverse.valid() && n <= kMost,
                  std::tie(matrices, inverse, singular), [=](std::int64_t i) {
                    std::vector<W> factors;
                    for (std::int64_t j = 0; j < n; ++j)
                      factors.insert(factors.end(), &matrices[i].at(0, j),
                                     &matrices[i].at(0, j) + n);
                    // In host memory, so that nothing is marked as written.
                    std::vector<int> pivots(n);
                    const Matrix<W> copy{factors.data(), n, n, std::max(1, n)};
                    const Integers places(pivots.data(), n);
                    const std::int64_t zero = factorise(copy, places);
                    if (zero == 0) invert_factored(copy, places, inverse[i]);
                    singular.set(i, zero);
                  });
}

template <class C>
cublasStatus_t geqrf(const char* name, cublasHandle_t handle, int m, int n, C* const* a, int lda,
                     C* const* tau, int* info, int count) {
  const int least = std::max(0, std::min(m, n));
  const Batch matrices(a, count, m, n, lda), factors(tau, count, least, 1, std::max(1, least));
  if (info != nullptr) *info = matrices.valid() ? 0 : -4;
  return for_each(name, handle, matrices.valid() && info != nullptr, std::tie(matrices, factors),
                  [=](std::int64_t i) {
                    reflect(matrices[i], factors[i].data);
                    factors[i].mark();
                  });
}

// Least squares: the first rows of c receive the x that minimises |A x - c|. A has at least as many
// rows as columns.
template <class C>
cublasStatus_t gels(const char* name, cublasHandle_t handle, cublasOperation_t op, int m, int n,
                    int columns, C* const* a, int lda, C* const* c, int ldc, int* info,
                    int* singular, int count) {
  if (op != CUBLAS_OP_N || m < n)
    return refuse(name, "a transposed A, or one with more columns than rows");
  const Batch matrices(a, count, m, n, lda), results(c, count, m, columns, ldc);
  const Integers zeros(singular, count);
  if (info != nullptr) *info = !matrices.valid() ? -6 : !results.valid() ? -8 : 0;
  return for_each(name, handle, matrices.valid() && results.valid() && info != nullptr,
                  std::tie(matrices, results, zeros), [=](std::int64_t i) {
                    const auto q = matrices[i], x = results[i];
                    std::vector<Number<C>> tau(n);
                    reflect(q, tau.data());
                    const std::int64_t zero = first_zero(q);
                    zeros.set(i, zero);
                    for (std::int64_t j = 0; j < columns && zero == 0; ++j) {
                      for (std::int64_t k = 0; k < n; ++k)
                        apply_reflector(q, k, tau[k], &x.at(0, j));
                      solve_triangle(q, n, false, false, CUBLAS_OP_N, &x.at(0, j));
                    }
                    x.mark();
                  });
}

template <class C>
cublasStatus_t trsmBatched(const char* name, cublasHandle_t handle, cublasSideMode_t side,
                           cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal,
                           std::int64_t m, std::int64_t n, const C* alpha, const C* const* a,
                           std::int64_t lda, C* const* b, std::int64_t ldb, std::int64_t count) {
  const std::int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  const Scalar factor = number(handle, alpha);
  const Batch triangles(a, count, order, order, lda), x(b, count, m, n, ldb);
  return for_each(name, handle, triangles.valid() && x.valid() && factor.valid(),
                  std::tie(triangles, x), [=](std::int64_t i) {
                    solve_system(side, fill, op, diagonal, factor.value<Number<C>>(), triangles[i],
                                 x[i]);
                  });
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_OF_TYPE(L, NAME, COUNT) \
  VGPU_BY(cublas##L##NAME##Batched, COUNT, NAME("cublas" #L#NAME "Batched", VGPU_ARGUMENTS_##COUNT))
#define VGPU_BATCHED(NAME, COUNT) \
  VGPU_OF_TYPE(S, NAME, COUNT);   \
  VGPU_OF_TYPE(D, NAME, COUNT);   \
  VGPU_OF_TYPE(C, NAME, COUNT);   \
  VGPU_OF_TYPE(Z, NAME, COUNT)
VGPU_BATCHED(getrf, 7);
VGPU_BATCHED(getrs, 11);
VGPU_BATCHED(getri, 9);
VGPU_BATCHED(matinv, 8);
VGPU_BATCHED(geqrf, 8);
VGPU_BATCHED(gels, 12);
VGPU_ROUTINE(trsmBatched, , 13);
