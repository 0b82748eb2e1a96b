// SPDX-License-Identifier: Apache-2.0
// cuSOLVER: factors, solutions, eigenvalues and singular values of each type, by what they must
// fulfil in double precision. Wrong calls.
#include <cusolverDn.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "device_array.hpp"

namespace {

using Number = std::complex<double>;
cusolverDnHandle_t handle;

void status(cusolverStatus_t found, cusolverStatus_t expected = CUSOLVER_STATUS_SUCCESS,
            int line = __builtin_LINE()) {
  require(found == expected, "a status of cuSOLVER", line);
}

// The functions of one type.
template <class T>
struct Of;
#define FUNCTIONS(T, R, letter, sy, ortho, type, real)                       \
  template <>                                                                \
  struct Of<T> {                                                             \
    using Real = R;                                                          \
    static constexpr cudaDataType kType = type, kReal = real;                \
    static constexpr auto getrf = cusolverDn##letter##getrf;                 \
    static constexpr auto getrf_room = cusolverDn##letter##getrf_bufferSize; \
    static constexpr auto getrs = cusolverDn##letter##getrs;                 \
    static constexpr auto potrf = cusolverDn##letter##potrf;                 \
    static constexpr auto potrs = cusolverDn##letter##potrs;                 \
    static constexpr auto potri = cusolverDn##letter##potri;                 \
    static constexpr auto potrf_batch = cusolverDn##letter##potrfBatched;    \
    static constexpr auto potrs_batch = cusolverDn##letter##potrsBatched;    \
    static constexpr auto geqrf = cusolverDn##letter##geqrf;                 \
    static constexpr auto orgqr = cusolverDn##letter##ortho##gqr;            \
    static constexpr auto ormqr = cusolverDn##letter##ortho##mqr;            \
    static constexpr auto gesvd = cusolverDn##letter##gesvd;                 \
    static constexpr auto gesvdj = cusolverDn##letter##gesvdj;               \
    static constexpr auto gesvda = cusolverDn##letter##gesvdaStridedBatched; \
    static constexpr auto syevd = cusolverDn##letter##sy##evd;               \
    static constexpr auto syevdx = cusolverDn##letter##sy##evdx;             \
    static constexpr auto syevj_batch = cusolverDn##letter##sy##evjBatched;  \
    static constexpr auto sygvd = cusolverDn##letter##sy##gvd;               \
  };
FUNCTIONS(float, float, S, sy, or, CUDA_R_32F, CUDA_R_32F)
FUNCTIONS(double, double, D, sy, or, CUDA_R_64F, CUDA_R_64F)
FUNCTIONS(cuComplex, float, C, he, un, CUDA_C_32F, CUDA_R_32F)
FUNCTIONS(cuDoubleComplex, double, Z, he, un, CUDA_C_64F, CUDA_R_64F)
#undef FUNCTIONS

template <class T>
constexpr bool kComplex = Of<T>::kType != Of<T>::kReal;
template <class T>
constexpr bool kSingle = sizeof(typename Of<T>::Real) == 4;

// Numbers between -1 and 1, the same in each run.
double draw() {
  static unsigned state = 1;
  return (state = state * 1664525 + 1013904223) / 2147483648.0 - 1;
}

// By columns.
struct Matrix {
  int rows, cols;
  std::vector<Number> values;
  Matrix(int rows, int cols) : rows(rows), cols(cols), values(std::size_t(rows) * cols) {}
  Number& at(int row, int col) { return values[std::size_t(col) * rows + row]; }
  Number at(int row, int col) const { return values[std::size_t(col) * rows + row]; }
};

template <class T>
Matrix random_matrix(int rows, int cols) {
  Matrix m(rows, cols);
  for (Number& value : m.values) value = {draw(), kComplex<T> ? draw() : 0};
  return m;
}
Matrix unit(int n) {
  Matrix m(n, n);
  for (int i = 0; i < n; ++i) m.at(i, i) = 1;
  return m;
}
Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int j = 0; j < b.cols; ++j)
    for (int k = 0; k < a.cols; ++k)
      for (int i = 0; i < a.rows; ++i) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}
