// SPDX-License-Identifier: Apache-2.0
// A rung's tile parameters, read off the name of its kernel's instance, and the loads a result that follow from
// them.
#pragma once
#include <ladder/problem.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder::analyse {

struct TileShape {
  int bm = 0, bn = 0, bk = 0;                           // of a block; bk 0: nothing is kept in shared memory
  int wm = 0, wn = 0;                                   // of a warp, where the rung has that level
  int tm = 1, tn = 1;                                   // of a thread
  std::vector<std::pair<std::string, int>> parameters;  // as the rung names them, in its order
};

// `kernel` is the demangled name of what was launched: "...::kernel<...::Tile<128, 128, 8, 8, 8>, true>(...)".
// None for a rung whose parameters are not known here (a launch's counters still are).
std::optional<TileShape> tile_of(std::string_view rung, std::string_view kernel);

// Elements read for one element of C by each level, for a C that whole tiles cover.
struct Loads {
  double global_loads = 0, shared_loads = 0;
  std::string global_formula, shared_formula;  // "K/16", "9K/8", "2K"
};
Loads loads_per_result(const TileShape& tile, std::int64_t k);

// times/over as "K/16", "9K/8", "2K": what stands for `times / over` times K in lowest terms.
std::string of_k(std::int64_t times, std::int64_t over);

}  // namespace ladder::analyse
