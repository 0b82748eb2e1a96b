// SPDX-License-Identifier: Apache-2.0
// Parts of the page.
#pragma once
#include <string>

#include "page/page.hpp"

namespace ladder::page {

// Returns one section per rung: its tile, the accesses of a warp, occupancy, and the model's
// statement of its time.
std::string rungs_section(const Contents& contents);

// Returns two rungs side by side. Without scripts these are the best rung and the one before it.
std::string compare_section(const Contents& contents);

// Returns the numbers and sentences of all kernels and pairs as data for that section's script.
std::string compare_data(const Contents& contents);

}  // namespace ladder::page
