// SPDX-License-Identifier: Apache-2.0
// What is to be computed: C = alpha op(A) op(B) + beta C, with BLAS's conventions (Level 3 BLAS,
// Dongarra et al. 1990): beta = 0 never reads C; k = 0 or alpha = 0 never reads A or B.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>
#include <string>

namespace ladder {

enum class Layout : std::uint8_t { kRowMajor, kColMajor };
enum class Op : std::uint8_t { kNone, kTranspose };
// How elements lie in memory: IEEE binary32, bfloat16, IEEE binary16. Sums are binary32 whatever
// the type.
enum class Type : std::uint8_t { kF32, kBf16, kF16 };
const char* to_string(Type type);  // "f32", "bf16", "f16"
std::int64_t bytes_of(Type type);  // of one element

// op(A) is m x k, op(B) is k x n, C is m x n; leading dimensions count elements, not bytes. A
// row-major matrix with r rows and c columns has its element (i, j) at i * ld + j and needs ld >=
// max(1, c); column-major swaps the roles of rows and columns.
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 1, ldb = 1, ldc = 1;
  float alpha = 1.0F, beta = 0.0F;
  Op op_a = Op::kNone, op_b = Op::kNone;
  Layout layout = Layout::kRowMajor;
  Type in = Type::kF32, out = Type::kF32;  // of A and B; of C

  bool operator==(const Problem&) const = default;
};

// A problem whose leading dimensions are the smallest allowed.
Problem make_problem(std::int64_t m, std::int64_t n, std::int64_t k, float alpha = 1.0F,
                     float beta = 0.0F, Op op_a = Op::kNone, Op op_b = Op::kNone,
                     Layout layout = Layout::kRowMajor);

// Errors (kInvalidArgument): a negative size, a leading dimension below its minimum, a matrix whose
// extent in bytes does not fit in 63 bits. The message names the argument and the rule.
Status validate(const Problem& problem);

// The same product as a row-major problem: column-major C = A B is row-major C' = B' A', so m and
// n, the operands and their ops change places. `swapped` says whether the caller must exchange A
// and B.
struct RowMajor {
  Problem problem;
  bool swapped = false;
};
RowMajor as_row_major(const Problem& problem);

// Rows (lines of `ld` elements) and used elements a line of a matrix as it lies in memory.
struct Extent {
  std::int64_t lines = 0, used = 0, ld = 1;
  // Elements from the first to one past the last used one; 0 for an empty matrix.
  std::int64_t elements() const { return lines == 0 || used == 0 ? 0 : (lines - 1) * ld + used; }
};
Extent extent_a(const Problem& problem);
Extent extent_b(const Problem& problem);
Extent extent_c(const Problem& problem);

bool reads_ab(const Problem& problem);  // false when k = 0 or alpha = 0
bool reads_c(const Problem& problem);   // false when beta = 0

double flops(const Problem& problem);  // 2 m n k, the customary count
double least_bytes(
    const Problem& problem);  // each needed element read once, each element of C written once

// "4096x4096x4096", "250x251x253 (bf16 to f32, lda 256, beta 1)": what differs from the defaults is
// shown.
std::string to_string(const Problem& problem);

// Parses "MxNxK" or "N" (a cube) into a tight problem. Errors (kInvalidArgument) quote the text and
// the rule.
Result<Problem> parse_shape(const std::string& text);

}  // namespace ladder
