// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "operands/encode.hpp"
#include "operands/parallel.hpp"
#include "verify/identity.hpp"

namespace ladder {
namespace {

constexpr std::int64_t kNowhere = INT64_MAX;

std::string place(const Operation& operation, std::int64_t i, std::int64_t j) {
  return operation.swapped ? fmt::format("C({},{})", j, i) : fmt::format("C({},{})", i, j);
}

std::string place_at(const Operation& operation, std::int64_t index) {
  return place(operation, index / operation.problem.n, index % operation.problem.n);
}

// The findings of one pass over the elements. Tallies of separate ranges are merged.
struct Tally {
  std::int64_t unwritten = 0, nan = 0, wrong = 0;
  std::int64_t first_unwritten = kNowhere, first_nan = kNowhere,
               first_wrong = kNowhere;  // i * n + j
  bool all_zero = true;
  double error_squares = 0, reference_squares = 0, componentwise = 0, of_bound = 0;

  static void note(std::int64_t& count, std::int64_t& first, std::int64_t index) {
    ++count;
    first = std::min(first, index);
  }
  void join(const Tally& other) {
    unwritten += other.unwritten;
    nan += other.nan;
    wrong += other.wrong;
    first_unwritten = std::min(first_unwritten, other.first_unwritten);
    first_nan = std::min(first_nan, other.first_nan);
    first_wrong = std::min(first_wrong, other.first_wrong);
    all_zero = all_zero && other.all_zero;
    error_squares += other.error_squares;
    reference_squares += other.reference_squares;
    componentwise = std::max(componentwise, other.componentwise);
    of_bound = std::max(of_bound, other.of_bound);
  }
};

// Calls `visit(tally, i, j, word, value)` for every element of C.
template <class Visit>
Tally for_each_element(const Problem& p, const ResultMemory& memory, const Visit& visit) {
  Tally total;
  std::mutex mutex;
  parallel_for(p.m, kParallelGrain / std::max<std::int64_t>(1, p.n),
               [&](std::int64_t begin, std::int64_t end) {
                 Tally tally;
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::uint32_t* line = memory.words.data() + memory.guard + i * p.ldc;
                   for (std::int64_t j = 0; j < p.n; ++j)
                     visit(tally, i, j, line[j], std::bit_cast<float>(line[j]));
                 }
                 const std::lock_guard lock(mutex);
                 total.join(tally);
               });
  return total;
}

// Checks for poison and NaN, which require no reference.
void look_at(Tally& tally, std::int64_t index, std::uint32_t word, float value, bool poisoned) {
  if (poisoned && word == kPoisonBits) {
    Tally::note(tally.unwritten, tally.first_unwritten, index);
  } else if (std::isnan(value)) {
    Tally::note(tally.nan, tally.first_nan, index);
  }
  if (value != 0.0F) tally.all_zero = false;
}

double abs_c_at(const Operation& operation, std::int64_t i, std::int64_t j) {
  const Problem& p = operation.problem;
  return reads_c(p) ? std::abs(static_cast<double>(p.beta) * operation.c[i * p.ldc + j]) : 0.0;
}

// Returns the reference value; for exact results, rounded once to C's type.
double expected_at(const Prepared& prepared, bool exact, std::int64_t index) {
  const double reference = prepared.reference.c[index];
  const Type out = prepared.operation.problem.out;
  return exact && out != Type::kF32 ? round_to(out, static_cast<float>(reference)) : reference;
}

// For exact results: rounds alpha A B to C's type, adds beta C, and rounds the sum to C's type.
double rounded_twice_at(const Operation& operation, double reference, std::int64_t i,
                        std::int64_t j) {
  const Problem& p = operation.problem;
  const double c = reads_c(p) ? static_cast<double>(p.beta) * operation.c[i * p.ldc + j] : 0.0;
  const double products = round_to(p.out, static_cast<float>(reference - c));
  return round_to(p.out, static_cast<float>(products + c));
}

Tally tally_elements(const Prepared& prepared, bool exact, const ErrorBound& bound,
                     const ResultMemory& memory, Rounding rounding) {
  const Operation& operation = prepared.operation;
  const Problem& p = operation.problem;
  const bool poisoned = !reads_c(p);
  const bool by_element = prepared.kind != ReferenceKind::kIdentity;
  const Lines lines = by_element && bound.floor > 0 ? lines_of(operation) : Lines{};
  return for_each_element(
      p, memory,
      [&](Tally& tally, std::int64_t i, std::int64_t j, std::uint32_t word, float value) {
        const std::int64_t index = i * p.n + j;
        look_at(tally, index, word, value, poisoned);
        if (!by_element) return;
        double expected = expected_at(prepared, exact, index);
        if (exact && rounding == Rounding::kOnceOrTwice && p.out != Type::kF32 && value != expected)
          expected = rounded_twice_at(operation, prepared.reference.c[index], i, j);
        const double error = std::abs(static_cast<double>(value) - expected);
        const double abs_products = prepared.reference.abs_products[index];
        const double abs_c = abs_c_at(operation, i, j);
        const double limit =
            exact ? 0.0 : bound.at(abs_products, abs_c, std::abs(expected), lines.of(i, j));
        const bool within = error <= limit;  // false for NaN
        if (!within) Tally::note(tally.wrong, tally.first_wrong, index);
        tally.error_squares += error * error;
        tally.reference_squares += expected * expected;
        if (error > 0) {
          tally.componentwise = std::max(tally.componentwise, error / (abs_products + abs_c));
          if (limit > 0) tally.of_bound = std::max(tally.of_bound, error / limit);
        }
      });
}

std::optional<std::string> changed_guard(const ResultMemory& memory, std::size_t size) {
  const auto& w = memory.words;
  for (std::size_t at = memory.guard; at-- > 0;) {  // the word nearest to C first
    if (w[at] != kPoisonBits) return fmt::format("{} bytes before C", size * (memory.guard - at));
  }
  const std::size_t end = w.size() - memory.guard;
  for (std::size_t at = end; at < w.size(); ++at) {
    if (w[at] != kPoisonBits) return fmt::format("{} bytes past the end of C", size * (at - end));
  }
  return std::nullopt;
}

// Returns kGuardWritten, kPaddingWritten or kPassed.
Finding check_untouched(const Operation& operation, const ResultMemory& memory) {
  if (const auto where =
          changed_guard(memory, static_cast<std::size_t>(bytes_of(operation.problem.out))))
    return {Outcome::kGuardWritten, "written " + *where, {}};
  const Extent extent = extent_c(operation.problem);
  std::int64_t written = 0;
  std::string first;
  for (std::int64_t line = 0; line + 1 < extent.lines; ++line) {
    const std::uint32_t* row = memory.words.data() + memory.guard + line * extent.ld;
    for (std::int64_t column = extent.used; column < extent.ld; ++column) {
      if (row[column] == kPoisonBits) continue;
      if (written++ == 0) {
        first = fmt::format("{} lies in the padding (lines of {} elements, {} used)",
                            place(operation, line, column), extent.ld, extent.used);
      }
    }
  }
  if (written > 0)
    return {Outcome::kPaddingWritten, fmt::format("written: {}; {} elements", first, written), {}};
  return {Outcome::kPassed, "", {}};
}

}  // namespace

