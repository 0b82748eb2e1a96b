// SPDX-License-Identifier: Apache-2.0
// How accurate kernels are, over kinds of data: errors against FP64 of every element, in the
// measures by which people compare. No verdict: docs/verification.md has the bounds, this has what
// happens.
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
  kPositive,  // [0, 1): what truncation takes adds up
  kNormal,    // mean 0, deviation 1
  // (u - 1/2) exp(phi g), u uniform in [0, 1), g normal, phi = 1: as Ozaki's schemes are tested
  kSpread1,
  kSpread2,  // phi = 2
  kSpread4,  // phi = 4
  kGraded,   // columns of A grow by 2^40 over k, rows of B shrink: tiny meets huge in every product
  kCancelling,  // each two products of neighbours in k cancel but for one part in 2^10
};
std::span<const Distribution> distributions();
const char* to_string(Distribution distribution);

// Row-major operands without transposition, C unset. `problem` is such a one.
Images draw(const Problem& problem, Distribution distribution, std::uint64_t seed);

struct AtlasErrors {
  double normwise = 0;       // Frobenius norm of C - R over that of R
  double componentwise = 0;  // largest |C - R| / (|A||B|)
  double median = 0;         // of |C - R| / |R|
  double largest = 0;        // of the same
  // Elements by their distance from R in units of the last place of R rounded to binary32: at most
  // 1/2, 1, 2, 4, 8, 16, 64, more.
  static constexpr std::array<double, 7> kUlps{0.5, 1, 2, 4, 8, 16, 64};
  std::array<std::uint64_t, 8> ulps{};
  std::uint64_t not_finite = 0;  // where R is
};

// `c` is m x n, dense. Pure.
AtlasErrors errors_of(const Problem& problem, const Reference& reference, std::span<const float> c);

// Runs the kernel on the images and compares. Errors: kOutOfMemory, kLaunchFailed, or why the
// kernel refuses.
Result<AtlasErrors> measure_errors(const KernelInfo& kernel, const Problem& problem,
                                   const Images& images, const Reference& reference,
                                   const Device& device);

}  // namespace ladder
