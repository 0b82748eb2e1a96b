// SPDX-License-Identifier: Apache-2.0
// The value of each element of A, B and C before rounding to its type: a function of seed, row and
// column. It is the same on the host and in device code, so that operands can be generated where
// they are used.
#pragma once
#include <ladder/problem.hpp>

#include <bit>
#include <cstdint>

#include "operands/input.hpp"

namespace ladder {

enum class Matrix : std::uint8_t { kA, kB, kC };

// All members are constexpr, which nvcc accepts in device code (--expt-relaxed-constexpr). "Line"
// and "column" refer to the storage order: line * ld + column is the offset of an element.
class Drawing {
 public:
  constexpr Drawing(const Problem& problem, const Input& input, const IntegerRange& range)
      : input_(input),
        range_(range),
        scales_(scales_of(problem)),
        scaling_(problem.scaling),
        inner_(problem.k),
        columns_(problem.n),
        a_by_rows_((problem.op_a == Op::kNone) == (problem.layout == Layout::kRowMajor)),
        b_by_rows_((problem.op_b == Op::kNone) == (problem.layout == Layout::kRowMajor)),
        c_by_rows_(problem.layout == Layout::kRowMajor) {}

  constexpr float at(Matrix which, std::int64_t line, std::int64_t column) const {
    switch (which) {
      case Matrix::kA: return a_by_rows_ ? a(line, column) : a(column, line);
      case Matrix::kB: return b_by_rows_ ? b(line, column) : b(column, line);
      case Matrix::kC: break;
    }
    return c_by_rows_ ? c(line, column) : c(column, line);
  }
  constexpr bool nan_operands() const { return input_.nan_operands; }

  // The scale in line `line` of a matrix's scales, at `column`. Integers have scales of 1 and 2.
  constexpr float scale(Matrix which, std::int64_t line, std::int64_t column) const {
    const bool of_a = which == Matrix::kA;
    const std::int64_t outer_at = of_a ? column : line, block = of_a ? line : column;
    const std::uint64_t bits =
        draw(of_a ? kStreamScalesA : kStreamScalesB, block * (std::int64_t{1} << 32) + outer_at);
    switch (input_.values) {
      case Values::kIntegers: return bits >> 63 == 0 ? 1.0F : 2.0F;
      case Values::kUniform: return (1.5F + 0.5F * uniform(bits)) / kWhole;
      case Values::kScaled: break;
    }
    return scaled(1.0F / kWhole, of_a ? outer(kStreamRow, outer_at) + inner(block)
                                      : outer(kStreamColumn, outer_at) - inner(block));
  }

 private:
  enum Stream : std::uint64_t {
    kStreamA = 1,
    kStreamB,
    kStreamC,
    kStreamRow,
    kStreamColumn,
    kStreamInner,
    kStreamScalesA,
    kStreamScalesB
  };
  // Operands with scales are drawn this much larger, to use their type's range.
  static constexpr float kWhole = 256.0F;

  // Scaled inputs: |a| is at most 2^(outer + inner), |c| at most 2^(2 outer), and two products of
  // opposite sign differ by one part in 1 / apart. Every product stays far from overflow and
  // underflow, so that the standard model of rounding holds. binary16 has a narrow exponent range,
  // hence its small scales.
  struct Scales {
    int outer, inner;
    float apart;
  };
  static constexpr Scales scales_of(const Problem& problem) {
    if (problem.in == Type::kF16 || problem.out == Type::kF16) return {3, 6, 0x1p-8F};
    if (problem.scaling != Scaling::kNone) return {16, 12, 0x1p-2F};
    return {16, 12, problem.in == Type::kBf16 ? 0x1p-5F : 0x1p-10F};
  }

