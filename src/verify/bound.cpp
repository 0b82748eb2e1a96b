// SPDX-License-Identifier: Apache-2.0
#include "verify/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/encode.hpp"

namespace ladder {
namespace {

constexpr double kUnit32 = 0x1p-24;      // round to nearest in binary32
constexpr double kUnit64 = 0x1p-53;      // and in binary64: the reference's own error
constexpr double kTf32Cut = 0x1p-10;     // operands cut (or rounded) to 10 explicit bits
constexpr double kTensorUnit = 0x1p-22;  // a tensor core's aligned, truncating sum, a term
constexpr double kTensorCut = 0x1p-23;   // what it cuts off one of the terms that it adds at once
constexpr double kSubnormal = 0x1p-149;

// How an operand's words stand for it: word count and products, and relative to an element, the largest error of the sum
// of its words, of its second word, and of the products that are left out, each of which rounding to nearest gives.
// `floor` is the largest error that words of a short exponent add, relative to the line's largest element.
struct WordModel {
  int products;
  double operand, second, dropped, floor;
  int promoted;  // k of a sum that the tensor core adds alone
  int group;     // of them, that it adds at once
};

WordModel words_of(Precision precision) {
  // A line's largest element is scaled to at least 2^14 for fp16, whose last bit is 2^-24, and to at least 1 for the
  // others, for which nothing below 2^-126 is relied on.
  constexpr double kFp16 = 0x1p-25 / 0x1p14, kWide = 0x1p-125;
  switch (precision) {
    case Precision::kFp16x3:
      return {3, 0x1p-23, 0x1p-11, 0x1p-22, kFp16, 64, 16};
    case Precision::kTf32x3:
      return {3, 0x1p-23, 0x1p-11, 0x1p-22, kWide, 32, 8};
    case Precision::kBf16x3:
      return {3, 0x1p-17, 0x1p-8, 0x1p-16, kWide, 64, 16};
    case Precision::kBf16x6:
      return {6, 0, 0x1p-8, 2 * 0x1p-25 + 0x1p-34, kWide, 32, 16};
    default:  // kBf16x9
      return {9, 0, 0x1p-8, 0, kWide, 32, 16};
  }
}

// Of products |alpha| (|A||B|): operands, what is left out, sums of `promoted` products in the tensor core, promotion.
double products_bound(const WordModel& w, double k) {
  const double split = (1 + w.operand) * (1 + w.operand) - 1 + w.dropped;
  const double depth = std::min<double>(k, w.promoted), terms = std::min<double>(k, w.group);
  const double steps = std::ceil(depth / w.group);
  // A step adds `terms` products to a sum. Those of small words come first, while the sum is small.
  const double small = 2 * w.second + w.second * w.second;
  const double step = (terms + 2) * kTensorCut;
  const double core = steps * step * (1 + small) * (1 + (w.products - 1) * 2 * small);
  const double promotions = 2 * std::ceil(k / w.promoted) + 1;  // parts of k, too, are added
  return (1 + split) * (1 + core) * (1 + gamma(promotions + 2, kUnit32)) - 1;
}

}  // namespace

double gamma(double n, double u) {
  return n * u < 1 ? n * u / (1 - n * u) : std::numeric_limits<double>::infinity();
}

Result<ErrorBound> error_bound(const Problem& problem, Precision precision) {
  const double k = static_cast<double>(problem.k);
  const double reference = gamma(k + 3, kUnit64);
  ErrorBound bound;
  switch (precision) {
    case Precision::kIeee:
      bound.products = gamma(k + 2, kUnit32) + reference;
      break;
    case Precision::kBf16:
    case Precision::kFp16:  // products of 16-bit numbers are exact
      bound.products = (1 + gamma(k, kTensorUnit)) * (1 + gamma(2, kUnit32)) - 1 + reference;
      break;
    case Precision::kTf32: {
      const double operands = (1 + kTf32Cut) * (1 + kTf32Cut);
      bound.products = operands * (1 + gamma(k, kTensorUnit)) * (1 + gamma(2, kUnit32)) - 1 + reference;
      break;
    }
    case Precision::kTf32x3:
    case Precision::kBf16x3:
    case Precision::kBf16x6:
    case Precision::kBf16x9:
    case Precision::kFp16x3: {
      const WordModel words = words_of(precision);
      bound.products = products_bound(words, k) + reference;
      // Of one operand's line times the other's elements; both lines' together, and all factors above, are far below a
      // hundredth of that.
      bound.floor = 1.01 * words.floor;
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
    return Status(Code::kInvalidArgument,
                  fmt::format("k = {}: the sum has so many roundings that no error bound holds in {}",
                              problem.k, to_string(precision)));
  }
  return bound;
}

}  // namespace ladder
