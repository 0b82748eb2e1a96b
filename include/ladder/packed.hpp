// SPDX-License-Identifier: Apache-2.0
// An operand that is multiplied many times, such as a layer's weights, is split into words once.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <memory>

namespace ladder {

enum class Operand : std::uint8_t { kA, kB };

// The words of op(A) or op(B), in fp16x3, on one CUDA device. Copies share them. The matrix itself
// must stay where and as it was: what it has of Inf and NaN is taken from there.
class PackedOperand {
 public:
  Operand which() const { return which_; }
  std::int64_t bytes() const { return bytes_; }  // of device memory

 private:
  friend Result<PackedOperand> pack(const Problem&, Operand, const float*, Stream);
  friend Status sgemm(const Problem&, const Operands&, const PackedOperand&, Stream);
  PackedOperand() = default;

  Operand which_ = Operand::kA;
  Problem of_;  // whose operand it is
  const float* matrix_ = nullptr;
  int device_ = 0;
  std::int64_t bytes_ = 0;
  std::shared_ptr<void> words_;
};

// Splits A, or B, of a problem on the current device. Of the problem only what concerns that
// operand counts: its sizes, leading dimension, op and the layout. The work is enqueued in
// `stream`; memory is allocated, so not while a graph is captured. Errors: kInvalidArgument (a rule
// of validate(), types that are not f32, a null matrix, one that is not on the current device, an
// empty one), kUnsupportedDevice (no Hopper), kUnsupportedProblem (sizes beyond 2^28),
// kOutOfMemory, kLaunchFailed.
Result<PackedOperand> pack(const Problem& problem, Operand which, const float* matrix,
                           Stream stream = nullptr);

// C = alpha op(A) op(B) + beta C in Precision::kFp16x3, whose bits are those of the product without
// packing where that makes words of both operands first; a C of few rows or columns does not
// (docs/library/README.md). The packed operand's pointer is the matrix it was made of, or null. In
// another stream than pack()'s the caller waits for that one. Errors: as pack() and sgemm()
// (gemm.hpp); kInvalidArgument where the problem's operand is not the packed one, which names the
// argument.
Status sgemm(const Problem& problem, const Operands& operands, const PackedOperand& packed,
             Stream stream = nullptr);

}  // namespace ladder