  static constexpr float uniform(std::uint64_t bits) {  // multiples of 2^-23 in [-1, 1)
    return static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (std::int64_t{1} << 23)) *
           0x1p-23F;
  }
  // Uniform over [-limit, limit], from the high bits. `limit` is far below 2^32, so the bias is
  // negligible.
  static constexpr float integer(std::uint64_t bits, std::int64_t limit) {
    const std::uint64_t span = static_cast<std::uint64_t>(2 * limit + 1);
    return static_cast<float>(static_cast<std::int64_t>(((bits >> 32) * span) >> 32) - limit);
  }
  static constexpr int exponent(std::uint64_t bits, int limit) {
    return static_cast<int>(integer(bits, limit));
  }
  // x 2^e, exact: neither x nor the result is subnormal.
  static constexpr float scaled(float x, int e) {
    constexpr int kBias = 127, kFraction = 23;
    return x * std::bit_cast<float>(static_cast<std::uint32_t>(kBias + e) << kFraction);
  }

  constexpr float a(std::int64_t i, std::int64_t k) const {
    // Scaled: columns 2p and 2p + 1 of A are equal, so that rows 2p and 2p + 1 of B can make their
    // products cancel.
    const std::int64_t source = input_.values == Values::kScaled ? k & ~std::int64_t{1} : k;
    const std::uint64_t bits = draw(kStreamA, i * inner_ + source);
    switch (input_.values) {
      case Values::kIntegers: return k % range_.stride == 0 ? integer(bits, range_.operand) : 0.0F;
      case Values::kUniform: return whole() * uniform(bits);
      case Values::kScaled: break;
    }
    if (scaling_ != Scaling::kNone) return kWhole * uniform(bits);
    return scaled(uniform(bits), outer(kStreamRow, i) + inner(source));
  }

  constexpr float b(std::int64_t k, std::int64_t j) const {
    const std::uint64_t bits = draw(kStreamB, k * columns_ + j);
    switch (input_.values) {
      case Values::kIntegers: return k % range_.stride == 0 ? integer(bits, range_.operand) : 0.0F;
      case Values::kUniform: return whole() * uniform(bits);
      case Values::kScaled: break;
    }
    const std::int64_t even = k & ~std::int64_t{1};
    float value = uniform(bits);
    if (k != even)
      value = -uniform(draw(kStreamB, even * columns_ + j)) * (1.0F + scales_.apart * value);
    if (scaling_ != Scaling::kNone) return kWhole * value;
    return scaled(value, outer(kStreamColumn, j) - inner(even));
  }

  constexpr float c(std::int64_t i, std::int64_t j) const {
    const std::uint64_t bits = draw(kStreamC, i * columns_ + j);
    switch (input_.values) {
      case Values::kIntegers: return integer(bits, range_.c);
      case Values::kUniform: return uniform(bits);
      case Values::kScaled: break;
    }
    return scaled(uniform(bits), outer(kStreamRow, i) + outer(kStreamColumn, j));
  }

  constexpr float whole() const { return scaling_ == Scaling::kNone ? 1.0F : kWhole; }
  constexpr std::uint64_t draw(Stream stream, std::int64_t index) const {
    return random_bits(input_.seed, stream, static_cast<std::uint64_t>(index));
  }
  constexpr int outer(Stream stream, std::int64_t index) const {
    return exponent(draw(stream, index), scales_.outer);
  }
  constexpr int inner(std::int64_t k) const {
    return exponent(draw(kStreamInner, k), scales_.inner);
  }

  Input input_;
  IntegerRange range_;
  Scales scales_;
  Scaling scaling_;
  std::int64_t inner_, columns_;  // K and N
  bool a_by_rows_, b_by_rows_, c_by_rows_;
};

// The scales of A or B in memory layout; empty without.
std::vector<float> draw_scales(const Drawing& drawing, Matrix which, const Problem& problem);

// Errors: as integer_range(), for kIntegers. `problem` must be valid.
Result<Drawing> drawing_of(const Problem& problem, const Input& input, Precision precision);

}  // namespace ladder
