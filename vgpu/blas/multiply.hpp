// SPDX-License-Identifier: Apache-2.0
// C = A B for column-major matrices, of which C is packed, by the host's BLAS where there is one.
#pragma once
#include <complex>
#include <cstdint>

namespace vgpu::blas {

template <class W>
struct Factor {
  const W* data;
  std::int64_t ld;
};

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Factor<float> a, Factor<float> b,
              float* c);
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Factor<double> a, Factor<double> b,
              double* c);
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Factor<std::complex<float>> a,
              Factor<std::complex<float>> b, std::complex<float>* c);
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Factor<std::complex<double>> a,
              Factor<std::complex<double>> b, std::complex<double>* c);

}  // namespace vgpu::blas
