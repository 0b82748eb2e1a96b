// SPDX-License-Identifier: Apache-2.0
// The library's call: the best kernel for each problem, for operands on the host or on a GPU.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

namespace ladder {

// The kernel that sgemm() uses: in this place and of this precision the highest rung that takes the
// problem, as accepts() says; but the rung for few tiles only where C is thin or small, or k is up
// to 4. kAuto as for sgemm(). Pure. Errors (kUnsupportedProblem): there is none; the message has
// the highest rung's reason.
Result<const KernelInfo*> select(const Problem& problem, Place place, Precision precision,
                                 const Device& device);

// C = alpha op(A) op(B) + beta C with FP32 operands, on the highest rung of a precision that takes
// them. Precision::kAuto: the guarded product (ladder/guard.hpp: the device chooses words, by a
// bound no larger than kIeee's), where it takes the problem and the problem is large enough to gain
// by it; else, and on the host, kIeee. A, B and C lie all on the host, pinned or not, or all on the
// current CUDA device (managed memory counts as the device's). On the host the call returns when C
// is written, having used all cores; on a device the work is enqueued in `stream`. Errors:
// kInvalidArgument (a rule of validate(), types that are not f32, a null operand that would be read
// or written, operands in different places), kUnsupportedProblem (no kernel of the place and
// precision takes it), kOutOfMemory, kLaunchFailed. With an error of the first two kinds C is
// untouched. Any number of host threads may call at once, on streams of their own or on the same
// ones; what a call needs beside its operands is its own in the order of its stream. A call may be
// captured, the first one too: its memory is the graph's as long as that lives. Executable graphs
// made from one captured graph share it, so that they may not run at the same time.
Status sgemm(const Problem& problem, const Operands& operands, Stream stream = nullptr,
             Precision precision = Precision::kIeee);

// `count` products of one problem: operand number i lies at i * stride elements. A stride of A or B
// may be 0: all products share that operand.
struct Batch {
  std::int64_t count = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// All products of a batch, of any precision, in order of their number. A batch that shares B and
// whose A and C lie without a gap, row-major A not transposed, is computed as one product with
// count * m rows (column-major: that shares A, with count * n columns). Errors as above, and
// kInvalidArgument: count or a stride is negative, products of a batch overlap in C. After an error
// other than kLaunchFailed C is untouched.
Status sgemm(const Problem& problem, const Operands& operands, const Batch& batch,
             Stream stream = nullptr, Precision precision = Precision::kIeee);

}  // namespace ladder
