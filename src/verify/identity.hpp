// SPDX-License-Identifier: Apache-2.0
// Checks C t = alpha A (B t) + beta C0 t for random t in FP64. This verifies a whole result in
// O(n^2) operations, for problems whose FP64 product would take too long (Freivalds 1977, with
// rounding errors). It is exact for integer inputs; docs/verification.md derives which errors it
// detects for other inputs.
#pragma once
#include <string>

#include "verify/bound.hpp"
#include "verify/reference.hpp"
#include "verify/verdict.hpp"

namespace ladder {

struct IdentityResult {
  bool ok = false;
  std::string reason;  // if not ok: the first row that exceeds its bound
  std::int64_t rows_wrong = 0;
  Errors errors;  // of C t per row: the norms are those of vectors
};

// `c` is the kernel's result in C's memory layout (ldc as in `operation`).
IdentityResult check_identity(const Operation& operation, const Input& input,
                              const ErrorBound& bound, const float* c);

}  // namespace ladder
