// SPDX-License-Identifier: Apache-2.0
// The largest error of a product whose operands are sums of words, and of IEEE SGEMM: what
// verification holds results to, and what the choice between them rests on. docs/verification.md
// derives both.
#pragma once
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ladder {

// n roundings of unit u: n u / (1 - n u) (Higham 2002, lemma 3.1); infinite where n u >= 1.
inline double gamma(double n, double u) {
  return n * u < 1 ? n * u / (1 - n * u) : std::numeric_limits<double>::infinity();
}

// Relative to |alpha| (|A||B|)_ij, for k products, alpha and beta included.
inline double ieee_error(double k) { return gamma(k + 2, 0x1p-24); }

// How an operand's words stand for it: products of words, and relative to an element, the largest
// error of the sum of its words, of its second word, and of the products that are left out, all
// rounded to nearest. `floor` is the largest error that words of a short exponent add, relative to
// the line's largest element.
struct WordModel {
  int products;
  double operand, second, dropped, floor;
  int promoted;  // k of a sum that the tensor core adds alone
  int group;     // of them, that it adds at once
};

inline WordModel words_of(Precision precision) {
  // A line's largest element is scaled to at least 2^14 for fp16, whose last bit is 2^-24, and to
  // at least 1 for the others, for which nothing below 2^-126 is relied on.
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

struct SplitError {
  double products;  // relative to |alpha| (|A||B|)_ij
  double floor;     // relative to |alpha| (max|a_i| sum|b_j| + sum|a_i| max|b_j|)
};

// Operands, what is left out, sums in the tensor core, promotion, alpha and beta, for k products.
inline SplitError split_error(Precision precision, double k) {
  constexpr double kCut =
      0x1p-23;  // that the tensor core cuts off one of the terms that it adds at once
  constexpr double kUnit = 0x1p-24;
  const WordModel w = words_of(precision);
  const double split = (1 + w.operand) * (1 + w.operand) - 1 + w.dropped;
  const double depth = std::min<double>(k, w.promoted), terms = std::min<double>(k, w.group);
  const double steps = std::ceil(depth / w.group);
  // A step adds `terms` products to a sum. Those of small words come first, while the sum is small.
  const double small = 2 * w.second + w.second * w.second;
  const double core = steps * (terms + 2) * kCut * (1 + small) * (1 + (w.products - 1) * 2 * small);
  const double promotions = 2 * std::ceil(k / w.promoted) + 1;  // parts of k, too, are added
  // Both lines' small elements together, and all factors above, are far below a hundredth of the
  // floor.
  return {(1 + split) * (1 + core) * (1 + gamma(promotions + 2, kUnit)) - 1, 1.01 * w.floor};
}

}  // namespace ladder