Matrix transposed(const Matrix& m, bool conjugated = true) {
  Matrix turned(m.cols, m.rows);
  for (int j = 0; j < m.cols; ++j)
    for (int i = 0; i < m.rows; ++i)
      turned.at(j, i) = conjugated ? std::conj(m.at(i, j)) : m.at(i, j);
  return turned;
}
Matrix part(const Matrix& m, int rows, int cols, const std::function<bool(int, int)>& inside) {
  Matrix kept(rows, cols);
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i)
      if (inside(i, j)) kept.at(i, j) = m.at(i, j);
  return kept;
}
Matrix upper(const Matrix& m, int rows) {
  return part(m, rows, m.cols, [](int i, int j) { return i <= j; });
}
Matrix first_columns(const Matrix& m, int cols) {
  return part(m, m.rows, cols, [](int, int) { return true; });
}
template <class R>
Matrix diagonal(const std::vector<R>& values, int rows, int cols) {
  Matrix m(rows, cols);
  for (int i = 0; i < std::min(rows, cols); ++i) m.at(i, i) = values[i];
  return m;
}
// Hermitian, and positive definite by `shift`.
template <class T>
Matrix hermitian(int n, double shift) {
  const Matrix m = random_matrix<T>(n, n), turned = transposed(m);
  Matrix sum = m;
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += turned.values[i];
  for (int i = 0; i < n; ++i) sum.at(i, i) += shift;
  return sum;
}

template <class T>
void close(const Matrix& found, const Matrix& expected, const char* what,
           int line = __builtin_LINE()) {
  double error = 0, size = 1;
  require(found.rows == expected.rows && found.cols == expected.cols, what, line);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    error = std::max(error, std::abs(found.values[i] - expected.values[i]));
    if (!std::isfinite(std::abs(found.values[i]))) error = std::numeric_limits<double>::infinity();
    size = std::max(size, std::abs(expected.values[i]));
  }
  require(error <= (kSingle<T> ? 1e-4 : 1e-11) * size, what, line);
}

template <class T>
T make(Number value) {
  if constexpr (kComplex<T>)
    return {static_cast<typename Of<T>::Real>(value.real()),
            static_cast<typename Of<T>::Real>(value.imag())};
  else
    return static_cast<T>(value.real());
}
template <class T>
Number number(T value) {
  if constexpr (kComplex<T>)
    return {value.x, value.y};
  else
    return value;
}

constexpr int kGap = 2;  // rows between columns; they must keep their values

template <class T>
struct Device {
  explicit Device(const Matrix& m)
      : rows(m.rows), cols(m.cols), ld(m.rows + kGap), data(spread(m)) {}
  Device(int rows, int cols) : Device(Matrix(rows, cols)) {}
  std::vector<T> spread(const Matrix& m) const {
    std::vector<T> all(std::size_t(ld) * cols, make<T>(77.0));
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) all[std::size_t(j) * ld + i] = make<T>(m.at(i, j));
    return all;
  }
  Matrix read() const {
    const auto all = data.read();
    Matrix m(rows, cols);
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) m.at(i, j) = number(all[std::size_t(j) * ld + i]);
      for (int i = rows; i < ld; ++i)
        require(number(all[std::size_t(j) * ld + i]) == 77.0, "the memory between columns");
    }
    return m;
  }
  T* get() const { return data.get(); }
  int rows, cols, ld;
  DeviceArray<T> data;
};

struct Info : DeviceArray<int> {
  explicit Info(int count = 1) : DeviceArray(std::vector<int>(count, -77)) {}
  void check(int expected = 0, int line = __builtin_LINE()) const {
    for (const int value : read()) require(value == expected, "the info of a function", line);
  }
};

template <class T>
struct Room : DeviceArray<T> {
  Room() : DeviceArray<T>(1000) {}
  static constexpr int kSize = 1000;
};

