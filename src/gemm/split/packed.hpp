// SPDX-License-Identifier: Apache-2.0
// r19's products with an operand that was split before, for the library's call. Problems are
// row-major.
#pragma once
#include <ladder/kernel.hpp>

#include <cstdint>

namespace ladder::split_fp16 {

// Bytes of device memory for the terms of op(A) or op(B).
std::int64_t packed_bytes(const Problem& problem, bool of_a);
// Enqueues the split pre-pass of A or B alone. Errors: kLaunchFailed.
Status pack(const Problem& problem, const Operands& operands, bool of_a, void* terms,
            Stream stream);
// Enqueues the split pre-pass of the other operand and the product. Errors: kLaunchFailed.
Status launch_packed(const Problem& problem, const Operands& operands, bool of_a, void* terms,
                     Stream stream);

}  // namespace ladder::split_fp16
