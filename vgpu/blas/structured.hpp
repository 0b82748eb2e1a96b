// SPDX-License-Identifier: Apache-2.0
// Matrices of which a triangle or a band is stored: symmetric, Hermitian, triangular, banded,
// packed.
#pragma once
#include <algorithm>

#include "blas/vectors.hpp"

namespace vgpu::blas {

enum class Storage { kFull, kBanded, kPacked };

// A square matrix of which the triangle `fill` is stored. `k`: diagonals beside the main one of a
// banded matrix.
template <class W>
struct Triangle {
  W* data = nullptr;
  std::int64_t n = 0, ld = 1, k = 0;
  Storage storage = Storage::kFull;
  cublasFillMode_t fill = CUBLAS_FILL_MODE_LOWER;

  bool lower() const { return fill == CUBLAS_FILL_MODE_LOWER; }
  bool holds(std::int64_t i, std::int64_t j) const {
    return (lower() ? i >= j : i <= j) &&
           (storage != Storage::kBanded || (lower() ? i - j : j - i) <= k);
  }
  // One that is held.
  W& at(std::int64_t i, std::int64_t j) const {
    switch (storage) {
      case Storage::kBanded: return data[j * ld + (lower() ? i - j : k + i - j)];
      case Storage::kPacked:
        return data[lower() ? i + j * (2 * n - j - 1) / 2 : i + j * (j + 1) / 2];
      default: return data[j * ld + i];
    }
  }
  // The element of a symmetric or Hermitian matrix.
  W mirrored(std::int64_t i, std::int64_t j, bool hermitian) const {
    if (i == j && holds(i, j)) return hermitian ? W(std::real(at(i, j))) : at(i, j);
    if (holds(i, j)) return at(i, j);
    if (!holds(j, i)) return W{0};
    return hermitian ? conjugate(at(j, i)) : at(j, i);
  }
  // The element of op(T), T triangular.
  W of(cublasOperation_t op, bool unit, std::int64_t i, std::int64_t j) const {
    if (op != CUBLAS_OP_N) std::swap(i, j);
    if (i == j && unit) return W{1};
    if (!holds(i, j)) return W{0};
    return op == CUBLAS_OP_C ? conjugate(at(i, j)) : at(i, j);
  }

  std::int64_t elements() const {
    if (n == 0) return 0;
    if (storage == Storage::kPacked) return n * (n + 1) / 2;
    return (n - 1) * ld + (storage == Storage::kBanded ? k + 1 : n);
  }
  bool valid() const {
    const std::int64_t least = storage == Storage::kBanded ? k + 1 : n;
    return n >= 0 && k >= 0 && (fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER) &&
           (storage == Storage::kPacked || ld >= std::max<std::int64_t>(1, least));
  }
  bool on_device() const { return blas::on_device(data, elements(), kTypeOf<W>); }
  void mark() const {
    if (storage == Storage::kPacked) return mark_written(data, elements(), kTypeOf<W>);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = lower() ? j : 0; i < (lower() ? n : j + 1); ++i) {
        if (holds(i, j)) mark_written(&at(i, j), 1, kTypeOf<W>);
      }
    }
  }
};

template <class C>
Triangle<Number<C>> full(const C* data, cublasFillMode_t fill, std::int64_t n, std::int64_t ld) {
  return {numbers(data), n, ld, 0, Storage::kFull, fill};
}
template <class C>
Triangle<Number<C>> banded(const C* data, cublasFillMode_t fill, std::int64_t n, std::int64_t k,
                           std::int64_t ld) {
  return {numbers(data), n, ld, k, Storage::kBanded, fill};
}
template <class C>
Triangle<Number<C>> packed(const C* data, cublasFillMode_t fill, std::int64_t n) {
  return {numbers(data), n, 1, 0, Storage::kPacked, fill};
}

}  // namespace vgpu::blas
