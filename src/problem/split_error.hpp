// SPDX-License-Identifier: Apache-2.0
// Error bounds of products with split operands and of IEEE SGEMM. Verification checks results
// against them, and the guard selects a kernel by them. docs/verification.md derives both.
#pragma once
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ladder {

// Bound for n roundings of unit roundoff u: n u / (1 - n u) (Higham 2002, lemma 3.1); infinite if n
// u >= 1.
inline double gamma(double n, double u) {
  return n * u < 1 ? n * u / (1 - n * u) : std::numeric_limits<double>::infinity();
}

// Relative to |alpha| (|A||B|)_ij, for k products; includes the roundings of alpha and beta.
inline double ieee_error(double k) { return gamma(k + 2, 0x1p-24); }

// The error model of a split. `products` is the number of products of terms. The following are
// relative to an element, with all terms rounded to nearest: `operand` is the largest error of the
// sum of its terms, `second` the largest magnitude of its second term, `dropped` that of the
// products that are left out. `floor` is the largest error from the narrow exponent range of the
// terms, relative to the largest element of the row of op(A) or column of op(B).
struct WordModel {
  int products;
  double operand, second, dropped, floor;
  int promoted;  // k-extent of a partial sum between two promotions
  int group;     // k-extent of one tensor-core accumulation step
};

constexpr WordModel words_of(Precision precision) {
  // The split pre-pass scales the largest element of a row of op(A) or column of op(B) to at least
  // 2^14 for fp16, whose least significant bit is 2^-24. For the other types it is at least 1, and
  // the model assumes nothing about numbers below 2^-126.
  constexpr double kFp16 = 0x1p-25 / 0x1p14, kWide = 0x1p-125;
  switch (precision) {
    case Precision::kFp16x3: return {3, 0x1p-23, 0x1p-11, 0x1p-22, kFp16, 64, 16};
    case Precision::kTf32x3: return {3, 0x1p-23, 0x1p-11, 0x1p-22, kWide, 32, 8};
    case Precision::kBf16x3: return {3, 0x1p-17, 0x1p-8, 0x1p-16, kWide, 64, 16};
    case Precision::kBf16x6: return {6, 0, 0x1p-8, 2 * 0x1p-25 + 0x1p-34, kWide, 32, 16};
    default:  // kBf16x9
      return {9, 0, 0x1p-8, 0, kWide, 32, 16};
  }
}

struct SplitError {
  double products;  // relative to |alpha| (|A||B|)_ij
  double floor;     // relative to |alpha| (max|a_i| sum|b_j| + sum|a_i| max|b_j|)
};

// Combines the errors of the split, the dropped products, the tensor core's sums, promotion, alpha
// and beta, for k products.
inline SplitError split_error(Precision precision, double k) {
  constexpr double kCut =
      0x1p-23;  // largest truncation error per term of one tensor-core accumulation
  constexpr double kUnit = 0x1p-24;
  const WordModel w = words_of(precision);
  const double split = (1 + w.operand) * (1 + w.operand) - 1 + w.dropped;
  const double depth = std::min<double>(k, w.promoted), terms = std::min<double>(k, w.group);
  const double steps = std::ceil(depth / w.group);
  // A step adds `terms` products to a sum. Products of second terms come first, while the sum is
  // small.
  const double small = 2 * w.second + w.second * w.second;
  const double core = steps * (terms + 2) * kCut * (1 + small) * (1 + (w.products - 1) * 2 * small);
  const double promotions = 2 * std::ceil(k / w.promoted) + 1;  // + 1: k-splits are added, too
  // The exact floor has further factors: the small elements of both operands together, and the
  // errors above. All of them add far less than 1%.
  return {(1 + split) * (1 + core) * (1 + gamma(promotions + 2, kUnit)) - 1, 1.01 * w.floor};
}

}  // namespace ladder
