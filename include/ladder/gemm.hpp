// SPDX-License-Identifier: Apache-2.0
// The library's call: the best kernel for each problem, for operands on the host or on a GPU.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

namespace ladder {

// The highest rung of the ladder in this place and of this precision that takes the problem, as accepts() says. Pure.
// Errors (kUnsupportedProblem): there is none; the message has the highest rung's reason.
Result<const KernelInfo*> select(const Problem& problem, Place place, Precision precision,
                                 const Device& device);

// C = alpha op(A) op(B) + beta C in FP32 (Precision::kIeee), with FP32 operands. A, B and C lie all on the host, pinned
// or not, or all on the current CUDA device (managed memory counts as the device's). On the host the call returns when C
// is written, having used all cores; on a device the work is enqueued in `stream`.
// Errors: kInvalidArgument (a rule of validate(), types that are not f32, a null operand that would be read or written,
// operands in different places), kUnsupportedProblem (no kernel of the place takes it), kOutOfMemory, kLaunchFailed. With
// an error of the first two kinds C is untouched.
Status sgemm(const Problem& problem, const Operands& operands, Stream stream = nullptr);

}  // namespace ladder
