// SPDX-License-Identifier: Apache-2.0
// What the tests of cuSOLVER share: the functions of each type, and matrices on the host, in double
// precision, and on the device.
#pragma once
#include <cusolverDn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "device_array.hpp"

using Number = std::complex<double>;
inline cusolverDnHandle_t handle;
inline cusolverDnParams_t params;

inline void status(cusolverStatus_t found, cusolverStatus_t expected = CUSOLVER_STATUS_SUCCESS,
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
inline double draw() {
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
inline Matrix random_matrix(int rows, int cols) {
  Matrix m(rows, cols);
  for (Number& value : m.values) value = {draw(), kComplex<T> ? draw() : 0};
  return m;
}
inline Matrix unit(int n) {
  Matrix m(n, n);
  for (int i = 0; i < n; ++i) m.at(i, i) = 1;
  return m;
}
inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int j = 0; j < b.cols; ++j)
    for (int k = 0; k < a.cols; ++k)
      for (int i = 0; i < a.rows; ++i) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}
inline Matrix transposed(const Matrix& m, bool conjugated = true) {
  Matrix turned(m.cols, m.rows);
  for (int j = 0; j < m.cols; ++j)
    for (int i = 0; i < m.rows; ++i)
      turned.at(j, i) = conjugated ? std::conj(m.at(i, j)) : m.at(i, j);
  return turned;
}
inline Matrix part(const Matrix& m, int rows, int cols,
                   const std::function<bool(int, int)>& inside) {
  Matrix kept(rows, cols);
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i)
      if (inside(i, j)) kept.at(i, j) = m.at(i, j);
  return kept;
}
inline Matrix upper(const Matrix& m, int rows) {
  return part(m, rows, m.cols, [](int i, int j) { return i <= j; });
}
inline Matrix first_columns(const Matrix& m, int cols) {
  return part(m, m.rows, cols, [](int, int) { return true; });
}
template <class R>
inline Matrix diagonal(const std::vector<R>& values, int rows, int cols) {
  Matrix m(rows, cols);
  for (int i = 0; i < std::min(rows, cols); ++i) m.at(i, i) = values[i];
  return m;
}
// Hermitian, and positive definite by `shift`.
template <class T>
inline Matrix hermitian(int n, double shift) {
  const Matrix m = random_matrix<T>(n, n), turned = transposed(m);
  Matrix sum = m;
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += turned.values[i];
  for (int i = 0; i < n; ++i) sum.at(i, i) += shift;
  return sum;
}

template <class T>
inline void close(const Matrix& found, const Matrix& expected, const char* what,
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

// A workspace that is large enough for every call.
inline constexpr int kRoom = 1 << 24;
inline char *room, *host_room;
template <class T>
T* work() {
  return reinterpret_cast<T*>(room);
}
template <class T>
constexpr int kSize = kRoom / sizeof(T);

// Runs the checks with a handle.
template <class Checks>
void with_handle(Checks checks) {
  status(cusolverDnCreate(&handle));
  status(cusolverDnCreateParams(&params));
  require(cudaMalloc(&room, kRoom));
  std::vector<char> host(kRoom);
  host_room = host.data();
  checks();
  require(cudaFree(room));
  status(cusolverDnDestroyParams(params));
  status(cusolverDnDestroy(handle));
  std::puts("right");
}
