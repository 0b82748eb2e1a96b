// SPDX-License-Identifier: Apache-2.0
#include "fft/transform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vgpu::fft {
namespace {

constexpr std::size_t kMostFactor = 64;  // larger prime factors take Bluestein's algorithm

// Without the standard's treatment of infinite factors.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex root(std::size_t k, std::size_t length) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
  return {std::cos(angle), std::sin(angle)};
}

// 4, or else the least prime factor.
std::size_t factor_of(std::size_t length) {
  if (length % 4 == 0) return 4;
  if (length == 1) return 1;
  std::size_t factor = 2;
  while (length % factor != 0) factor = factor * factor > length ? length : factor + 1;
  return factor;
}

std::size_t largest_factor(std::size_t length) {
  std::size_t largest = 1;
  while (length > 1) {
    largest = std::max(largest, factor_of(length));
    length /= factor_of(length);
  }
  return largest;
}

}  // namespace

Transform::Transform(std::size_t length) : length_(length) {
  if (largest_factor(length) <= kMostFactor) {
    for (std::size_t k = 0; k < length; ++k) roots_.push_back(root(k, length));
    return;
  }
  std::size_t wide = 1;
  while (wide < 2 * length - 1) wide *= 2;
  wide_ = std::make_unique<Transform>(wide);
  std::vector<Complex> kernel(wide);
  for (std::size_t k = 0; k < length; ++k) {
    chirp_.push_back(root(k * k % (2 * length), 2 * length));
    kernel[k] = kernel[(wide - k) % wide] = std::conj(chirp_[k]);
  }
  kernel_.resize(wide);
  wide_->forward(kernel.data(), 1, kernel_.data());
}

void Transform::forward(const Complex* in, std::size_t stride, Complex* out) const {
  if (wide_)
    convolve(in, stride, out);
  else
    step(length_, in, stride, out);
}

// Decimation in time: `factor` transforms of every factor-th element, then their combination.
void Transform::step(std::size_t length, const Complex* in, std::size_t stride,
                     Complex* out) const {
  const std::size_t factor = factor_of(length), part = length / factor, turn = length_ / length;
  for (std::size_t r = 0; r < factor; ++r) {
    if (part == 1)
      out[r] = in[r * stride];
    else
      step(part, in + r * stride, stride * factor, out + r * part);
  }
  const auto twiddled = [&](std::size_t r, std::size_t k) {
    return product(out[r * part + k], roots_[r * k * turn]);
  };
  if (factor == 4) {
    for (std::size_t k = 0; k < part; ++k) {
      const Complex first = out[k], second = twiddled(1, k), third = twiddled(2, k),
                    fourth = twiddled(3, k), even = first + third, odd = second + fourth,
                    apart = first - third, d = second - fourth, quarter{d.imag(), -d.real()};
      out[k] = even + odd;
      out[part + k] = apart + quarter;
      out[2 * part + k] = even - odd;
      out[3 * part + k] = apart - quarter;
    }
    return;
  }
  Complex terms[kMostFactor];
  for (std::size_t k = 0; k < part; ++k) {
    for (std::size_t r = 0; r < factor; ++r) terms[r] = twiddled(r, k);
    for (std::size_t q = 0; q < factor; ++q) {
      Complex sum = terms[0];
      for (std::size_t r = 1; r < factor; ++r)
        sum += product(terms[r], roots_[r * q % factor * (length_ / factor)]);
      out[q * part + k] = sum;
    }
  }
}

void Transform::convolve(const Complex* in, std::size_t stride, Complex* out) const {
  const std::size_t wide = kernel_.size();
  std::vector<Complex> values(wide), spectrum(wide);
  for (std::size_t k = 0; k < length_; ++k) values[k] = product(in[k * stride], chirp_[k]);
  wide_->forward(values.data(), 1, spectrum.data());
  // The conjugate's transform is the inverse of the conjugate, but for the factor.
  for (std::size_t k = 0; k < wide; ++k) spectrum[k] = std::conj(product(spectrum[k], kernel_[k]));
  wide_->forward(spectrum.data(), 1, values.data());
  for (std::size_t k = 0; k < length_; ++k)
    out[k] = product(std::conj(values[k]), chirp_[k]) / static_cast<double>(wide);
}

}  // namespace vgpu::fft
