// SPDX-License-Identifier: Apache-2.0
// C = A B for packed column-major matrices, by the host's BLAS where there is one.
#pragma once
#include <complex>
#include <cstdint>

namespace vgpu::blas {

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
              float* c);
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b,
              double* c);
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const std::complex<float>* a,
              const std::complex<float>* b, std::complex<float>* c);
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const std::complex<double>* a,
              const std::complex<double>* b, std::complex<double>* c);

}  // namespace vgpu::blas
