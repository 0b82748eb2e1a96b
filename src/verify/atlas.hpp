// SPDX-License-Identifier: Apache-2.0
// Accuracy of kernels on different kinds of data: errors of every element against FP64, in the
// customary measures. This is a measurement, not a verdict; docs/verification.md has the bounds.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <array>
#include <cstdint>
#include <span>

#include "verify/reference.hpp"

namespace ladder {

enum class Distribution : std::uint8_t {
  kUniform,   // [-1, 1)
  kPositive,  // [0, 1): truncation errors have one sign and add up
  kNormal,    // mean 0, deviation 1
  // (u - 1/2) exp(phi g) with u uniform in [0, 1), g normal, phi = 1: the test data of Ozaki's
  // schemes
  kSpread1,
  kSpread2,     // phi = 2
  kSpread4,     // phi = 4
  kGraded,      // columns of A grow by 2^40 over k, rows of B shrink by as much
  kCancelling,  // neighbouring products along k cancel up to one part in 2^10
};
std::span<const Distribution> distributions();
const char* to_string(Distribution distribution);

// Returns row-major operands without transposition; C is unset. `problem` must be of that form.
Images draw(const Problem& problem, Distribution distribution, std::uint64_t seed);

struct AtlasErrors {
  double normwise = 0;       // Frobenius norm of C - R over that of R
  double componentwise = 0;  // largest |C - R| / (|A||B|)
  double median = 0;         // of |C - R| / |R|
  double largest = 0;        // of |C - R| / |R|
  // Numbers of elements by |C - R| in ulps of R rounded to binary32: at most 1/2, 1, 2, 4, 8, 16,
  // 64, and more.
  static constexpr std::array<double, 7> kUlps{0.5, 1, 2, 4, 8, 16, 64};
  std::array<std::uint64_t, 8> ulps{};
  std::uint64_t not_finite = 0;  // elements of C that are not finite where R is
};

// `c` is m x n, dense. Pure.
AtlasErrors errors_of(const Problem& problem, const Reference& reference, std::span<const float> c);

// Runs the kernel on the images and compares. Errors: kOutOfMemory, kLaunchFailed, or the kernel's
// reason for refusing the problem.
Result<AtlasErrors> measure_errors(const KernelInfo& kernel, const Problem& problem,
                                   const Images& images, const Reference& reference,
                                   const Device& device);

}  // namespace ladder
