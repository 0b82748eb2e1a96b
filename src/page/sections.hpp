// SPDX-License-Identifier: Apache-2.0
// Parts of the page.
#pragma once
#include <string>

#include "page/page.hpp"

namespace ladder::page {

// A section a rung: its tile, the accesses of a warp, occupancy, and what the model says of its
// time.
std::string rungs_section(const Contents& contents);

// Two rungs side by side; without scripts the best one and the one before it.
std::string compare_section(const Contents& contents);

// The numbers and sentences of all kernels and pairs, for the script of that section.
std::string compare_data(const Contents& contents);

}  // namespace ladder::page
