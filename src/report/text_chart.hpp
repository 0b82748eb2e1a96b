// SPDX-License-Identifier: Apache-2.0
// The climb and the roofline as characters, for terminals and logs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace ladder {

// A line a bar, no wider than `width` columns; eighths of blocks at the ends. Nothing for no bars.
std::vector<std::string> climb_text(std::span<const Bar> bars, std::size_t width);

// Both axes logarithmic: the roofs as lines, each rung by its bytes from L2 under a letter, and the
// letters' names below. Nothing for no points.
std::vector<std::string> roofline_text(std::span<const Roof> roofs,
                                       std::span<const RooflinePoint> points, std::size_t width);

}  // namespace ladder
