// SPDX-License-Identifier: Apache-2.0
#include "verify/battery.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace ladder {
namespace {

class Builder {
 public:
  explicit Builder(std::uint64_t seed) : seed_(seed) {}

  void add(const std::string& what, const Problem& problem, Values values,
           bool nan_operands = false) {
    cases_.push_back({fmt::format("{}, {}, {}", what, to_string(problem), to_string(values)),
                      problem,
                      {values, seed_ + cases_.size(), nan_operands}});
  }
  std::vector<Case> take() { return std::move(cases_); }

 private:
  std::uint64_t seed_;
  std::vector<Case> cases_;
};

Problem padded(Problem problem, std::int64_t a, std::int64_t b, std::int64_t c) {
  problem.lda += a;
  problem.ldb += b;
  problem.ldc += c;
  return problem;
}

struct Size {
  std::int64_t m, n, k;
};

// Tests indexing with integers, compared with ==, at sizes on, near and far from tile edges.
void add_sizes(Builder& builder) {
  constexpr std::array<Size, 13> kSizes{{{1, 1, 1},
                                         {7, 5, 3},
                                         {16, 16, 16},
                                         {32, 32, 32},
                                         {17, 19, 23},
                                         {33, 31, 35},
                                         {64, 48, 40},
                                         {67, 61, 71},
                                         {1, 67, 33},
                                         {67, 1, 33},
                                         {65, 63, 1},
                                         {31, 29, 257},
                                         {128, 96, 64}}};
  for (const Size& s : kSizes) builder.add("size", make_problem(s.m, s.n, s.k), Values::kIntegers);
}

// Tests numerics at small k. There the bound is tightest, so that a precision lower than claimed
// exceeds it.
void add_numerics(Builder& builder) {
  constexpr std::array<Size, 4> kSizes{{{16, 16, 4}, {37, 41, 43}, {64, 64, 64}, {5, 3, 509}}};
  for (const Size& s : kSizes) {
    builder.add("numerics", make_problem(s.m, s.n, s.k), Values::kUniform);
    builder.add("numerics", make_problem(s.m, s.n, s.k), Values::kScaled);
  }
  builder.add("numerics", make_problem(37, 41, 43, -0.75F, 1.25F), Values::kUniform);
  builder.add("numerics", make_problem(33, 35, 37, 1.5F, -0.625F), Values::kScaled);
}

// Tests BLAS's rules for scalars, empty sizes, leading dimensions and memory outside the operands.
void add_contracts(Builder& builder) {
  builder.add("lda", padded(make_problem(33, 29, 31), 5, 0, 0), Values::kIntegers);
  builder.add("ldb", padded(make_problem(33, 29, 31), 0, 7, 0), Values::kIntegers);
  builder.add("ldc", padded(make_problem(33, 29, 31), 0, 0, 3), Values::kIntegers);
  builder.add("ldc and beta", padded(make_problem(33, 29, 31, 1, 1), 0, 0, 3), Values::kIntegers);
  builder.add("all leading dimensions", padded(make_problem(67, 37, 41, -2, 3), 5, 7, 3),
              Values::kIntegers);
  builder.add("all leading dimensions", padded(make_problem(64, 64, 64), 4, 8, 12),
              Values::kUniform);
  builder.add("beta 1", make_problem(31, 37, 29, 1, 1), Values::kIntegers);
  builder.add("alpha -1", make_problem(31, 37, 29, -1, 0), Values::kIntegers);
  builder.add("alpha -2, beta -3", make_problem(31, 37, 29, -2, -3), Values::kIntegers);
  builder.add("K = 0", make_problem(19, 17, 0, 1, 2), Values::kIntegers);
  builder.add("K = 0, beta 0", make_problem(19, 17, 0), Values::kIntegers);
  builder.add("alpha 0 over NaN operands", make_problem(19, 17, 21, 0, 2), Values::kIntegers, true);
  builder.add("alpha 0 over NaN operands, beta 0", make_problem(19, 17, 21, 0, 0),
              Values::kIntegers, true);
  builder.add("M = 0", make_problem(0, 17, 21), Values::kIntegers);
  builder.add("N = 0", make_problem(19, 0, 21), Values::kIntegers);
}

void add_layouts(Builder& builder) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kColMajor}) {
    for (const auto& [op_a, op_b] :
         {std::pair{Op::kNone, Op::kNone}, std::pair{Op::kNone, Op::kTranspose},
          std::pair{Op::kTranspose, Op::kNone}, std::pair{Op::kTranspose, Op::kTranspose}}) {
      if (layout == Layout::kRowMajor && op_a == Op::kNone && op_b == Op::kNone) continue;
      builder.add("layout", padded(make_problem(35, 29, 31, 2, -1, op_a, op_b, layout), 3, 5, 7),
                  Values::kIntegers);
    }
  }
}

