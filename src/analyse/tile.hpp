// SPDX-License-Identifier: Apache-2.0
// A rung's tile parameters, read off the name of its kernel's instance, and the loads a result that
// follow from them.
#pragma once
#include <ladder/problem.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder::analyse {

constexpr int kRowsOfProduct = 64;  // of A in one wgmma; B is read anew for each of them

struct TileShape {
  int bm = 0, bn = 0, bk = 0;  // of a block; bk 0: nothing is kept in shared memory
  int wm = 0, wn = 0;          // of a warp, where the rung has that level
  int tm = 1, tn = 1;          // of a thread
  std::vector<std::pair<std::string, int>> parameters;  // as the rung names them, in its order

  int stages =
      0;  // tiles on their way to shared memory or there, where the rung has a ring of them
  bool warpgroups = false;    // wgmma: 64 rows an instruction, operands in shared memory
  bool in_step = false;       // all warpgroups meet after each stage
  bool stores_later = false;  // a finished tile leaves while the next one is computed
  bool evenly = false;        // what would be a last wave with idle SMs is shared out
  int pair = 1;               // blocks that share the copies of one operand

  // Where operands are split: words of an element, of so many bytes, and products of words that
  // stand for one.
  int words = 1, products = 1, word_bytes = 0;

  // Of C in one wgmma: split operands' sums are of half a wide tile, since they are added up
  // elsewhere.
  int columns_of_product() const { return products > 1 && bn > 128 ? 128 : bn; }
  // Warps of a block that multiply; 0 where all do.
  int multiplying() const { return wm > 0 && wn > 0 ? bm / wm * (bn / wn) : 0; }
};

// `kernel` is the demangled name of what was launched: "...::kernel<...::Tile<128, 128, 8, 8, 8>,
// true>(...)". None for a rung whose parameters are not known here (a launch's counters still are).
std::optional<TileShape> tile_of(std::string_view rung, std::string_view kernel);

// The tile that the rung takes for `problem`, where it takes another one than for the small problem
// that `seen` is of: r17 has several, and the widest, in pairs, where they fill `sms` SMs; so have
// r18 to r20. None between: which one r18 to r20 then take is for their own plan to say.
std::optional<TileShape> tile_for(std::string_view rung, const TileShape& seen,
                                  const Problem& problem, int sms);

// Whether the rung's own plan chooses its tile, and where parts of k go, by the problem: what a
// small one shows says nothing of others.
bool plans_its_tile(std::string_view rung);

// Elements read for one element of C by each level, for a C that whole tiles cover.
struct Loads {
  double global_loads = 0, shared_loads = 0;
  std::string global_formula, shared_formula;  // "K/16", "9K/8", "2K"
};
Loads loads_per_result(const TileShape& tile, std::int64_t k);

// times/over as "K/16", "9K/8", "2K": what stands for `times / over` times K in lowest terms.
std::string of_k(std::int64_t times, std::int64_t over);

}  // namespace ladder::analyse
