// SPDX-License-Identifier: Apache-2.0
// The one list of kernels. Command line, tests, benchmarks and reports enumerate it; there is no
// second list.
#pragma once
#include <ladder/kernel.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace ladder {

// All kernels in the order of the ladder: host rungs, CUDA rungs, the library, baselines.
std::span<const KernelInfo> kernels();

// The kernels that `name` means: an id, a rung ("r03_smem_tile": all its variants), a rung's number
// ("r03"), or "ladder", the library's calls. Errors (kInvalidArgument): no such kernel; the message
// lists the nearest names.
Result<std::vector<const KernelInfo*>> find_kernels(std::string_view name);

// What `kernel` is measured against unless told otherwise: the first baseline in the same place, on
// as many cores, in the same types, of the precision that it stands for. Null: none.
const KernelInfo* baseline_of(const KernelInfo& kernel);

}  // namespace ladder
