// SPDX-License-Identifier: Apache-2.0
// Parses a rung's tile parameters from its kernel's demangled name and derives the loads per
// result.
#pragma once
#include <ladder/problem.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder::analyse {

constexpr int kRowsOfProduct = 64;  // rows of A per wgmma; each wgmma reads B again

struct TileShape {
  int bm = 0, bn = 0, bk = 0;  // per block; bk 0: shared memory is not used
  int wm = 0, wn = 0;          // per warp, if the rung has that level
  int tm = 1, tn = 1;          // per thread
  std::vector<std::pair<std::string, int>> parameters;  // with the rung's names, in its order

  // Number of shared-memory stages, if the rung has a ring of them.
  int stages = 0;
  bool warpgroups = false;    // wgmma: 64 rows per instruction, operands in shared memory
  bool in_step = false;       // all warpgroups synchronise after each stage
  bool stores_later = false;  // a finished tile is stored while the next one is computed
  bool evenly = false;        // the work of a partial last wave is distributed over all SMs
  bool promotes = false;      // 8-bit operands: partial sums are promoted after each stage
  int pair = 1;               // blocks per pair that shares the copies of one operand

  // Split operands: terms per element, split products per element product, and bytes per term.
  int terms = 1, products = 1, term_bytes = 0;

  // Columns of C per wgmma. Kernels with split or 8-bit operands accumulate a wide tile in two
  // halves, because the sums are added up in separate registers.
  int columns_of_product() const { return (products > 1 || promotes) && bn > 128 ? 128 : bn; }
  // Warps per block that multiply; 0 if all do.
  int multiplying() const { return wm > 0 && wn > 0 ? bm / wm * (bn / wn) : 0; }
};

// `kernel` is the demangled name of the launched kernel, such as "...::kernel<...::Tile<128, 128,
// 8, 8, 8>, true>(...)". Empty for a rung whose parameters are not known here; its launches can
// still be counted.
std::optional<TileShape> tile_of(std::string_view rung, std::string_view kernel);

// The tile that the kernel uses for `problem`, if it differs from `seen`, the tile of the small
// observed problem. The library's kernels on tensor cores have several tiles and use the widest
// one, in pairs of blocks if operands are not split, if it fills `sms` SMs. Empty for the sizes
// between, where those with split or 8-bit operands choose by their own plan.
std::optional<TileShape> tile_for(std::string_view rung, const TileShape& seen,
                                  const Problem& problem, int sms);

// Whether the rung's own plan chooses its tile and k-splits by problem size, so that a small
// problem's tile says nothing about other sizes.
bool plans_its_tile(std::string_view rung);

// Elements read per element of C at each level, if whole tiles cover C.
struct Loads {
  double global_loads = 0, shared_loads = 0;
  std::string global_formula, shared_formula;  // "K/16", "9K/8", "2K"
};
Loads loads_per_result(const TileShape& tile, std::int64_t k);

// Formats times/over * K in lowest terms: "K/16", "9K/8", "2K".
std::string of_k(std::int64_t times, std::int64_t over);

}  // namespace ladder::analyse