// Random sizes around tile edges in all three dimensions, drawn independently per dimension.
void add_edges(Builder& builder, std::uint64_t seed) {
  constexpr std::array<std::int64_t, 19> kEdges{1,  2,  3,  7,  8,  9,   15,  16,  17, 31,
                                                32, 33, 63, 64, 65, 127, 128, 129, 251};
  constexpr std::array<std::pair<float, float>, 5> kScalars{
      {{1, 0}, {1, 1}, {-1, 2}, {3, -1}, {0, 1}}};
  constexpr std::uint64_t kStreamEdges = 201;
  constexpr std::uint64_t kProblems = 240;
  const auto draw = [&](std::uint64_t index, std::uint64_t choices) {
    return static_cast<std::size_t>((random_bits(seed, kStreamEdges, index) >> 20) % choices);
  };
  for (std::uint64_t p = 0; p < kProblems; ++p) {
    const std::uint64_t at = 8 * p;
    const auto& [alpha, beta] = kScalars[draw(at + 3, kScalars.size())];
    Problem problem =
        make_problem(kEdges[draw(at, kEdges.size())], kEdges[draw(at + 1, kEdges.size())],
                     kEdges[draw(at + 2, kEdges.size())], alpha, beta);
    problem = padded(problem, static_cast<std::int64_t>(draw(at + 4, 6)),
                     static_cast<std::int64_t>(draw(at + 5, 6)),
                     static_cast<std::int64_t>(draw(at + 6, 6)));
    const Values values =
        std::array{Values::kIntegers, Values::kUniform, Values::kScaled}[draw(at + 7, 3)];
    builder.add("edges", problem, values, alpha == 0.0F);
  }
  builder.add("large", make_problem(257, 511, 129), Values::kScaled);
  builder.add("large", make_problem(512, 512, 512), Values::kIntegers);
  builder.add("deep", make_problem(64, 64, 16384), Values::kIntegers);
  builder.add("deep", make_problem(64, 64, 16384), Values::kUniform);
  builder.add("wide", make_problem(4, 16384, 16), Values::kIntegers);
  builder.add("tall", make_problem(16384, 4, 16), Values::kIntegers);
  // More tiles than a large GPU has SMs, of up to 256 x 256: large tiles, and blocks that compute
  // several of them.
  builder.add("many tiles", make_problem(2304, 2056, 136), Values::kIntegers);
  builder.add("many tiles", padded(make_problem(2305, 2057, 77, 2, -1), 3, 7, 7),
              Values::kIntegers);
  builder.add("many tiles", make_problem(2304, 2056, 328), Values::kScaled);
  // 135 tiles of 128 x 128: on 132 SMs blocks of split products share them along k.
  builder.add("few more tiles than SMs", make_problem(1100, 1900, 900), Values::kUniform);
  // Slightly more tiles than a large GPU has SMs, and large k: tests the fix-up of split tiles. The
  // cases run twice with other problems in between, whose kernels may leave any data in the scratch
  // memory that they share.
  for (const char* what : {"last wave", "last wave again"}) {
    builder.add(what, make_problem(8, 8512, 2560), Values::kIntegers);
    builder.add(what, make_problem(8, 8512, 1536), Values::kUniform);
    builder.add("between", padded(make_problem(65, 67, 2049), 1, 2, 3), Values::kUniform);
    builder.add("between", make_problem(16, 24, 8192), Values::kUniform);
  }
}

}  // namespace

const char* to_string(Battery battery) { return battery == Battery::kQuick ? "quick" : "full"; }

std::vector<Case> make_battery(Battery battery, std::uint64_t seed) {
  Builder builder(seed);
  add_sizes(builder);
  add_contracts(builder);
  add_numerics(builder);
  add_layouts(builder);
  if (battery == Battery::kFull) add_edges(builder, seed);
  return builder.take();
}

std::vector<Case> cases_of(const Problem& problem, std::uint64_t seed) {
  Builder builder(seed);
  if (integer_range(problem, Precision::kIeee)) builder.add("shape", problem, Values::kIntegers);
  builder.add("shape", problem, Values::kUniform);
  builder.add("shape", problem, Values::kScaled);
  return builder.take();
}

}  // namespace ladder
