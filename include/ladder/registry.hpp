// SPDX-License-Identifier: Apache-2.0
// The only list of kernels: the command line, tests, benchmarks and reports all enumerate it.
#pragma once
#include <ladder/kernel.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace ladder {

// All kernels in ladder order: host rungs, CUDA rungs, the library, baselines.
std::span<const KernelInfo> kernels();

// Returns the kernels that `name` denotes: an id, a rung ("r03_smem_tile": all its variants), a
// rung's number ("r03"), or "ladder" (the library's calls). Errors (kInvalidArgument): no such
// kernel; the message lists the nearest names.
Result<std::vector<const KernelInfo*>> find_kernels(std::string_view name);

// Returns the default baseline of `kernel`: the first baseline in the same place, on as many cores,
// in the same types, of the precision stands_for() returns. Null if there is none.
const KernelInfo* baseline_of(const KernelInfo& kernel);

}  // namespace ladder
