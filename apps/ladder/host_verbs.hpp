// SPDX-License-Identifier: Apache-2.0
// explain, diff and show for CPU rungs, on this machine.
#pragma once
#include <ladder/kernel.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "analyse/difference.hpp"

namespace ladder::app {

// Returns the CPU rungs among `kernels`. Throws BadInput if there are also CUDA rungs: those are
// explained for a device of the database, CPU rungs for this machine.
std::vector<const KernelInfo*> host_rungs(const std::vector<const KernelInfo*>& kernels);

// Returns the exit status. Verifies each rung on the problem and times it briefly. Throws BadInput
// if nothing can be measured.
int explain_host_rungs(const std::vector<const KernelInfo*>& rungs, const Problem& problem,
                       bool json);
int diff_host_rungs(const KernelInfo& a, const KernelInfo& b, const Problem& problem);
int show_host_rungs(const std::vector<const KernelInfo*>& rungs, bool hot);

// Prints numbers of two kernels side by side; nothing if there are no rows.
void print_differences(const std::string& title, const std::vector<analyse::Compare>& rows,
                       std::string_view a, std::string_view b);

}  // namespace ladder::app