template <class T>
void check_lu(int m, int n, bool pivots) {
  using F = Of<T>;
  Matrix a = random_matrix<T>(m, n);
  for (int i = 0; i < std::min(m, n) && !pivots; ++i) a.at(i, i) += 8;
  const Device<T> factors(a);
  const DeviceArray<int> rows(std::min(m, n));
  const Info info;
  int size = 0;
  status(F::getrf_room(handle, m, n, factors.get(), factors.ld, &size));
  const DeviceArray<T> work(size);
  int* const order = pivots ? rows.get() : nullptr;
  status(F::getrf(handle, m, n, factors.get(), factors.ld, work.get(), order, info.get()));
  info.check();
  const int least = std::min(m, n);
  Matrix exchanged = a;
  const auto swaps = rows.read();
  for (int i = 0; i < least && pivots; ++i)
    for (int j = 0; j < n; ++j) std::swap(exchanged.at(i, j), exchanged.at(swaps[i] - 1, j));
  Matrix l = part(factors.read(), m, least, [](int i, int j) { return i > j; });
  for (int i = 0; i < least; ++i) l.at(i, i) = 1;
  close<T>(l * upper(factors.read(), least), exchanged, "L U");
  if (m != n) return;
  const Matrix b = random_matrix<T>(n, 3);
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    const Device<T> x(b);
    status(F::getrs(handle, op, n, 3, factors.get(), factors.ld, order, x.get(), x.ld, info.get()));
    info.check();
    close<T>((op == CUBLAS_OP_N ? a : transposed(a, op == CUBLAS_OP_C)) * x.read(), b, "A X");
  }
  // With 64 bits.
  const Device<T> again(a), x(b);
  const DeviceArray<std::int64_t> wide(n);
  status(cusolverDnXgetrf(handle, nullptr, n, n, F::kType, again.get(), again.ld,
                          pivots ? wide.get() : nullptr, F::kType, nullptr, 0, nullptr, 0,
                          info.get()));
  status(cusolverDnXgetrs(handle, nullptr, CUBLAS_OP_N, n, 3, F::kType, again.get(), again.ld,
                          pivots ? wide.get() : nullptr, F::kType, x.get(), x.ld, info.get()));
  info.check();
  close<T>(a * x.read(), b, "A X with 64 bits");
}

template <class T>
void check_cholesky(cublasFillMode_t uplo) {
  using F = Of<T>;
  constexpr int n = 9;
  const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
  const auto inside = [=](int i, int j) { return lower ? i >= j : i <= j; };
  const Matrix a = hermitian<T>(n, 12);
  Matrix half = part(a, n, n, inside);  // of the other triangle nothing is read or written
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (!inside(i, j)) half.at(i, j) = 55;
  const auto check_other = [&](const Matrix& m) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) require(inside(i, j) || m.at(i, j) == 55.0, "the other triangle");
  };
  const Device<T> factor(half);
  const Room<T> work;
  const Info info;
  status(F::potrf(handle, uplo, n, factor.get(), factor.ld, work.get(), work.kSize, info.get()));
  info.check();
  const Matrix c = part(factor.read(), n, n, inside);
  check_other(factor.read());
  close<T>(lower ? c * transposed(c) : transposed(c) * c, a, "L L^H");
  const Matrix b = random_matrix<T>(n, 2);
  const Device<T> x(b);
  status(F::potrs(handle, uplo, n, 2, factor.get(), factor.ld, x.get(), x.ld, info.get()));
  close<T>(a * x.read(), b, "A X by Cholesky");
  status(F::potri(handle, uplo, n, factor.get(), factor.ld, work.get(), work.kSize, info.get()));
  info.check();
  check_other(factor.read());
  Matrix inverse = part(factor.read(), n, n, inside);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (!inside(i, j)) inverse.at(i, j) = std::conj(inverse.at(j, i));
  close<T>(a * inverse, unit(n), "A and its inverse");
  // A batch, and one that is not positive definite.
  Matrix indefinite = a;
  indefinite.at(4, 4) = -1;
  const Device<T> first(a), second(indefinite), right(b);
  const Info infos(2);
  const DeviceArray<T*> both(std::vector<T*>{first.get(), second.get()}),
      rights(std::vector<T*>{right.get()});
  status(F::potrf_batch(handle, uplo, n, both.get(), first.ld, infos.get(), 2));
  require(infos.read() == std::vector<int>{0, 5}, "the info of a batch");
  status(F::potrs_batch(handle, uplo, n, 1, both.get(), first.ld, rights.get(), right.ld,
                        info.get(), 1));
  close<T>(a * first_columns(right.read(), 1), first_columns(b, 1), "A X of a batch");
}

template <class T>
void check_qr(int m, int n) {
  using F = Of<T>;
  const Matrix a = random_matrix<T>(m, n);
  const int k = std::min(m, n);
  const Device<T> factors(a);
  const DeviceArray<T> tau(k);
  const Room<T> work;
  const Info info;
  status(F::geqrf(handle, m, n, factors.get(), factors.ld, tau.get(), work.get(), work.kSize,
                  info.get()));
  info.check();
  const Matrix r = upper(factors.read(), k);
  const Device<T> product(a);
  status(F::ormqr(handle, CUBLAS_SIDE_LEFT, kComplex<T> ? CUBLAS_OP_C : CUBLAS_OP_T, m, n, k,
                  factors.get(), factors.ld, tau.get(), product.get(), product.ld, work.get(),
                  work.kSize, info.get()));
  info.check();
  close<T>(product.read(), upper(factors.read(), m), "Q^H A");
  if (m < n) return;
  status(F::orgqr(handle, m, k, k, factors.get(), factors.ld, tau.get(), work.get(), work.kSize,
                  info.get()));
  info.check();
  const Matrix q = factors.read();
  close<T>(q * r, a, "Q R");
  close<T>(transposed(q) * q, unit(n), "Q^H Q");
}

