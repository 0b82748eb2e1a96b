// SPDX-License-Identifier: Apache-2.0
// The functions of cuSOLVER for dense matrices. The operands' type T is CUDA's.
#pragma once
#pragma GCC visibility push(default)
#include <cusolverDn.h>
#pragma GCC visibility pop

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "include/host_call.hpp"
#include "solver/lapack.hpp"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t math = CUSOLVER_DEFAULT_MATH;
};

namespace vgpu::solver {

using i64 = std::int64_t;
using Status = cusolverStatus_t;
using Handle = cusolverDnHandle_t;

// LAPACK's letter for a value of an enumeration; 0 if there is none.
inline char letter(const char* letters, unsigned value) {
  return value < std::char_traits<char>::length(letters) ? letters[value] : '\0';
}
inline char letter(cublasFillMode_t uplo) { return letter("LU", uplo); }
inline char letter(cublasOperation_t op) { return letter("NTC", op); }
inline char letter(cusolverEigMode_t mode) { return letter("NV", mode); }

using Objects = vgpu::Objects<Status>;
static_assert(Objects::kInvalid == CUSOLVER_STATUS_INVALID_VALUE &&
              Objects::kFailed == CUSOLVER_STATUS_EXECUTION_FAILED);

class Call : public HostCall<Status> {
 public:
  Call(const char* name, Handle handle)
      : HostCall(name, handle != nullptr ? handle->stream : nullptr) {
    require(handle != nullptr, CUSOLVER_STATUS_NOT_INITIALIZED);
  }

  template <class... Letters>
  Call& letters(Letters... letters) {
    require((... && (letters != '\0')));
    return *this;
  }
  // A matrix by columns: is read if it is constant, else written.
  template <class T>
  Call& matrix(T* a, i64 rows, i64 cols, i64 ld) {
    constexpr i64 kMost = std::numeric_limits<int>::max();
    require(rows >= 0 && cols >= 0 && ld >= std::max<i64>(rows, 1));
    require(rows <= kMost && cols <= kMost && ld <= kMost, CUSOLVER_STATUS_NOT_SUPPORTED);
    return *this ? range(a, rows, cols, ld) : *this;
  }
  // Of a square matrix only one triangle is written.
  template <class T>
  Call& triangle(T* a, i64 n, i64 ld, cublasFillMode_t uplo) {
    matrix(static_cast<const T*>(a), n, n, ld);
    for (i64 col = 0; *this && col < n; ++col) {
      const i64 first = uplo == CUBLAS_FILL_MODE_LOWER ? col : 0;
      range(a + col * ld + first, uplo == CUBLAS_FILL_MODE_LOWER ? n - col : col + 1, 1, ld);
    }
    return *this;
  }
  template <class T>
  Call& vector(T* a, i64 size) {
    return matrix(a, size, 1, std::max<i64>(size, 1));
  }

