// SPDX-License-Identifier: Apache-2.0
#include "operands/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "operands/drawing.hpp"
#include "operands/encode.hpp"
#include "operands/parallel.hpp"
#include "problem/names.hpp"

namespace ladder {
namespace {

// Fills a matrix in memory: value(line, column) in the used part, `gap` in the padding between
// lines.
template <class Value>
std::vector<float> fill(const Extent& extent, float gap, const Value& value) {
  std::vector<float> image(static_cast<std::size_t>(extent.elements()));
  if (image.empty()) return image;
  parallel_for(extent.lines, kParallelGrain / std::max<std::int64_t>(1, extent.ld),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t line = begin; line < end; ++line) {
                   float* row = image.data() + line * extent.ld;
                   for (std::int64_t column = 0; column < extent.used; ++column)
                     row[column] = value(line, column);
                   if (line + 1 < extent.lines) std::fill(row + extent.used, row + extent.ld, gap);
                 }
               });
  return image;
}

}  // namespace

const char* to_string(Values values) {
  return name_of<Values::kScaled>(values, {"integers", "uniform", "scaled"});
}

namespace {

// The largest n for which the precision computes products of integers up to n exactly. Where a
// split drops products of second terms, n must fit in one term.
std::int64_t exact_integers(Precision precision) {
  switch (precision) {
    case Precision::kTf32:
    case Precision::kTf32x3:
    case Precision::kFp16x3: return 2048;
    case Precision::kBf16x3: return 256;
    case Precision::kFp8: return 4;
    default: return 4096;
  }
}

}  // namespace

Result<IntegerRange> integer_range(const Problem& problem, Precision precision) {
  const auto small_integer = [](float x) { return std::abs(x) <= 64.0F && x == std::trunc(x); };
  if (!small_integer(problem.alpha) || !small_integer(problem.beta)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "integer inputs need integer alpha and beta of at most 64 in magnitude, not {} and {}",
            problem.alpha, problem.beta));
  }
  // Half of 2^24 is for alpha times the sum of products, a quarter for beta C, so that no partial
  // result reaches 2^24. For binary16, whose largest number is 65,504, the limit is 2^16.
  // The tensor core keeps 14 significant bits of sums of 8-bit products.
  const int bits = precision == Precision::kFp8 ? 14 : problem.out == Type::kF16 ? 16 : 24;
  const std::int64_t budget = (std::int64_t{1} << (bits - 1)) /
                              std::max<std::int64_t>(1, std::llabs(std::llround(problem.alpha)));
  // The operands must be exact in their type and in the precision's terms.
  const std::int64_t most =
      std::min<std::int64_t>(exact_integers(precision), whole_numbers(problem.in));
  IntegerRange range;
  const std::int64_t k = std::max<std::int64_t>(1, problem.k);
  range.stride = (k + budget - 1) / budget;
  const std::int64_t terms = (k + range.stride - 1) / range.stride;
  const std::int64_t square = budget / terms;  // at least 1
  range.operand = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(square))), 1, most);
  range.c = std::min({std::int64_t{4096}, whole_numbers(problem.out),
                      (std::int64_t{1} << (bits - 2)) /
                          std::max<std::int64_t>(1, std::llabs(std::llround(problem.beta)))});
  return range;
}

namespace {

// Multiplies a's and b's elements, which are as in memory, by their scales.
void multiply_by_scales(Images& images, const Problem& problem) {
  const bool blocks = problem.scaling == Scaling::kBlock;
  const auto multiply = [&](std::vector<float>& image, const Extent& extent, bool by_lines,
                            const std::vector<float>& scales, const auto& scale_at) {
    parallel_for(extent.lines, kParallelGrain / std::max<std::int64_t>(1, extent.ld),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t line = begin; line < end; ++line) {
                     for (std::int64_t column = 0; column < extent.used; ++column) {
                       // (outer, k) of the element: k runs along a line or from line to line
                       const std::int64_t outer = by_lines ? line : column;
                       const std::int64_t k = by_lines ? column : line;
                       image[line * extent.ld + column] *= scales[blocks ? scale_at(outer, k) : 0];
                     }
                   }
                 });
  };
  const bool row_major = problem.layout == Layout::kRowMajor;
  multiply(images.a, extent_a(problem), row_major == (problem.op_a == Op::kNone), images.scales_a,
           [ld = extent_scales_a(problem).ld](std::int64_t row, std::int64_t k) {
             return k / kScaleBlock * ld + row;
           });
  multiply(images.b, extent_b(problem), row_major != (problem.op_b == Op::kNone), images.scales_b,
           [ld = extent_scales_b(problem).ld](std::int64_t column, std::int64_t k) {
             return column / kScaleBlock * ld + k / kScaleBlock;
           });
}

}  // namespace

std::vector<float> draw_scales(const Drawing& drawing, Matrix which, const Problem& problem) {
  const Extent extent = which == Matrix::kA ? extent_scales_a(problem) : extent_scales_b(problem);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return fill(extent, nan, [&](std::int64_t line, std::int64_t column) {
    return drawing.nan_operands() ? nan : drawing.scale(which, line, column);
  });
}

Result<Drawing> drawing_of(const Problem& problem, const Input& input, Precision precision) {
  IntegerRange range;
  if (input.values == Values::kIntegers) {
    auto derived = integer_range(problem, precision);
    if (!derived) return derived.status();
    range = derived.value();
  }
  return Drawing(problem, input, range);
}

Result<Images> make_images(const Problem& problem, const Input& input, Precision precision) {
  const auto drawn = drawing_of(problem, input, precision);
  if (!drawn) return drawn.status();
  const Drawing& drawing = drawn.value();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto operand = [&](Matrix which) {
    return [&, which](std::int64_t line, std::int64_t column) {
      return input.nan_operands ? nan : round_to(problem.in, drawing.at(which, line, column));
    };
  };
  Images images;
  images.a = fill(extent_a(problem), nan, operand(Matrix::kA));
  images.b = fill(extent_b(problem), nan, operand(Matrix::kB));
  if (problem.scaling != Scaling::kNone) {
    images.scales_a = draw_scales(drawing, Matrix::kA, problem);
    images.scales_b = draw_scales(drawing, Matrix::kB, problem);
    images.plain_a = images.a;
    images.plain_b = images.b;
    multiply_by_scales(images, problem);
  }
  images.c = fill(extent_c(problem), poison(), [&](std::int64_t line, std::int64_t column) {
    return reads_c(problem) ? round_to(problem.out, drawing.at(Matrix::kC, line, column))
                            : poison();
  });
  return images;
}

}  // namespace ladder
