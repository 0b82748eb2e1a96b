// SPDX-License-Identifier: Apache-2.0
// bf16x6 for the guard: its kernels are compiled once, in split_bf16.cu.
#pragma once
#include "gemm/split/product.cuh"

namespace ladder::split_bf16 {

using ThreeBf16Terms = TermFormat<__nv_bfloat16, 3>;
using Bf16x6Job = SplitJob<ThreeBf16Terms, 6>;

// Enqueues the pre-pass and the product, which do nothing unless `when` holds. Errors:
// kLaunchFailed.
Status launch_bf16x6(const Bf16x6Job& job, const SplitTarget& x, char* scratch, unsigned* gFlags,
                     const split_detail::When& when, Stream stream);

}  // namespace ladder::split_bf16
