// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of one length, in double precision.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace vgpu::fft {

using Complex = std::complex<double>;

class Transform {
 public:
  explicit Transform(std::size_t length);
  // out[k]: the sum of in[i * stride] exp(-2 pi i k / length). Does not change `in`.
  void forward(const Complex* in, std::size_t stride, Complex* out) const;

 private:
  void step(std::size_t length, const Complex* in, std::size_t stride, Complex* out) const;
  void convolve(const Complex* in, std::size_t stride, Complex* out) const;

  std::size_t length_;
  std::vector<Complex> roots_;  // exp(-2 pi i k / length)
  // For lengths with large prime factors, Bluestein's algorithm: a convolution of a power of two.
  std::unique_ptr<Transform> wide_;
  std::vector<Complex> chirp_, kernel_;  // exp(-pi i k^2 / length); the transform of its conjugate
};

}  // namespace vgpu::fft