Finding compare(const Prepared& prepared, const Input& input, const ErrorBound& bound,
                const ResultMemory& memory, Rounding rounding) {
  const Operation& operation = prepared.operation;
  const Problem& p = operation.problem;
  if (Finding untouched = check_untouched(operation, memory); untouched.outcome != Outcome::kPassed)
    return untouched;
  if (p.m == 0 || p.n == 0) return {Outcome::kPassed, "", {}};

  const bool exact = input.values == Values::kIntegers;
  const Tally tally = tally_elements(prepared, exact, bound, memory, rounding);
  const std::int64_t elements = p.m * p.n;
  if (tally.unwritten > 0) {
    return {Outcome::kUnwritten,
            fmt::format("{} was never written; {} of {} elements",
                        place_at(operation, tally.first_unwritten), tally.unwritten, elements),
            {}};
  }
  if (tally.nan > 0) {
    return {Outcome::kNan,
            fmt::format("{} is NaN; {} of {} elements", place_at(operation, tally.first_nan),
                        tally.nan, elements),
            {}};
  }
  if (prepared.kind == ReferenceKind::kIdentity) {
    const IdentityResult identity = check_identity(operation, input, bound, memory.c());
    return {identity.ok ? Outcome::kPassed : Outcome::kWrongValue, identity.reason,
            identity.errors};
  }

  Errors errors{true, 0.0, tally.componentwise, tally.of_bound};
  if (tally.reference_squares > 0)
    errors.normwise = std::sqrt(tally.error_squares / tally.reference_squares);
  if (tally.wrong > 0) {
    const std::int64_t i = tally.first_wrong / p.n;
    const std::int64_t j = tally.first_wrong % p.n;
    const float got = memory.c()[i * p.ldc + j];
    const double expected = expected_at(prepared, exact, tally.first_wrong);
    const double line = bound.floor > 0 ? lines_of(operation).of(i, j) : 0.0;
    const std::string limit =
        exact ? std::string("exactly")
              : fmt::format("within {:.3g}",
                            bound.at(prepared.reference.abs_products[tally.first_wrong],
                                     abs_c_at(operation, i, j), std::abs(expected), line));
    return {Outcome::kWrongValue,
            fmt::format("{} is {:.9g}, expected {:.9g} {}; {} of {} elements",
                        place(operation, i, j), got, expected, limit, tally.wrong, elements),
            errors};
  }
  // A result of zero is correct only where BLAS defines it so. Elsewhere a zero reference would
  // prove nothing.
  const bool zero_by_definition = !reads_ab(p) && !reads_c(p);
  if (!zero_by_definition && !(tally.reference_squares > 0)) {
    return {Outcome::kNotVerified, "the reference is zero: nothing would be proved", {}};
  }
  return {Outcome::kPassed, "", errors};
}

