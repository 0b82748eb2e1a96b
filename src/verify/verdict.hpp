// SPDX-License-Identifier: Apache-2.0
// The result of verifying a kernel: an outcome, one line with the reason, and the measured errors.
#pragma once
#include <ladder/problem.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "operands/input.hpp"

namespace ladder {

enum class Outcome : std::uint8_t {
  kPassed,            // proved: every element within its bound, everything else untouched
  kWrongValue,        // an element differs from the reference by more than its bound
  kNan,               // an element is NaN where the reference is finite
  kUnwritten,         // an element of C still holds the poison it held before
  kPaddingWritten,    // the padding between rows of C was written
  kGuardWritten,      // memory before or after C was written
  kNondeterministic,  // two runs on the same data differ in at least one bit
  kRefused,           // the kernel does not take the problem
  kLaunchError,       // the CUDA runtime refused or aborted the work
  kFault,             // the virtual GPU stopped the kernel
  kRace,              // the virtual GPU found unsynchronised accesses to one word
  kNotVerified,       // no proof was possible (memory, no bound for this K, interrupted)
};
const char* to_string(Outcome outcome);  // "passed", "wrong_value", ... as in reports
bool parse(const std::string& text, Outcome& outcome);

// All errors are against the FP64 reference R; all are zero if nothing was measured (`known` is
// false).
struct Errors {
  bool known = false;
  double normwise = 0;       // Frobenius norm of C - R over that of R
  double componentwise = 0;  // largest |C - R| / (|alpha| |A||B| + |beta||C0|)
  double of_bound = 0;       // largest |C - R| / bound; at most 1 where passed
};

struct CaseResult {
  std::string name;
  Problem problem;
  Input input;
  Outcome outcome = Outcome::kNotVerified;
  std::string reason;  // one line; empty where passed
  Errors errors;
  std::string reference;  // "openblas dgemm", "identity C t = alpha A (B t) + beta C0 t", ...
};

struct Verdict {
  // passed only if every accepted case passed and at least one case was accepted
  Outcome outcome = Outcome::kNotVerified;
  std::string reason;                   // of the first case that failed, with its name
  std::size_t passed = 0, refused = 0;  // numbers of cases
  std::vector<CaseResult> cases;        // those that failed only, if read from a file

  bool ok() const { return outcome == Outcome::kPassed; }
};
Verdict summarize(std::vector<CaseResult> cases);

}  // namespace ladder
