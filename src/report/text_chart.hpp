// SPDX-License-Identifier: Apache-2.0
// The climb and the roofline as text, for terminals and logs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace ladder {

// Returns one line per bar, at most `width` columns wide, with a resolution of 1/8 column. Empty if
// there are no bars.
std::vector<std::string> climb_text(std::span<const Bar> bars, std::size_t width);

// Both axes are logarithmic. The roofs are lines; each rung is a letter at its intensity in L2
// bytes, and a legend follows. Empty if there are no points.
std::vector<std::string> roofline_text(std::span<const Roof> roofs,
                                       std::span<const RooflinePoint> points, std::size_t width);

}  // namespace ladder
