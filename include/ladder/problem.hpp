// SPDX-License-Identifier: Apache-2.0
// The operation: C = alpha op(A) op(B) + beta C, with the conventions of BLAS (Level 3 BLAS,
// Dongarra et al. 1990): C is not read if beta = 0; A and B are not read if k = 0 or alpha = 0.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>
#include <string>

namespace ladder {

enum class Layout : std::uint8_t { kRowMajor, kColMajor };
enum class Op : std::uint8_t { kNone, kTranspose };
// Element types in memory: IEEE binary32, bfloat16, IEEE binary16, and the 8-bit types of OCP's
// OFP8 specification. Accumulation is binary32 for all types.
enum class Type : std::uint8_t { kF32, kBf16, kF16, kE4m3, kE5m2 };
const char* to_string(Type type);  // "f32", "bf16", "f16", "e4m3", "e5m2"
std::int64_t bytes_of(Type type);  // of one element

// Scales: FP32 factors by which the elements of A and B are multiplied. kTensor: one for A, one for
// B. kBlock: one per row of op(A) and kScaleBlock elements along k, and one per kScaleBlock x
// kScaleBlock elements of op(B) (DeepGEMM's convention).
enum class Scaling : std::uint8_t { kNone, kTensor, kBlock };
const char* to_string(Scaling scaling);  // "none", "tensor", "block"
constexpr std::int64_t kScaleBlock = 128;

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
  Scaling scaling = Scaling::kNone;

  bool operator==(const Problem&) const = default;
};

// Returns a problem with the smallest valid leading dimensions.
Problem make_problem(std::int64_t m, std::int64_t n, std::int64_t k, float alpha = 1.0F,
                     float beta = 0.0F, Op op_a = Op::kNone, Op op_b = Op::kNone,
                     Layout layout = Layout::kRowMajor);

// Errors (kInvalidArgument): a size is negative, a leading dimension is below its minimum, the
// extent of a matrix in bytes exceeds 63 bits. The message names the argument and the rule.
Status validate(const Problem& problem);

// Returns the same product as a row-major problem. Column-major C = A B is row-major C' = B' A', so
// m and n, the operands and their ops are exchanged. `swapped` says whether the caller must
// exchange A and B.
struct RowMajor {
  Problem problem;
  bool swapped = false;
};
RowMajor as_row_major(const Problem& problem);

// A matrix in memory: `lines` rows (column-major: columns) of `used` elements each, `ld` elements
// apart.
struct Extent {
  std::int64_t lines = 0, used = 0, ld = 1;
  // Elements from the first to one past the last used one; 0 for an empty matrix.
  std::int64_t elements() const { return lines == 0 || used == 0 ? 0 : (lines - 1) * ld + used; }
};
Extent extent_a(const Problem& problem);
Extent extent_b(const Problem& problem);
Extent extent_c(const Problem& problem);

// The scales of A and B in memory, as cuBLASLt has them. A line of A's has those of kScaleBlock
// elements of k for each row of op(A). A line of B's has those of kScaleBlock columns of op(B); its
// length is a multiple of four. kTensor: one scale.
Extent extent_scales_a(const Problem& problem);
Extent extent_scales_b(const Problem& problem);

bool reads_ab(const Problem& problem);  // false when k = 0 or alpha = 0
bool reads_c(const Problem& problem);   // false when beta = 0

double flops(const Problem& problem);  // 2 m n k, the customary count
// each required element is read once, each element of C is written once
double least_bytes(const Problem& problem);

// "4096x4096x4096", "250x251x253 (bf16 to f32, lda 256, beta 1)": fields with default values are
// omitted.
std::string to_string(const Problem& problem);

// Parses "MxNxK" or "N" (a cube) into a problem with minimal leading dimensions. Errors
// (kInvalidArgument): the message quotes the text and the rule.
Result<Problem> parse_shape(const std::string& text);

}  // namespace ladder
