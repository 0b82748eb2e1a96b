// SPDX-License-Identifier: Apache-2.0
// Deterministic operands. Element values depend on the seed and on the element's row and column
// alone, never on leading dimensions, threads or machine.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace ladder {

enum class Values : std::uint8_t {
  // so small that every partial sum, in any order, is an integer below 2^24: results compare with
  kIntegers,
  // ==
  kUniform,  // uniform in [-1, 1)
  // uniform, rows and columns scaled by powers of two over a wide range, neighbouring products
  kScaled,
  // cancel
};
const char* to_string(Values values);

struct Input {
  Values values = Values::kUniform;
  std::uint64_t seed = 1;
  bool nan_operands =
      false;  // A and B hold nothing but NaN: for alpha = 0, where they must not be read

  bool operator==(const Input&) const = default;
};

// A signalling NaN that no arithmetic produces: what C holds where the kernel must write, and where
// it must not.
constexpr std::uint32_t kPoisonBits = 0x7FA55AA5U;
inline float poison() { return std::bit_cast<float>(kPoisonBits); }

// The operands as they lie in memory (extent_a(problem).elements() and so on), the padding of A and
// B NaN, that of C poison; C itself poison where beta = 0. Values are numbers of the problem's
// types.
struct Images {
  std::vector<float> a, b, c;
};

// The largest |a|, |b| and |c| of integer inputs, and every how many-th k is non-zero (1 but for
// huge K).
struct IntegerRange {
  std::int64_t operand = 1, c = 1, stride = 1;
};
// Errors (kInvalidArgument): alpha or beta is not a small integer, so sums would not be exact.
Result<IntegerRange> integer_range(const Problem& problem, Precision precision);

// `problem` must be valid. Errors as integer_range's, for kIntegers.
Result<Images> make_images(const Problem& problem, const Input& input, Precision precision);

// The counter-based generator behind it: 64 random bits for (seed, stream, index).
constexpr std::uint64_t mix(
    std::uint64_t x) {  // the finalizer of SplitMix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
  return mix(mix(seed * kGolden + stream) + index * kGolden);
}

}  // namespace ladder
