// SPDX-License-Identifier: Apache-2.0
// Shared by the test programs of cuBLAS's functions of small matrices: numbers in managed memory,
// batches of random matrices, and functions by the type of their elements.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "blas.hpp"

namespace {

using Z = std::complex<double>;

cublasHandle_t handle;

void done() { require(cudaDeviceSynchronize()); }
void near(Z got, Z want, const char* what) {
  require(std::abs(got - want) <= 1e-4 * (1 + std::abs(want)), what);
}

// Managed memory, which host and device address alike.
template <class T>
struct Array {
  T* data = nullptr;
  int n;
  explicit Array(int count) : n(count) {
    require(cudaMallocManaged(&data, sizeof(T) * static_cast<std::size_t>(n)));
  }
  Array(std::initializer_list<T> values) : Array(static_cast<int>(values.size())) {
    std::copy(values.begin(), values.end(), data);
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T& operator[](int i) { return data[i]; }
  operator T*() { return data; }
};

// Calls S, D, C or Z's function by the element's type.
#define BY_TYPE(NAME)                                \
  template <class W, class... A>                     \
  cublasStatus_t NAME(W, A&&... a) {                 \
    if constexpr (std::is_same_v<W, float>)          \
      return cublasS##NAME(handle, a...);            \
    else if constexpr (std::is_same_v<W, double>)    \
      return cublasD##NAME(handle, a...);            \
    else if constexpr (std::is_same_v<W, cuComplex>) \
      return cublasC##NAME(handle, a...);            \
    else                                             \
      return cublasZ##NAME(handle, a...);            \
  }

template <class C>
struct Number {
  using Standard = C;
};
template <>
struct Number<cuComplex> {
  using Standard = std::complex<float>;
};
template <>
struct Number<cuDoubleComplex> {
  using Standard = std::complex<double>;
};

// A batch of matrices of cuBLAS's type C, column after column.
template <class C>
struct Batch {
  using W = typename Number<C>::Standard;
  static constexpr int kCount = 3;
  int rows, columns, ld;
  Array<C> all;
  Array<C*> pointers{kCount};
  std::vector<W> before;

  Batch(int r, int c, int padding) : rows(r), columns(c), ld(r + padding), all(kCount * ld * c) {
    for (int i = 0; i < all.n; ++i) {
      if constexpr (std::is_arithmetic_v<W>)
        all[i] = static_cast<W>(uniform());
      else
        all[i] = {static_cast<typename W::value_type>(uniform()),
                  static_cast<typename W::value_type>(uniform())};
    }
    for (int b = 0; b < kCount; ++b) {
      pointers[b] = all + b * ld * c;
      for (int i = 0; i < std::min(r, c); ++i) at(b, i, i) += W(8);  // far from singular
    }
    before.assign(reinterpret_cast<W*>(all.data), reinterpret_cast<W*>(all.data) + all.n);
  }
  W& at(int b, int i, int j) { return reinterpret_cast<W*>(pointers[b])[j * ld + i]; }
  W was(int b, int i, int j) const { return before[(b * columns + j) * ld + i]; }
};

template <class W>
W turned(W value) {
  if constexpr (std::is_arithmetic_v<W>)
    return value;
  else
    return std::conj(value);
}

}  // namespace
