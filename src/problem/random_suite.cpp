// SPDX-License-Identifier: Apache-2.0
#include "problem/random_suite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "problem/number.hpp"

namespace ladder {
namespace {

using namespace random_suite;

constexpr std::string_view kPrefix = "random:";

// SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014). The
// standard library's distributions differ between implementations.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // One of 2^bits values.
  std::uint32_t draw(int bits) { return static_cast<std::uint32_t>(next() >> (64 - bits)); }

 private:
  std::uint64_t state_;
};

// 2^(bits / 2^32). IEEE 754 defines the results of the square root and of the product, unlike those
// of exp2.
double power_of_two(std::uint32_t bits) {
  double power = 1;
  double root = 2;
  for (; bits != 0; bits <<= 1) {
    root = std::sqrt(root);
    if (bits >> 31 != 0) power *= root;
  }
  return power;
}

int log2_of(std::int64_t power) {
  int log = 0;
  while (power >> log > 1) ++log;
  return log;
}

std::int64_t draw_size(Generator& generator, std::int64_t least, std::int64_t alignment) {
  const int octaves = log2_of(kMost / least);
  const std::uint64_t exponent = static_cast<std::uint64_t>(octaves) * generator.draw(32);
  const double scale = power_of_two(static_cast<std::uint32_t>(exponent));
  const double size = static_cast<double>(least << (exponent >> 32)) * scale;
  const auto multiple =
      static_cast<std::int64_t>(size / static_cast<double>(alignment) + 0.5) * alignment;
  return std::max(least, multiple);
}

Problem draw_problem(Generator& generator) {
  const std::int64_t alignment = kAlignments[generator.draw(2)];
  const std::int64_t m = draw_size(generator, kLeastMn, alignment);
  const std::int64_t n = draw_size(generator, kLeastMn, alignment);
  const std::int64_t k = draw_size(generator, kLeastK, alignment);
  const auto draw_op = [&] { return generator.draw(1) == 0 ? Op::kNone : Op::kTranspose; };
  const Op a = draw_op();
  const Op b = draw_op();
  return make_problem(m, n, k, 1, 0, a, b);
}

bool fits(const Problem& p) {
  return bytes_of(Type::kF32) * (p.m * p.k + p.k * p.n + p.m * p.n) <= kMostBytes;
}

std::vector<Problem> draw(std::uint64_t seed, std::size_t count) {
  Generator generator(seed);
  std::set<std::array<std::int64_t, 5>> drawn;
  std::vector<Problem> problems;
  while (problems.size() < count) {
    const Problem p = draw_problem(generator);
    const std::array<std::int64_t, 5> key{p.m, p.n, p.k, p.op_a == Op::kTranspose,
                                          p.op_b == Op::kTranspose};
    if (fits(p) && drawn.insert(key).second) problems.push_back(p);
  }
  std::ranges::stable_sort(problems,
                           [](const Problem& a, const Problem& b) { return flops(a) < flops(b); });
  return problems;
}

}  // namespace

bool is_random_suite(std::string_view name) {
  return name.starts_with(kPrefix) || name == kPrefix.substr(0, kPrefix.size() - 1);
}

Result<std::vector<Problem>> find_random_suite(std::string_view name) {
  const std::string_view numbers = name.substr(std::min(name.size(), kPrefix.size()));
  const std::size_t colon = std::min(numbers.find(':'), numbers.size());
  const auto seed = parse_number<std::uint64_t>(numbers.substr(0, colon));
  const auto count =
      parse_number<std::int64_t>(numbers.substr(std::min(numbers.size(), colon + 1)));
  if (!seed || !count || *count < 1 || *count > kMostProblems) {
    return Status(Code::kInvalidArgument, "'" + std::string(name) + "' is not " +
                                              std::string(kForm) +
                                              " with SEED from 0 to 2^64 - 1 and N from 1 to " +
                                              std::to_string(kMostProblems));
  }
  return draw(*seed, static_cast<std::size_t>(*count));
}

}  // namespace ladder