 private:
  template <class T>
  Call& range(T* a, i64 rows, i64 cols, i64 ld) {
    constexpr std::size_t kSize = sizeof(T);  // NOLINT(bugprone-sizeof-expression): or a pointer's
    const auto bytes = [](i64 count) { return static_cast<std::size_t>(count) * kSize; };
    if constexpr (std::is_const_v<T>)
      in(a, bytes(rows), static_cast<std::size_t>(cols), bytes(ld));
    else
      out(a, bytes(rows), static_cast<std::size_t>(cols), bytes(ld));
    return *this;
  }
};

// ---- Linear systems

template <class T>
Status potrf(const char* name, Handle handle, const char* function, cublasFillMode_t uplo, i64 n,
             T* a, i64 lda, int* info) {
  Call call(name, handle);
  call.letters(letter(uplo)).triangle(a, n, lda, uplo).vector(info, 1);
  return call.run([=] { lapack<T>(function, letter(uplo), n, a, lda, info); });
}

template <class T>
Status trtri(const char* name, Handle handle, cublasFillMode_t uplo, cublasDiagType_t diagonal,
             i64 n, T* a, i64 lda, int* info) {
  Call call(name, handle);
  const char unit = letter("NU", diagonal);
  call.letters(letter(uplo), unit).triangle(a, n, lda, uplo).vector(info, 1);
  return call.run([=] { lapack<T>("trtri", letter(uplo), unit, n, a, lda, info); });
}

template <class T>
Status potrs(const char* name, Handle handle, cublasFillMode_t uplo, i64 n, i64 count, const T* a,
             i64 lda, T* b, i64 ldb, int* info) {
  Call call(name, handle);
  call.letters(letter(uplo)).matrix(a, n, n, lda).matrix(b, n, count, ldb).vector(info, 1);
  return call.run([=] { lapack<T>("potrs", letter(uplo), n, count, a, lda, b, ldb, info); });
}

// Batches by arrays of pointers in device memory, which are read when the work is executed. After
// the work, `cols` columns of `rows` elements are marked.
template <class T, class Work>
void each_of(T* const matrices[], i64 batch, i64 rows, i64 cols, i64 ld, Work work) {
  const auto bytes = [](i64 elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  for (i64 i = 0; i < batch; ++i) {
    T* const a = matrices[i];
    if (rows > 0 && vgpuDeviceContains(a, bytes((cols - 1) * ld + rows)) == 0)
      throw std::runtime_error("a matrix of the batch is not wholly in device memory");
    work(i, a);
    for (i64 col = 0; col < cols; ++col) vgpuMarkWritten(a + col * ld, bytes(rows));
  }
}

template <class T>
Status potrf_batch(const char* name, Handle handle, cublasFillMode_t uplo, i64 n,
                   T* const matrices[], i64 lda, int* info, i64 batch) {
  Call call(name, handle);
  call.letters(letter(uplo)).require(n >= 0 && lda >= std::max<i64>(n, 1) && batch >= 0);
  call.vector(static_cast<T* const*>(matrices), batch).vector(info, batch);
  return call.run([=] {
    each_of(matrices, batch, n, n, lda,
            [&](i64 i, T* a) { lapack<T>("potrf", letter(uplo), n, a, lda, info + i); });
  });
}

template <class T>
Status potrs_batch(const char* name, Handle handle, cublasFillMode_t uplo, i64 n, i64 count,
                   T* const matrices[], i64 lda, T* const right[], i64 ldb, int* info, i64 batch) {
  Call call(name, handle);
  call.letters(letter(uplo)).require(n >= 0 && std::min(lda, ldb) >= std::max<i64>(n, 1));
  call.require(count == 1 && batch >= 0);
  call.vector(matrices, batch).vector(right, batch).vector(info, 1);
  return call.run([=] {
    each_of(right, batch, n, count, ldb, [&](i64 i, T* b) {
      lapack<T>("potrs", letter(uplo), n, count, matrices[i], lda, b, ldb, info);
    });
  });
}

// Without pivots (`pivots` is null) the matrix is eliminated in the order of its rows.
template <class T, class Index>
Status getrf(const char* name, Handle handle, i64 m, i64 n, T* a, i64 lda, Index* pivots,
             int* info) {
  using N = blas::Number<T>;
  const i64 least = std::min(m, n);
  Call call(name, handle);
  call.matrix(a, m, n, lda).vector(info, 1);
  if (pivots != nullptr) call.vector(pivots, least);
  return call.run([=] {
    if (pivots != nullptr) {
      std::vector<int> rows(static_cast<std::size_t>(least));
      lapack<T>("getrf", m, n, a, lda, rows.data(), info);
      std::ranges::copy(rows, pivots);
      return;
    }
    N* const values = reinterpret_cast<N*>(a);
    *info = 0;
    for (i64 k = 0; k < least; ++k) {
      if (values[k + k * lda] == N() && *info == 0) *info = static_cast<int>(k + 1);
      for (i64 i = k + 1; i < m; ++i) values[i + k * lda] /= values[k + k * lda];
      for (i64 j = k + 1; j < n; ++j)
        for (i64 i = k + 1; i < m; ++i)
          values[i + j * lda] -= values[i + k * lda] * values[k + j * lda];
    }
  });
}

template <class T, class Index>
Status getrs(const char* name, Handle handle, cublasOperation_t op, i64 n, i64 count, const T* a,
             i64 lda, const Index* pivots, T* b, i64 ldb, int* info) {
  Call call(name, handle);
  call.letters(letter(op)).matrix(a, n, n, lda).matrix(b, n, count, ldb).vector(info, 1);
  if (pivots != nullptr) call.vector(pivots, n);
  return call.run([=] {
    std::vector<int> rows(static_cast<std::size_t>(n));
    for (i64 i = 0; i < n; ++i)
      rows[static_cast<std::size_t>(i)] = static_cast<int>(pivots != nullptr ? pivots[i] : i + 1);
    lapack<T>("getrs", letter(op), n, count, a, lda, rows.data(), b, ldb, info);
  });
}

template <class T>
Status laswp(const char* name, Handle handle, i64 n, T* a, i64 lda, i64 first, i64 last,
             const int* pivots, i64 step) {
  Call call(name, handle);
  call.require(1 <= first && first <= last && step != 0);
  call.vector(pivots, last * std::abs(step)).matrix(a, lda, n, lda);
  return call.run([=] { lapack<T>("laswp", n, a, lda, first, last, pivots, step); });
}

// ---- Orthogonal factors

template <class T>
Status geqrf(const char* name, Handle handle, i64 m, i64 n, T* a, i64 lda, T* tau, int* info) {
  Call call(name, handle);
  call.matrix(a, m, n, lda).vector(tau, std::min(m, n)).vector(info, 1);
  return call.run([=] { lapack_with<T>(std::tuple<T>(), "geqrf", info, m, n, a, lda, tau); });
}

template <class T>
Status orgqr(const char* name, Handle handle, i64 m, i64 n, i64 k, T* a, i64 lda, const T* tau,
             int* info) {
  Call call(name, handle);
  call.require(0 <= k && k <= n && n <= m);
  call.matrix(a, m, n, lda).vector(tau, k).vector(info, 1);
  const char* const function = kIsComplex<T> ? "ungqr" : "orgqr";
  return call.run([=] { lapack_with<T>(std::tuple<T>(), function, info, m, n, k, a, lda, tau); });
}

template <class T>
Status ormqr(const char* name, Handle handle, cublasSideMode_t side, cublasOperation_t op, i64 m,
             i64 n, i64 k, const T* a, i64 lda, const T* tau, T* c, i64 ldc, int* info) {
  Call call(name, handle);
  const char where = letter("LR", side);
  const i64 order = where == 'L' ? m : n;
  call.letters(where, letter(op)).require(0 <= k && k <= order);
  call.matrix(a, order, k, lda).vector(tau, k).matrix(c, m, n, ldc).vector(info, 1);
  const char* const function = kIsComplex<T> ? "unmqr" : "ormqr";
  // LAPACK changes A and restores it.
  return call.run([=] {
    lapack_with<T>(std::tuple<T>(), function, info, where, letter(op), m, n, k, a, lda, tau, c,
                   ldc);
  });
}

// ---- Singular values

// U S V^H; VT is V^H.
template <class T>
void gesvd(char jobu, char jobvt, i64 m, i64 n, T* a, i64 lda, Real<T>* s, T* u, i64 ldu, T* vt,
           i64 ldvt, int* info) {
  if constexpr (kIsComplex<T>) {
    std::vector<Real<T>> real(static_cast<std::size_t>(5 * std::min(m, n) + 1));
    T size{};
    const auto call = [&](T* work, i64 count) {
      lapack<T>("gesvd", jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, count, real.data(),
                info);
    };
    call(&size, -1);
    std::vector<T> work(static_cast<std::size_t>(size.x) + 1);
    call(work.data(), static_cast<i64>(work.size()));
  } else {
    lapack_with<T>(std::tuple<T>(), "gesvd", info, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt);
  }
}

// Which columns of U or rows of V^H LAPACK's letter asks for.
inline i64 count_of(char job, i64 all, i64 least) {
  return job == 'A' ? all : job == 'S' ? least : 0;
}

template <class T>
Status gesvd(const char* name, Handle handle, signed char jobu, signed char jobvt, i64 m, i64 n,
             T* a, i64 lda, Real<T>* s, T* u, i64 ldu, T* vt, i64 ldvt, int* info) {
  const auto known = [](char job) { return std::string("ASON").find(job) != std::string::npos; };
  const char left = static_cast<char>(jobu), right = static_cast<char>(jobvt);
  Call call(name, handle);
  call.require(known(left) && known(right) && !(left == 'O' && right == 'O') && m >= n);
  call.matrix(a, m, n, lda).vector(s, n).vector(info, 1);
  if (const i64 cols = count_of(left, m, n); cols != 0) call.matrix(u, m, cols, ldu);
  if (const i64 rows = count_of(right, n, n); rows != 0) call.matrix(vt, rows, n, ldvt);
  return call.run([=] {
    gesvd(left, right, m, n, a, lda, s, u, std::max<i64>(ldu, 1), vt, std::max<i64>(ldvt, 1), info);
  });
}

// Distances from one matrix of a batch to the next.
struct Strides {
  i64 a = 0, s = 0, u = 0, v = 0;
};

// V instead of V^H, of which the first `rank` columns are stored, in batches. `norms`: on the host,
// of the residuals, which are 0, since LAPACK's method is direct.
template <class T>
Status svd(const char* name, Handle handle, cusolverEigMode_t mode, bool economy, i64 rank, i64 m,
           i64 n, const std::type_identity_t<T>* a, i64 lda, Real<T>* s, T* u, i64 ldu, T* v,
           i64 ldv, int* info, Strides strides = {}, i64 batch = 1, double* norms = nullptr) {
  const i64 least = std::min(m, n), left = economy ? rank : m, right = economy ? rank : n;
  const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  Call call(name, handle);
  call.letters(letter(mode)).require(batch >= 0 && 0 <= rank && rank <= least);
  for (i64 i = 0; call && i < batch; ++i) {
    call.matrix(a + i * strides.a, m, n, lda).vector(s + i * strides.s, rank);
    if (vectors)
      call.matrix(u + i * strides.u, m, left, ldu).matrix(v + i * strides.v, n, right, ldv);
  }
  call.vector(info, batch);
  const auto work = [=] {
    const auto size = [](i64 rows, i64 cols) { return static_cast<std::size_t>(rows * cols); };
    const i64 all_left = economy ? least : m, all_right = economy ? least : n;
    for (i64 i = 0; i < batch; ++i) {
      std::vector<Real<T>> values(size(least, 1));
      std::vector<T> from(vectors ? size(m, all_left) : 0), to(vectors ? size(all_right, n) : 0);
      std::vector<T> matrix;
      for (i64 col = 0; col < n; ++col) {
        const T* const values_of = a + i * strides.a + col * lda;
        matrix.insert(matrix.end(), values_of, values_of + m);
      }
      const char job = !vectors ? 'N' : economy ? 'S' : 'A';
      gesvd(job, job, m, n, matrix.data(), std::max<i64>(m, 1), values.data(), from.data(),
            std::max<i64>(m, 1), to.data(), std::max<i64>(all_right, 1), info + i);
      std::copy_n(values.begin(), rank, s + i * strides.s);
      for (i64 col = 0; vectors && col < left; ++col)
        std::copy_n(from.data() + col * m, m, u + i * strides.u + col * ldu);
      for (i64 col = 0; vectors && col < right; ++col) {
        for (i64 row = 0; row < n; ++row) {
          const T& value = to.data()[row * all_right + col];
          auto* const place = v + i * strides.v + col * ldv + row;
          *reinterpret_cast<blas::Number<T>*>(place) =
              blas::conjugate(reinterpret_cast<const blas::Number<T>&>(value));
        }
      }
    }
  };
  if (call && norms != nullptr) std::fill_n(norms, batch, 0.0);
  return call.run(work);
}

// ---- Eigenvalues

// Those in (low, high], or of the indices first to last, from 1 on.
struct Selection {
  cusolverEigRange_t range = CUSOLVER_EIG_RANGE_ALL;
  double low = 0, high = 0;
  i64 first = 0, last = 0;
};

// Of A x = w x, and with a `type` other than 0 of A x = w B x and its like. The host learns by
// `found` how many are selected; then it must be able to read that when the function returns.
template <class T, class Count = int>
Status eigen(const char* name, Handle handle, int type, cusolverEigMode_t mode,
             cublasFillMode_t uplo, i64 n, T* a, i64 lda, std::type_identity_t<T>* b, i64 ldb,
             Real<T>* w, int* info, i64 batch = 1, Selection selection = {},
             Count* found = nullptr) {
  Call call(name, handle);
  const bool by_index = selection.range == CUSOLVER_EIG_RANGE_I,
             by_value = selection.range == CUSOLVER_EIG_RANGE_V;
  call.letters(letter(mode), letter(uplo)).require(batch >= 0 && 0 <= type && type <= 3);
  call.require(by_index || by_value || selection.range == CUSOLVER_EIG_RANGE_ALL);
  call.require(!by_index ||
               (1 <= selection.first && selection.first <= selection.last && selection.last <= n));
  call.require(!by_value || selection.low < selection.high);
  for (i64 i = 0; call && i < batch; ++i) {
    T* const each = a + i * lda * n;
    mode == CUSOLVER_EIG_MODE_VECTOR ? call.matrix(each, n, n, lda)
                                     : call.triangle(each, n, lda, uplo);
  }
  if (type != 0) call.triangle(b, n, ldb, uplo);
  call.vector(w, n * batch).vector(info, batch);
  const auto work = [=] {
    using Sizes =
        std::conditional_t<kIsComplex<T>, std::tuple<T, Real<T>, int>, std::tuple<T, int>>;
    for (i64 i = 0; i < batch; ++i) {
      T* const vectors = a + i * lda * n;
      Real<T>* const values = w + i * n;
      if (type == 0)
        lapack_with<T>(Sizes(), kIsComplex<T> ? "heevd" : "syevd", info + i, letter(mode),
                       letter(uplo), n, vectors, lda, values);
      else
        lapack_with<T>(Sizes(), kIsComplex<T> ? "hegvd" : "sygvd", info + i, type, letter(mode),
                       letter(uplo), n, vectors, lda, b, ldb, values);
      const auto at = [&](double limit) {
        return std::upper_bound(values, values + n, static_cast<Real<T>>(limit)) - values;
      };
      i64 first = by_index ? selection.first - 1 : 0, last = by_index ? selection.last : n;
      if (by_value) first = at(selection.low), last = at(selection.high);
      if (first > 0) {
        std::copy(values + first, values + last, values);
        for (i64 col = first; mode == CUSOLVER_EIG_MODE_VECTOR && col < last; ++col)
          std::copy_n(vectors + col * lda, n, vectors + (col - first) * lda);
      }
      if (found != nullptr) *found = static_cast<Count>(last - first);
    }
  };
  return found != nullptr ? call.run_now(work) : call.run(work);
}

}  // namespace vgpu::solver
