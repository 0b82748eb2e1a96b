// SPDX-License-Identifier: Apache-2.0
// Block sizes that were found by trying, for processors that somebody tuned on, and how they are
// found. Elsewhere they follow from the cache sizes (blocking.hpp).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/blocking.hpp"

namespace ladder::host {

// As the operating system names it; "CPU" where it does not.
const std::string& cpu_name();

// Of src/host/tuned/, for a tile; none if the processor is not there, or its blocks are no whole
// tiles.
std::optional<Blocks> tuned_blocks(const std::string& cpu, const CacheSizes& caches, Shape tile);

// Replaces what blocks() says for that tile, until called with none. For the search alone: no
// product may run meanwhile.
void try_blocks(std::optional<Blocks> blocks, Shape tile);

// Block sizes around the given ones: depths, widths and heights worth trying.
std::vector<Blocks> block_candidates(const CacheSizes& caches, Shape tile);

struct BlockTrial {
  Blocks blocks;
  double seconds = 0;  // the median of its rounds
  int rounds = 0;
};

// Candidates round by round, each half of them for as long as the one before, the slower half of
// them dropped, until two are left beside the first, which is always kept. `seconds` does one
// product with these blocks. The fastest comes first, `first` last unless it is the fastest.
std::vector<BlockTrial> search_blocks(const Blocks& first, const std::vector<Blocks>& others,
                                      const std::function<double(const Blocks&)>& seconds,
                                      double budget_s);

}  // namespace ladder::host
