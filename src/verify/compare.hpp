// SPDX-License-Identifier: Apache-2.0
// Looks at the memory of C after a kernel ran: guards, padding, every element. Pure: no device, no
// kernel.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "verify/bound.hpp"
#include "verify/reference.hpp"
#include "verify/verdict.hpp"

namespace ladder {

// C in memory between two guard zones, a word an element (encode.hpp): guard | extent_c elements |
// guard.
struct ResultMemory {
  std::span<const std::uint32_t> words;
  std::size_t guard = 0;  // words before and after
  const float* c() const { return reinterpret_cast<const float*>(words.data() + guard); }
};

struct Finding {
  Outcome outcome = Outcome::kNotVerified;
  std::string reason;
  Errors errors;
};

// Only what must be untouched: kGuardWritten, kPaddingWritten, or kPassed.
Finding check_untouched(const Operation& operation, const ResultMemory& memory);

// How exact data reach a 16-bit C: rounded once, or alpha A B rounded first and its sum with beta C
// again. What Ladder writes rounds once; of a vendor's library, whose definition is its own, either
// is taken.
enum class Rounding : unsigned char { kOnce, kOnceOrTwice };

// check_untouched, then every element against `prepared` (its reference or the identity).
Finding compare(const Prepared& prepared, const Input& input, const ErrorBound& bound,
                const ResultMemory& memory, Rounding rounding = Rounding::kOnce);

// Hints at the cause of wrong values, "" if none is known. `precision` is what the kernel claims.
std::string explain_wrong_values(const Prepared& prepared, Precision precision,
                                 const ResultMemory& memory);

}  // namespace ladder