std::string explain_wrong_values(const Prepared& prepared, Precision precision,
                                 const ResultMemory& memory) {
  const Operation& operation = prepared.operation;
  const Problem& p = operation.problem;
  if (prepared.kind == ReferenceKind::kIdentity) return "";
  const auto tf32 = error_bound(p, Precision::kTf32);
  const auto& r = prepared.reference;
  std::int64_t outside_tf32 = 0;
  std::int64_t changed = 0;
  std::int64_t not_transposed = 0;
  bool all_zero = true;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const std::int64_t index = i * p.n + j;
      const double value = memory.c()[i * p.ldc + j];
      const double abs_c = abs_c_at(operation, i, j);
      if (value != 0) all_zero = false;
      if (tf32 && !(std::abs(value - r.c[index]) <=
                    tf32.value().at(r.abs_products[index], abs_c, std::abs(r.c[index]))))
        ++outside_tf32;
      if (!reads_c(p) || static_cast<double>(operation.c[i * p.ldc + j]) != value) ++changed;
      if (p.m == p.n) {
        const std::int64_t mirrored = j * p.n + i;
        const double limit =
            tf32 ? tf32.value().at(r.abs_products[mirrored], abs_c_at(operation, j, i),
                                   std::abs(r.c[mirrored]))
                 : 0.0;
        if (!(std::abs(value - r.c[mirrored]) <= limit)) ++not_transposed;
      }
    }
  }
  if (all_zero) return "C is all zeros";
  if (reads_c(p) && changed == 0) return "C was not changed at all";
  if (precision == Precision::kIeee && p.in == Type::kF32 && tf32 && outside_tf32 == 0) {
    return "every error is within the bound of tf32, as if this were not ieee arithmetic";
  }
  if (p.m == p.n && p.n > 1 && not_transposed == 0) return "C is transposed";
  return "";
}

}  // namespace ladder
