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
void by_loop(std::int64_t m, std::int64_t n, std::int64_t k, Factor<W> a, Factor<W> b, W* c) {
  std::fill_n(c, m * n, W{0});
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t l = 0; l < k; ++l) {
      const W factor = b.data[j * b.ld + l];
      for (std::int64_t i = 0; i < m; ++i) c[j * m + i] += a.data[l * a.ld + i] * factor;
    }
  }
}

#ifdef VGPU_OPENBLAS
#define VGPU_GEMM(name) cblas_##name
// Real factors are passed by value, complex ones by their address.
float gemm_factor(const float& value) { return value; }
double gemm_factor(const double& value) { return value; }
template <class T>
const void* gemm_factor(const std::complex<T>& value) {
  return &value;
}
#else
#define VGPU_GEMM(name) nullptr
#endif

template <class Function, class W>
void by([[maybe_unused]] Function function, std::int64_t m, std::int64_t n, std::int64_t k,
        Factor<W> a, Factor<W> b, W* c) {
#ifdef VGPU_OPENBLAS
  const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
  const W one{1}, zero{0};
  if (m != 0 && n != 0 && k != 0 &&
      std::max({m, n, k, a.ld, b.ld}) <= std::numeric_limits<blasint>::max())
    return function(CblasColMajor, CblasNoTrans, CblasNoTrans, size(m), size(n), size(k),
                    gemm_factor(one), a.data, size(a.ld), b.data, size(b.ld), gemm_factor(zero), c,
                    size(m));
#endif
  by_loop(m, n, k, a, b, c);
}

}  // namespace

#define VGPU_MULTIPLY(W, function)                                                                \
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Factor<W> a, Factor<W> b, W* c) { \
    by(function, m, n, k, a, b, c);                                                               \
  }
VGPU_MULTIPLY(float, VGPU_GEMM(sgemm))
VGPU_MULTIPLY(double, VGPU_GEMM(dgemm))
VGPU_MULTIPLY(std::complex<float>, VGPU_GEMM(cgemm))
VGPU_MULTIPLY(std::complex<double>, VGPU_GEMM(zgemm))

}  // namespace vgpu::blas
