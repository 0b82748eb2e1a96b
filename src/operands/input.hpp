// SPDX-License-Identifier: Apache-2.0
// Deterministic operands. An element's value depends only on the seed and its row and column, not
// on leading dimensions, threads or the machine.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace ladder {

enum class Values : std::uint8_t {
  // Integers so small that every partial sum, in any order, is an integer below 2^24. Results are
  // exact and are compared with ==.
  kIntegers,
  kUniform,  // uniform in [-1, 1)
  // Uniform, with rows and columns scaled by powers of two over a wide range; neighbouring products
  // along k cancel.
  kScaled,
};
const char* to_string(Values values);

struct Input {
  Values values = Values::kUniform;
  std::uint64_t seed = 1;
  bool nan_operands =
      false;  // A and B hold nothing but NaN: for alpha = 0, where they must not be read

  bool operator==(const Input&) const = default;
};

// A signalling NaN that no arithmetic produces. C is filled with it where the kernel must write,
// and so is the memory that the kernel must not write.
constexpr std::uint32_t kPoisonBits = 0x7FA55AA5U;
inline float poison() { return std::bit_cast<float>(kPoisonBits); }

// The operands in memory layout, with extent_a(problem).elements() elements and so on. The padding
// of A and B is NaN, that of C is poison. C itself is poison if beta = 0. All values are
// representable in the problem's types.
struct Images {
  std::vector<float> a, b, c;
  // For operands with scales, else empty: the elements that memory holds, and the scales. `a` and
  // `b` are products of the two, rounded to binary32.
  std::vector<float> plain_a, plain_b, scales_a, scales_b;
  const std::vector<float>& stored_a() const { return plain_a.empty() ? a : plain_a; }
  const std::vector<float>& stored_b() const { return plain_b.empty() ? b : plain_b; }
};

// The largest |a|, |b| and |c| of integer inputs. Only every `stride`-th k is non-zero; `stride` is
// 1 except for huge K.
struct IntegerRange {
  std::int64_t operand = 1, c = 1, stride = 1;
};
// Errors (kInvalidArgument): alpha or beta is not a small integer, so sums would not be exact.
Result<IntegerRange> integer_range(const Problem& problem, Precision precision);

// `problem` must be valid. Errors: as integer_range(), for kIntegers.
Result<Images> make_images(const Problem& problem, const Input& input, Precision precision);

// Counter-based generator of the operands: 64 random bits for (seed, stream, index).
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
