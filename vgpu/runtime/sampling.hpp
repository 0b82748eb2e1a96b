// SPDX-License-Identifier: Apache-2.0
// Some of a grid's blocks in place of all: which, and what their counts say of the whole. Blocks in
// the last row, column or layer of a grid often do less than the others (the problem ends inside
// them), so that they are strata of their own: each stratum's counts are scaled by its own size.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace vgpu {

// Blocks that are last, or not, in the same dimensions.
struct Stratum {
  std::uint64_t size = 0;             // blocks of the grid in it
  std::vector<std::uint64_t> blocks;  // those to execute, linear indices, ascending
};

// `wanted` blocks, and the grid's corners whatever it is: corners, middles of edges, then evenly
// spaced. Empty if that is the whole grid. Depends on nothing else.
std::vector<Stratum> sample(const Dim3& grid, std::uint64_t wanted);

// Adds `part`, the report of a stratum, scaled to the stratum's size. What is a sum over blocks
// becomes an estimate; what the launch itself says stays exact. `report.output` is joined.
void add_scaled(LaunchReport& whole, const LaunchReport& part, const Stratum& stratum);

}  // namespace vgpu
