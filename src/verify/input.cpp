// SPDX-License-Identifier: Apache-2.0
#include "verify/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/encode.hpp"
#include "verify/parallel.hpp"

namespace ladder {
namespace {

enum Stream : std::uint64_t { kStreamA = 1, kStreamB, kStreamC, kStreamRow, kStreamColumn, kStreamInner };

std::uint64_t mix(std::uint64_t x) {  // the finalizer of SplitMix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

float uniform(std::uint64_t bits) {  // multiples of 2^-23 in [-1, 1)
  return static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (std::int64_t{1} << 23)) * 0x1p-23F;
}

// Uniform over [-limit, limit], by the high bits: limit is far below 2^32, so the bias is negligible.
float integer(std::uint64_t bits, std::int64_t limit) {
  const std::uint64_t span = static_cast<std::uint64_t>(2 * limit + 1);
  return static_cast<float>(static_cast<std::int64_t>(((bits >> 32) * span) >> 32) - limit);
}

int exponent(std::uint64_t bits, int limit) { return static_cast<int>(integer(bits, limit)); }

// Scaled inputs: |a| reaches 2^(outer + inner), |c| 2^(2 outer), and opposite products differ by one part in 1 / apart.
// Every product stays far from overflow and underflow, so that the standard model of rounding holds; binary16 has little
// room for that.
struct Scales {
  int outer, inner;
  float apart;
};
Scales scales_of(const Problem& problem) {
  if (problem.in == Type::kF16 || problem.out == Type::kF16) return {3, 6, 0x1p-8F};
  return {16, 12, problem.in == Type::kBf16 ? 0x1p-5F : 0x1p-10F};
}

class Generator {
 public:
  Generator(const Problem& problem, const Input& input, const IntegerRange& range)
      : in_(problem.in), out_(problem.out), scales_(scales_of(problem)), input_(input), range_(range) {}

  float a(std::int64_t i, std::int64_t k, std::int64_t columns) const {
    return round_to(in_, exact_a(i, k, columns));
  }
  float b(std::int64_t k, std::int64_t j, std::int64_t columns) const {
    return round_to(in_, exact_b(k, j, columns));
  }
  float c(std::int64_t i, std::int64_t j, std::int64_t columns) const {
    return round_to(out_, exact_c(i, j, columns));
  }

 private:
  float exact_a(std::int64_t i, std::int64_t k, std::int64_t columns) const {
    // Scaled: columns 2p and 2p + 1 of A are equal, so that the rows of B can make their products cancel.
    const std::int64_t source = input_.values == Values::kScaled ? k & ~std::int64_t{1} : k;
    const std::uint64_t bits = draw(kStreamA, i * columns + source);
    switch (input_.values) {
      case Values::kIntegers:
        return k % range_.stride == 0 ? integer(bits, range_.operand) : 0.0F;
      case Values::kUniform:
        return uniform(bits);
      case Values::kScaled:
        break;
    }
    return std::ldexp(uniform(bits), outer(kStreamRow, i) + inner(source));
  }

  float exact_b(std::int64_t k, std::int64_t j, std::int64_t columns) const {
    const std::uint64_t bits = draw(kStreamB, k * columns + j);
    switch (input_.values) {
      case Values::kIntegers:
        return k % range_.stride == 0 ? integer(bits, range_.operand) : 0.0F;
      case Values::kUniform:
        return uniform(bits);
      case Values::kScaled:
        break;
    }
    const std::int64_t even = k & ~std::int64_t{1};
    float value = uniform(bits);
    if (k != even) value = -uniform(draw(kStreamB, even * columns + j)) * (1.0F + scales_.apart * value);
    return std::ldexp(value, outer(kStreamColumn, j) - inner(even));
  }

  float exact_c(std::int64_t i, std::int64_t j, std::int64_t columns) const {
    const std::uint64_t bits = draw(kStreamC, i * columns + j);
    switch (input_.values) {
      case Values::kIntegers:
        return integer(bits, range_.c);
      case Values::kUniform:
        return uniform(bits);
      case Values::kScaled:
        break;
    }
    return std::ldexp(uniform(bits), outer(kStreamRow, i) + outer(kStreamColumn, j));
  }

  std::uint64_t draw(Stream stream, std::int64_t index) const {
    return random_bits(input_.seed, stream, static_cast<std::uint64_t>(index));
  }
  int outer(Stream stream, std::int64_t index) const { return exponent(draw(stream, index), scales_.outer); }
  int inner(std::int64_t k) const { return exponent(draw(kStreamInner, k), scales_.inner); }

