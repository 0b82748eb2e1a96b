// SPDX-License-Identifier: Apache-2.0
// Sampling: executes some blocks of a grid and estimates the counts of the whole grid. Blocks in
// the last row, column or layer of a grid often do less work than the others, because the problem
// ends inside them (ragged edge). They therefore form strata of their own, and the counts of each
// stratum are scaled by the size of that stratum.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/engine.hpp"

namespace vgpu {

// The blocks that are last in the same dimensions of the grid (or in none).
struct Stratum {
  std::uint64_t size = 0;             // number of blocks of the grid in this stratum
  std::vector<std::uint64_t> blocks;  // the blocks to execute, as linear indices in ascending order
};

// Chooses `wanted` blocks: first the corners of the grid, which are always included even if there
// are more than `wanted`; then the middles of edges and of the grid; then evenly spaced blocks.
// Returns an empty list if that is the whole grid. The result depends only on the arguments.
std::vector<Stratum> sample(const Dim3& grid, std::uint64_t wanted);

// Adds `part`, the report of a stratum's executed blocks, to `whole`. Sums over blocks are scaled
// to the stratum's size and become estimates. Values that hold for the launch as a whole stay
// exact. `report.output` is appended.
void add_scaled(LaunchReport& whole, const LaunchReport& part, const Stratum& stratum);

}  // namespace vgpu
