// SPDX-License-Identifier: Apache-2.0
// ladder tune for CPU rungs: searches the sizes of the blocks into which h04 and h05 divide a
// product.
#pragma once
#include <ladder/problem.hpp>

#include <string>

namespace ladder::app {

// True if `name`, as the user types it, is a rung with searchable block sizes.
bool has_blocks(const std::string& name);

// Prints the best sizes and writes them to `output`, or, if that is "", to src/host/tuned/CPU.json
// of the checkout at `source`. Returns the program's exit status. Throws BadInput: --output.
int tune_blocks(const Problem& problem, double budget_s, const std::string& source,
                const std::string& output);

}  // namespace ladder::app
