// SPDX-License-Identifier: Apache-2.0
// Checks the memory of C after a kernel ran: guards, padding, every element. Pure: uses no device
// and no kernel.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "verify/bound.hpp"
#include "verify/reference.hpp"
#include "verify/verdict.hpp"

namespace ladder {

// C in memory between two guard zones, one word per element (encode.hpp): guard | extent_c elements
// | guard.
struct ResultMemory {
  std::span<const std::uint32_t> words;
  std::size_t guard = 0;  // number of words before and after C
  const float* c() const { return reinterpret_cast<const float*>(words.data() + guard); }
};

struct Finding {
  Outcome outcome = Outcome::kNotVerified;
  std::string reason;
  Errors errors;
};

// How an exact result is rounded to a 16-bit C: once, or alpha A B first and then its sum with beta
// C. Ladder's kernels must round once. Vendor libraries may do either.
enum class Rounding : unsigned char { kOnce, kOnceOrTwice };

// Checks the memory that must be unchanged, then compares every element with the reference or the
// identity in `prepared`.
Finding compare(const Prepared& prepared, const Input& input, const ErrorBound& bound,
                const ResultMemory& memory, Rounding rounding = Rounding::kOnce);

// Returns hints at the cause of wrong values, "" if none is known. `precision` is the one the
// kernel claims.
std::string explain_wrong_values(const Prepared& prepared, Precision precision,
                                 const ResultMemory& memory);

}  // namespace ladder
