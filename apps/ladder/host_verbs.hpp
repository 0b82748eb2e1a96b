// SPDX-License-Identifier: Apache-2.0
// explain, diff and show of CPU rungs, on this machine.
#pragma once
#include <ladder/kernel.hpp>

#include <vector>

namespace ladder::app {

// The kernels among `kernels` that are CPU rungs. Throws BadInput where there are CUDA rungs beside
// them: those are explained for a device of the database, these for this machine.
std::vector<const KernelInfo*> host_rungs(const std::vector<const KernelInfo*>& kernels);

// The exit status. Each rung is verified on the problem and timed, briefly. Throws BadInput where
// nothing can be measured.
int explain_host_rungs(const std::vector<const KernelInfo*>& rungs, const Problem& problem,
                       bool json);
int diff_host_rungs(const KernelInfo& a, const KernelInfo& b, const Problem& problem);
int show_host_rungs(const std::vector<const KernelInfo*>& rungs, bool hot);

}  // namespace ladder::app
