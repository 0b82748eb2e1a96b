// SPDX-License-Identifier: Apache-2.0
// Products for any GPU and any strides: what the library's planned kernels do not take.
#pragma once
#include <ladder/kernel.hpp>

#include <cstdint>

namespace ladder {

// alpha and beta, on the host or, where a pointer is not null, on the device.
struct Scalars {
  float alpha = 1.0F, beta = 0.0F;
  const float *g_alpha = nullptr, *g_beta = nullptr;
};

// A batch of matrices: element (i, j) of number b is at i * row + j * col from g + b * stride, or
// from of[b] where `of` is not null.
template <class T>
struct StridedBatch {
  T* g = nullptr;
  T* const* of = nullptr;  // on the device for kernels
  std::int64_t stride = 0, row = 0, col = 0;
  // On the host, which must be able to read `of`.
  T* number(std::int64_t b) const {
    if (of != nullptr) return of[b];
    return g == nullptr ? nullptr : g + b * stride;
  }
};

// C = alpha A B + beta C for `count` products. Each element of C is one chain of additions over
// ascending k, whatever the sizes: a row's result does not depend on the number of rows.
struct StridedJob {
  StridedBatch<const float> a, b;
  StridedBatch<float> c;
  std::int64_t m = 0, n = 0, k = 0, count = 1;
  Scalars by;
};
// One product of these matrices, whose steps it sets.
StridedJob strided_job(const Problem& problem, const StridedBatch<const float>& a,
                       const StridedBatch<const float>& b, const StridedBatch<float>& c);

// Errors: kUnsupportedProblem (C has more than 2^43 elements), kLaunchFailed.
Status launch_strided(const StridedJob& job, Stream stream);

enum class Activation : std::uint8_t { kNone, kRelu, kGelu, kGeluTanh };

// C = scale activation(alpha P + beta C + bias) + residual, where P is a product that was computed
// before; without P, alpha P + beta C is what C holds.
struct FinishJob {
  const float* product = nullptr;  // row-major, one product of m x n
  StridedBatch<float> c;
  std::int64_t m = 0, n = 0, count = 1;
  Scalars by;
  const float* bias = nullptr;
  bool bias_of_column = false;
  std::int64_t bias_stride = 0;
  StridedBatch<const float> residual;
  float scale = 1.0F;
  Activation activation = Activation::kNone;
};
// Errors: kLaunchFailed.
Status launch_finish(const FinishJob& job, Stream stream);

}  // namespace ladder
