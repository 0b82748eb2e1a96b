// SPDX-License-Identifier: Apache-2.0
// An operand that is used in many products, such as a layer's weights, is split only once.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <memory>

namespace ladder {

enum class Operand : std::uint8_t { kA, kB };

// The split terms of op(A) or op(B), in fp16x3, on one CUDA device. Copies of this object share the
// terms. The matrix must stay at its address and unchanged: products read its Inf and NaN from
// there.
class PackedOperand {
 public:
  Operand which() const { return which_; }
  std::int64_t bytes() const { return bytes_; }  // of device memory

 private:
  friend Result<PackedOperand> pack(const Problem&, Operand, const float*, Stream);
  friend Status sgemm(const Problem&, const Operands&, const PackedOperand&, Stream);
  PackedOperand() = default;

  Operand which_ = Operand::kA;
  Problem of_;  // the problem that was passed to pack()
  const float* matrix_ = nullptr;
  int device_ = 0;
  std::int64_t bytes_ = 0;
  std::shared_ptr<void> terms_;
};

// Splits A or B of a problem on the current device. Only the fields that describe that operand are
// used: its sizes, leading dimension, op and the layout. The work is enqueued in `stream`. The call
// allocates memory, hence it must not be captured into a graph. Errors: kInvalidArgument (a rule of
// validate() is broken, a type is not f32, the matrix is null, empty or not on the current device),
// kUnsupportedDevice (not Hopper), kUnsupportedProblem (a size above 2^28), kOutOfMemory,
// kLaunchFailed.
Result<PackedOperand> pack(const Problem& problem, Operand which, const float* matrix,
                           Stream stream = nullptr);

// Computes C = alpha op(A) op(B) + beta C in Precision::kFp16x3. The result is bitwise equal to
// that without packing if the unpacked product runs the split pre-pass on both operands; with few
// rows or columns of C it does not (docs/library/README.md). The pointer of the packed operand must
// be the matrix that was packed, or null. If `stream` is not pack()'s stream, the caller must wait
// for that one first. Errors: as pack() and sgemm() (sgemm.hpp), and kInvalidArgument if the
// problem's operand differs from the packed one; the message names the argument.
Status sgemm(const Problem& problem, const Operands& operands, const PackedOperand& packed,
             Stream stream = nullptr);

}  // namespace ladder
