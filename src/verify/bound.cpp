// SPDX-License-Identifier: Apache-2.0
#include "verify/bound.hpp"

#include <fmt/format.h>

#include <cmath>

#include "operands/encode.hpp"

namespace ladder {
namespace {

constexpr double kUnit32 = 0x1p-24;   // unit roundoff of binary32
constexpr double kUnit64 = 0x1p-53;   // unit roundoff of binary64, for the reference's own error
constexpr double kTf32Cut = 0x1p-10;  // operands truncated or rounded to 10 explicit mantissa bits
constexpr double kTensorUnit = 0x1p-22;  // a tensor core's aligned, truncating sum, per term
// Products of bytes: aligned to the largest summand and cut after 13 fraction bits. A wgmma adds 32
// of them to the sum; 128 elements of k, which share their scales, take four.
constexpr double kByteSum = (32 + 2) * 0x1p-13;
constexpr double kSubnormal = 0x1p-149;

}  // namespace

Result<ErrorBound> error_bound(const Problem& problem, Precision precision) {
  const double k = static_cast<double>(problem.k);
  const double reference = gamma(k + 3, kUnit64);
  ErrorBound bound;
  switch (precision) {
    case Precision::kIeee:
    case Precision::kAuto:  // kAuto promises the bound of kIeee
      bound.products = ieee_error(k) + reference;
      break;
    case Precision::kBf16:
    case Precision::kFp16:  // products of 16-bit numbers are exact
      bound.products = (1 + gamma(k, kTensorUnit)) * (1 + gamma(2, kUnit32)) - 1 + reference;
      break;
    case Precision::kFp8: {
      // Rounded: the scales' product, its product with the sum, the additions of promotion, alpha;
      // and the reference's operands.
      const double blocks = std::ceil(k / static_cast<double>(kScaleBlock));
      bound.products = std::pow(1 + kByteSum, 4) * (1 + gamma(blocks + 6, kUnit32)) - 1 + reference;
      break;
    }
    case Precision::kTf32: {
      const double operands = (1 + kTf32Cut) * (1 + kTf32Cut);
      bound.products =
          operands * (1 + gamma(k, kTensorUnit)) * (1 + gamma(2, kUnit32)) - 1 + reference;
      break;
    }
    case Precision::kTf32x3:
    case Precision::kBf16x3:
    case Precision::kBf16x6:
    case Precision::kBf16x9:
    case Precision::kFp16x3: {
      const SplitError split = split_error(precision, k);
      bound.products = split.products + reference;
      bound.floor = split.floor;
      break;
    }
  }
  bound.c = gamma(3, kUnit32);
  // One rounding to a subnormal for each product, one for alpha times the sum, one for beta c.
  bound.underflow = (std::abs(static_cast<double>(problem.alpha)) * k + 2) * kSubnormal;
  if (problem.out != Type::kF32) {
    bound.result = unit_of(problem.out);
    bound.least = half_subnormal_of(problem.out);
  }
  if (!std::isfinite(bound.products)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("k = {}: the sum has so many roundings that no error bound holds in {}",
                    problem.k, to_string(precision)));
  }
  return bound;
}

ErrorBound rounded_twice(ErrorBound bound, const Problem& problem) {
  if (!reads_c(problem)) return bound;
  bound.products += bound.result * (1 + bound.products);
  bound.underflow += bound.least;
  return bound;
}

}  // namespace ladder
