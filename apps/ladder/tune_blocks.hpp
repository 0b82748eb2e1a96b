// SPDX-License-Identifier: Apache-2.0
// ladder tune on a CPU rung: the sizes of the blocks that h04 and h05 cut a product into, found by
// trying.
#pragma once
#include <ladder/problem.hpp>

#include <string>

namespace ladder::app {

// Whether `name`, as the user gives it, is a rung whose blocks can be searched.
bool has_blocks(const std::string& name);

// Prints the best and writes it to `output`, "" for src/host/tuned/CPU.json of the checkout at
// `source`. Returns the program's exit status. Throws BadInput: --output.
int tune_blocks(const Problem& problem, double budget_s, const std::string& source,
                const std::string& output);

}  // namespace ladder::app