template <class T>
void check_singular_values(int m, int n) {
  using F = Of<T>;
  using Real = typename F::Real;
  const Matrix a = random_matrix<T>(m, n);
  const int least = std::min(m, n);
  const Room<T> work;
  const Info info;
  gesvdjInfo_t jacobi;
  status(cusolverDnCreateGesvdjInfo(&jacobi));
  std::vector<Real> expected;
  for (const bool economy : {false, true}) {
    const Device<T> from(a), u(m, economy ? least : m), v(n, economy ? least : n);
    const DeviceArray<Real> s(least);
    status(F::gesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, economy, m, n, from.get(), from.ld, s.get(),
                     u.get(), u.ld, v.get(), v.ld, work.get(), work.kSize, info.get(), jacobi));
    info.check();
    expected = s.read();
    require(std::ranges::is_sorted(expected, std::greater<>()), "the order of singular values");
    close<T>(u.read() * diagonal(expected, u.cols, v.cols) * transposed(v.read()), a, "U S V^H");
    close<T>(transposed(v.read()) * v.read(), unit(v.cols), "V^H V");
  }
  status(cusolverDnDestroyGesvdjInfo(jacobi));
  // The first two, in a batch of two matrices.
  const Device<T> pair(m, 2 * n), u(m, 4), v(n, 4);
  for (int i = 0; i < 2; ++i)
    require(cudaMemcpy(pair.get() + i * n * pair.ld, Device<T>(a).get(), sizeof(T) * n * pair.ld,
                       cudaMemcpyDeviceToDevice));
  const DeviceArray<Real> s(4);
  const Info infos(2);
  double norms[2] = {};
  status(F::gesvda(handle, CUSOLVER_EIG_MODE_VECTOR, 2, m, n, pair.get(), pair.ld, n * pair.ld,
                   s.get(), 2, u.get(), u.ld, 2 * u.ld, v.get(), v.ld, 2 * v.ld, work.get(),
                   work.kSize, infos.get(), norms, 2));
  infos.check();
  double rest = 0;
  for (int i = 2; i < least; ++i) rest = std::hypot(rest, expected[i]);
  require(std::abs(norms[1] - rest) <= 1e-4, "the norm of what is left over");
  const Matrix second = part(u.read(), m, 4, [](int, int j) { return j >= 2; });
  close<T>(diagonal(s.read(), 4, 4),
           diagonal(std::vector{expected[0], expected[1], expected[0], expected[1]}, 4, 4),
           "singular values of a batch");
  close<T>(transposed(second) * second, part(unit(4), 4, 4, [](int i, int) { return i >= 2; }),
           "U^H U of a batch");
  if (m < n) return;
  for (const char job : {'A', 'S', 'N'}) {
    const Device<T> from(a), left(m, job == 'A' ? m : n), right(n, n);
    const DeviceArray<Real> values(n);
    status(F::gesvd(handle, static_cast<signed char>(job), static_cast<signed char>(job), m, n,
                    from.get(), from.ld, values.get(), left.get(), left.ld, right.get(), right.ld,
                    work.get(), work.kSize, nullptr, info.get()));
    info.check();
    close<T>(diagonal(values.read(), n, n), diagonal(expected, n, n), "singular values");
    if (job == 'N') continue;
    close<T>(left.read() * diagonal(values.read(), left.cols, n) * right.read(), a, "U S VT");
  }
  const Device<T> from(a), left(m, n), right(n, n);
  const DeviceArray<Real> values(n);
  status(cusolverDnXgesvd(handle, nullptr, 'S', 'S', m, n, F::kType, from.get(), from.ld, F::kReal,
                          values.get(), F::kType, left.get(), left.ld, F::kType, right.get(),
                          right.ld, F::kType, nullptr, 0, nullptr, 0, info.get()));
  close<T>(left.read() * diagonal(values.read(), n, n) * right.read(), a, "U S VT with 64 bits");
}

