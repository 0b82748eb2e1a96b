// SPDX-License-Identifier: Apache-2.0
#include "blas/multiply.hpp"

#include <algorithm>
#include <limits>
#ifdef VGPU_OPENBLAS
#include <cblas.h>
#endif

namespace vgpu::blas {
namespace {

template <class W>
void by_loop(std::int64_t m, std::int64_t n, std::int64_t k, const W* a, const W* b, W* c) {
  std::fill_n(c, m * n, W{0});
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t l = 0; l < k; ++l) {
      const W factor = b[j * k + l];
      for (std::int64_t i = 0; i < m; ++i) c[j * m + i] += a[l * m + i] * factor;
    }
  }
}

#ifdef VGPU_OPENBLAS
bool fits(std::int64_t m, std::int64_t n, std::int64_t k) {
  return m != 0 && n != 0 && k != 0 && std::max({m, n, k}) <= std::numeric_limits<blasint>::max();
}

// The arguments from the layout to lda, and so on, which all types have in common.
template <class Function, class W, class Number>
void by_blas(Function function, std::int64_t m, std::int64_t n, std::int64_t k, Number one,
             const W* a, const W* b, Number zero, W* c) {
  const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
  function(CblasColMajor, CblasNoTrans, CblasNoTrans, size(m), size(n), size(k), one, a, size(m), b,
           size(k), zero, c, size(m));
}
#endif

}  // namespace

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
              float* c) {
#ifdef VGPU_OPENBLAS
  if (fits(m, n, k)) return by_blas(cblas_sgemm, m, n, k, 1.0f, a, b, 0.0f, c);
#endif
  by_loop(m, n, k, a, b, c);
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b,
              double* c) {
#ifdef VGPU_OPENBLAS
  if (fits(m, n, k)) return by_blas(cblas_dgemm, m, n, k, 1.0, a, b, 0.0, c);
#endif
  by_loop(m, n, k, a, b, c);
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const std::complex<float>* a,
              const std::complex<float>* b, std::complex<float>* c) {
#ifdef VGPU_OPENBLAS
  const std::complex<float> one = 1, zero = 0;
  if (fits(m, n, k))
    return by_blas(cblas_cgemm, m, n, k, static_cast<const void*>(&one), a, b,
                   static_cast<const void*>(&zero), c);
#endif
  by_loop(m, n, k, a, b, c);
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const std::complex<double>* a,
              const std::complex<double>* b, std::complex<double>* c) {
#ifdef VGPU_OPENBLAS
  const std::complex<double> one = 1, zero = 0;
  if (fits(m, n, k))
    return by_blas(cblas_zgemm, m, n, k, static_cast<const void*>(&one), a, b,
                   static_cast<const void*>(&zero), c);
#endif
  by_loop(m, n, k, a, b, c);
}

}  // namespace vgpu::blas