  Type in_, out_;
  Scales scales_;
  Input input_;
  IntegerRange range_;
};

constexpr std::int64_t kGrain = 1 << 15;  // elements for which a thread pays

// Fills a matrix in memory: value(line, column) where used, `gap` between the lines.
template <class Value>
std::vector<float> fill(const Extent& extent, float gap, const Value& value) {
  std::vector<float> image(static_cast<std::size_t>(extent.elements()));
  if (image.empty()) return image;
  parallel_for(extent.lines, kGrain / std::max<std::int64_t>(1, extent.ld),
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

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mix(mix(seed * 0x9E3779B97F4A7C15ULL + stream) + index * 0x9E3779B97F4A7C15ULL);
}

const char* to_string(Values values) {
  switch (values) {
    case Values::kIntegers:
      return "integers";
    case Values::kUniform:
      return "uniform";
    case Values::kScaled:
      return "scaled";
  }
  return "unknown";
}

namespace {

// The largest integer whose products with its like the precision computes exactly: those of one word where products of
// second words are left out.
std::int64_t exact_integers(Precision precision) {
  switch (precision) {
    case Precision::kTf32:
    case Precision::kTf32x3:
    case Precision::kFp16x3:
      return 2048;
    case Precision::kBf16x3:
      return 256;
    default:
      return 4096;
  }
}

}  // namespace

Result<IntegerRange> integer_range(const Problem& problem, Precision precision) {
  const auto small_integer = [](float x) { return std::abs(x) <= 64.0F && x == std::trunc(x); };
  if (!small_integer(problem.alpha) || !small_integer(problem.beta)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("integer inputs need integer alpha and beta of at most 64 in magnitude, not {} and {}",
                    problem.alpha, problem.beta));
  }
  // Half of 2^24 for alpha times the sum of products, a quarter for beta C: no partial result reaches 2^24. Binary16
  // ends at 65,504.
  const int bits = problem.out == Type::kF16 ? 16 : 24;
  const std::int64_t budget =
      (std::int64_t{1} << (bits - 1)) / std::max<std::int64_t>(1, std::llabs(std::llround(problem.alpha)));
  // Operands that their type, or tf32, represents exactly: all of 11 significant bits or less.
  const std::int64_t most = std::min<std::int64_t>(exact_integers(precision), whole_numbers(problem.in));
  IntegerRange range;
  const std::int64_t k = std::max<std::int64_t>(1, problem.k);
  range.stride = (k + budget - 1) / budget;
  const std::int64_t terms = (k + range.stride - 1) / range.stride;
  const std::int64_t square = budget / terms;  // at least 1
  range.operand =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::sqrt(static_cast<double>(square))), 1, most);
  range.c = std::min(
      {std::int64_t{4096}, whole_numbers(problem.out),
       (std::int64_t{1} << (bits - 2)) / std::max<std::int64_t>(1, std::llabs(std::llround(problem.beta)))});
  return range;
}

Result<Images> make_images(const Problem& problem, const Input& input, Precision precision) {
  IntegerRange range;
  if (input.values == Values::kIntegers) {
    auto derived = integer_range(problem, precision);
    if (!derived) return derived.status();
    range = derived.value();
  }
  const Generator generator(problem, input, range);
  const bool row_major = problem.layout == Layout::kRowMajor;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // Which index of op(A) runs along a line of memory.
  const bool a_by_rows = (problem.op_a == Op::kNone) == row_major;
  const bool b_by_rows = (problem.op_b == Op::kNone) == row_major;
  Images images;
  images.a = fill(extent_a(problem), nan, [&](std::int64_t line, std::int64_t column) {
    if (input.nan_operands) return nan;
    return a_by_rows ? generator.a(line, column, problem.k) : generator.a(column, line, problem.k);
  });
  images.b = fill(extent_b(problem), nan, [&](std::int64_t line, std::int64_t column) {
    if (input.nan_operands) return nan;
    return b_by_rows ? generator.b(line, column, problem.n) : generator.b(column, line, problem.n);
  });
  images.c = fill(extent_c(problem), poison(), [&](std::int64_t line, std::int64_t column) {
    if (!reads_c(problem)) return poison();
    return row_major ? generator.c(line, column, problem.n) : generator.c(column, line, problem.n);
  });
  return images;
}

}  // namespace ladder
