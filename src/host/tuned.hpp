// SPDX-License-Identifier: Apache-2.0
// Block sizes found by search for particular processors, and the search itself. Other processors
// use sizes derived from the cache sizes (blocking.hpp).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/blocking.hpp"

namespace ladder::host {

// The operating system's name of the CPU; "CPU" if it reports none.
const std::string& cpu_name();

// Entry of src/host/tuned/ for a tile; empty if the processor has none or its blocks are not whole
// tiles.
std::optional<Blocks> tuned_blocks(const std::string& cpu, const CacheSizes& caches, Shape tile);

// Overrides blocks() for that tile; an empty argument restores it. Only for the search: no product
// may run meanwhile.
void try_blocks(std::optional<Blocks> blocks, Shape tile);

// Candidate block sizes around the derived ones.
std::vector<Blocks> block_candidates(const CacheSizes& caches, Shape tile);

struct BlockTrial {
  Blocks blocks;
  double seconds = 0;  // median over its rounds
  int rounds = 0;
};

// Successive halving: times all candidates in rounds, drops the slower half and repeats with the
// same time per stage until two remain besides `first`, which is always kept. `seconds` times one
// product with the given blocks. Returns the fastest first and `first` last, unless `first` is the
// fastest.
std::vector<BlockTrial> search_blocks(const Blocks& first, const std::vector<Blocks>& others,
                                      const std::function<double(const Blocks&)>& seconds,
                                      double budget_s);

}  // namespace ladder::host