template <class T>
void check_eigenvalues(cublasFillMode_t uplo) {
  using F = Of<T>;
  using Real = typename F::Real;
  constexpr int n = 8;
  constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
  const Matrix a = hermitian<T>(n, 0), b = hermitian<T>(n, 12);
  const Room<T> work;
  const Info info;
  const Device<T> vectors(a);
  const DeviceArray<Real> values(n);
  status(F::syevd(handle, kVectors, uplo, n, vectors.get(), vectors.ld, values.get(), work.get(),
                  work.kSize, info.get()));
  info.check();
  const auto all = values.read();
  require(std::ranges::is_sorted(all), "the order of eigenvalues");
  const Matrix v = vectors.read();
  close<T>(a * v, v * diagonal(all, n, n), "A V");
  close<T>(transposed(v) * v, unit(n), "V^H V");
  // Some of them, by their indices and by their values.
  for (const bool by_index : {true, false}) {
    const Device<T> some(a);
    int found = 0;
    status(F::syevdx(handle, kVectors, by_index ? CUSOLVER_EIG_RANGE_I : CUSOLVER_EIG_RANGE_V, uplo,
                     n, some.get(), some.ld, (all[1] + all[2]) / 2, (all[4] + all[5]) / 2, 3, 5,
                     &found, values.get(), work.get(), work.kSize, info.get()));
    require(found == 3, "the number of selected eigenvalues");
    const Matrix three = first_columns(some.read(), 3);
    close<T>(diagonal(values.read(), 3, 3), diagonal(std::vector{all[2], all[3], all[4]}, 3, 3),
             "selected eigenvalues");
    close<T>(a * three, three * diagonal(values.read(), 3, 3), "selected eigenvectors");
  }
  // A batch, and with 64 bits.
  syevjInfo_t jacobi;
  status(cusolverDnCreateSyevjInfo(&jacobi));
  const Device<T> pair(n, 2 * n);
  for (int i = 0; i < 2; ++i)
    require(cudaMemcpy(pair.get() + i * n * pair.ld, Device<T>(i == 0 ? a : b).get(),
                       sizeof(T) * n * pair.ld, cudaMemcpyDeviceToDevice));
  const DeviceArray<Real> both(2 * n);
  const Info infos(2);
  status(F::syevj_batch(handle, kVectors, uplo, n, pair.get(), pair.ld, both.get(), work.get(),
                        work.kSize, infos.get(), jacobi, 2));
  infos.check();
  status(cusolverDnDestroySyevjInfo(jacobi));
  const Device<T> wide(b);
  status(cusolverDnXsyevd(handle, nullptr, kVectors, uplo, n, F::kType, wide.get(), wide.ld,
                          F::kReal, values.get(), F::kType, nullptr, 0, nullptr, 0, info.get()));
  close<T>(b * wide.read(), wide.read() * diagonal(values.read(), n, n), "B V with 64 bits");
  auto expected = all;
  const auto of_b = values.read();
  expected.insert(expected.end(), of_b.begin(), of_b.end());
  close<T>(diagonal(both.read(), 2 * n, 2 * n), diagonal(expected, 2 * n, 2 * n),
           "eigenvalues of a batch");
  // A x = w B x and its like.
  for (const auto type : {CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3}) {
    const Device<T> x(a), right(b);
    status(F::sygvd(handle, type, kVectors, uplo, n, x.get(), x.ld, right.get(), right.ld,
                    values.get(), work.get(), work.kSize, info.get()));
    info.check();
    const Matrix w = diagonal(values.read(), n, n), y = x.read();
    if (type == CUSOLVER_EIG_TYPE_1) close<T>(a * y, b * y * w, "A x = w B x");
    if (type == CUSOLVER_EIG_TYPE_2) close<T>(a * b * y, y * w, "A B x = w x");
    if (type == CUSOLVER_EIG_TYPE_3) close<T>(b * a * y, y * w, "B A x = w x");
  }
}

template <class T>
void check_type() {
  for (const bool pivots : {true, false}) {
    check_lu<T>(7, 7, pivots);
    check_lu<T>(6, 9, pivots);
    check_lu<T>(9, 6, pivots);
  }
  check_qr<T>(9, 9);
  check_qr<T>(11, 6);
  check_qr<T>(6, 11);
  check_singular_values<T>(8, 8);
  check_singular_values<T>(11, 5);
  check_singular_values<T>(5, 11);
  for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    check_cholesky<T>(uplo);
    check_eigenvalues<T>(uplo);
  }
}

