// SPDX-License-Identifier: Apache-2.0
// C t = alpha A (B t) + beta C0 t for random t, in FP64: proof about a whole result in O(n^2), for
// problems whose FP64 product would take too long (Freivalds 1977, with rounding). Exact for
// integer inputs; docs/verification.md derives what it sees of others.
#pragma once
#include <string>

#include "verify/bound.hpp"
#include "verify/reference.hpp"
#include "verify/verdict.hpp"

namespace ladder {

struct IdentityResult {
  bool ok = false;
  std::string reason;  // where not ok: the first row that breaks its bound
  std::int64_t rows_wrong = 0;
  Errors errors;  // of C t, row by row: the norms are those of vectors
};

// `c` is the kernel's result as C lies in memory (ldc as in the operation).
IdentityResult check_identity(const Operation& operation, const Input& input,
                              const ErrorBound& bound, const float* c);

}  // namespace ladder
