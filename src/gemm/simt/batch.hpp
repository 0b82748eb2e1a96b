// SPDX-License-Identifier: Apache-2.0
// A batch of FP32 products on CUDA cores in one launch, with the tiles of ladder_split_k.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>
#include <ladder/sgemm.hpp>

namespace ladder {

// For compute capability 9.0 and problems that ladder_split_k takes. Takes no workspace. Errors:
// kLaunchFailed.
Status launch_batch(const Problem& problem, const Operands& operands, const Batch& batch,
                    Stream stream);

}  // namespace ladder