__global__ void scale(double* a, int n, double factor) {
  if (threadIdx.x < n) a[threadIdx.x] *= factor;
}

// A factorization follows the kernel before it on its stream, also in a graph, and kernels may read
// what it has written in memory that nothing else has.
void check_stream() {
  cudaStream_t stream, found;
  require(cudaStreamCreate(&stream));
  status(cusolverDnSetStream(handle, stream));
  status(cusolverDnGetStream(handle, &found));
  require(found == stream, "the stream");
  const DeviceArray<double> a(std::vector<double>{4, 2, 2, 5});
  double* const eigenvalues = allocate<double>(2);  // that nothing has written
  const DeviceArray<double> work(1000);
  const Info info;
  const auto step = [&] {
    scale<<<1, 4, 0, stream>>>(a.get(), 4, 2);
    status(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER, 2, a.get(),
                            2, eigenvalues, work.get(), 1000, info.get()));
    scale<<<1, 2, 0, stream>>>(eigenvalues, 2, 3);
  };
  step();
  require(cudaStreamSynchronize(stream));
  const double sum = download(eigenvalues, 2)[0] + download(eigenvalues, 2)[1];
  require(std::abs(sum - 54) < 1e-9, "eigenvalues between kernels");
  const std::vector<double> fresh{4, 2, 2, 5};
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step();
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&ready, graph, 0));
  for (int launch = 0; launch < 2; ++launch) {
    require(cudaMemcpy(a.get(), fresh.data(), 32, cudaMemcpyHostToDevice));
    require(cudaGraphLaunch(ready, stream));
    require(cudaStreamSynchronize(stream));
    const auto values = download(eigenvalues, 2);
    require(std::abs(values[0] + values[1] - 54) < 1e-9, "captured eigenvalues");
  }
  status(cusolverDnSetStream(handle, nullptr));
  require(cudaFree(eigenvalues));
}

void check_wrong_calls() {
  const DeviceArray<float> a(std::vector<float>{1, 2, 2, 4});
  const Info info;
  const auto factor = [&](float* data, int n, int ld) {
    return cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, data, ld, data, 4, info.get());
  };
  status(factor(a.get(), -1, 2), CUSOLVER_STATUS_INVALID_VALUE);
  status(factor(a.get(), 2, 1), CUSOLVER_STATUS_INVALID_VALUE);
  status(cusolverDnSpotrf(nullptr, CUBLAS_FILL_MODE_LOWER, 2, a.get(), 2, a.get(), 4, info.get()),
         CUSOLVER_STATUS_NOT_INITIALIZED);
  status(factor(a.get(), 2, 2));
  info.check(2);  // it is not positive definite
  status(cusolverDnSgesvd(handle, 'N', 'N', 1, 2, a.get(), 1, a.get(), nullptr, 1, nullptr, 1,
                          a.get(), 4, nullptr, info.get()),
         CUSOLVER_STATUS_INVALID_VALUE);
  if (dlsym(RTLD_DEFAULT, "vgpuDeviceName") == nullptr) return;  // hardware answers otherwise
  float host[4] = {1, 0, 0, 1};
  status(factor(host, 2, 2), CUSOLVER_STATUS_EXECUTION_FAILED);
  status(cusolverDnXpotrf(handle, nullptr, CUBLAS_FILL_MODE_LOWER, 2, CUDA_R_16F, a.get(), 2,
                          CUDA_R_16F, nullptr, 0, nullptr, 0, info.get()),
         CUSOLVER_STATUS_NOT_SUPPORTED);
  status(cusolverDnXgesvdr(handle, nullptr, 'N', 'N', 2, 2, 1, 1, 1, CUDA_R_32F, a.get(), 2,
                           CUDA_R_32F, a.get(), CUDA_R_32F, nullptr, 2, CUDA_R_32F, nullptr, 2,
                           CUDA_R_32F, nullptr, 0, nullptr, 0, info.get()),
         CUSOLVER_STATUS_NOT_SUPPORTED);
}

}  // namespace

int main() {
  status(cusolverDnCreate(&handle));
  check_type<float>();
  check_type<double>();
  check_type<cuComplex>();
  check_type<cuDoubleComplex>();
  check_stream();
  check_wrong_calls();
  status(cusolverDnDestroy(handle));
  std::puts("right");
}
