// SPDX-License-Identifier: Apache-2.0
#include "host/blocking.hpp"

#include <unistd.h>

#include "host/tuned.hpp"

namespace ladder::host {

CacheSizes cache_sizes() {
  CacheSizes out;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const auto read = [](int name, std::int64_t& size) {
    const long bytes = sysconf(name);
    if (bytes > 0) size = bytes;
  };
  read(_SC_LEVEL1_DCACHE_SIZE, out.l1);
  read(_SC_LEVEL2_CACHE_SIZE, out.l2);
  read(_SC_LEVEL3_CACHE_SIZE, out.l3);
#endif
  return out;
}

static const CacheSizes& caches() {
  static const CacheSizes sizes = cache_sizes();
  return sizes;
}

// Blocks of the tile that most products use; overridden during a search.
struct Chosen {
  Shape tile;
  std::optional<Blocks> blocks;
};
static Chosen& chosen() {
  static Chosen chosen = [] {
    const Shape tile = micro_kernel().shape(2);
    return Chosen{tile, tuned_blocks(cpu_name(), caches(), tile)};
  }();
  return chosen;
}

void try_blocks(std::optional<Blocks> blocks, Shape tile) {
  chosen() = {tile, blocks ? blocks : tuned_blocks(cpu_name(), caches(), tile)};
}

Blocks blocks(Shape tile) {
  const Chosen& now = chosen();
  return now.blocks && now.tile == tile ? *now.blocks : blocks_for(caches(), tile);
}

// Twice the cycles per step of k for all tiles of C. A tile takes the longest of its multiply-adds
// (two per cycle), its loads (two per cycle) and the latency of a dependent sum. Integer
// arithmetic, because a small product takes no longer than a few divisions.
static int half_cycles(const MicroKernel& kernel, Shape tile, int m, int n) {
  constexpr int kLatency = 4;
  const int panels = (m + tile.rows - 1) / tile.rows;
  const auto column = [&](int cols) {
    const int vectors = (cols + kernel.lanes - 1) / kernel.lanes;
    return std::max({m * vectors, m + panels * vectors, 2 * kLatency * panels});
  };
  const int whole = n / tile.cols, rest = n % tile.cols;
  return whole * column(tile.cols) + (rest > 0 ? column(rest) : 0);
}

static Shape tile_for(const Problem& p, const MicroKernel& kernel) {
  // Above kMostForThree columns, the narrow tiles at the edge no longer decide. Above kTall rows,
  // their share of the work no longer changes.
  constexpr std::int64_t kMostForThree = 128, kTall = 1 << 16;
  const Shape two = kernel.shape(2), three = kernel.shape(3);
  if (p.n <= two.cols || p.n > kMostForThree || p.n % two.cols == 0) return two;
  const int m = static_cast<int>(std::min(p.m, kTall)), n = static_cast<int>(p.n);
  return half_cycles(kernel, three, m, n) < half_cycles(kernel, two, m, n) ? three : two;
}

// If rows of A are read in place, no block of A has to stay in L3, so all rows of C share one
// packed B. Blocks can also be deeper, since no panel copies are written; C is then read and
// written less often.
static Blocks blocks_of(const Problem& p, Shape tile, bool pack_a) {
  Blocks out = blocks(tile);
  std::int64_t parts = 1;
  if (pack_a) {
    parts = std::max<std::int64_t>(1, (p.m + out.rows / 2) / out.rows);
  } else {
    out.depth = out.depth * 4 / 3;
  }
  out.rows = pieces(pieces(p.m, parts), tile.rows) * tile.rows;
  return out;
}

Way way_for(const Problem& p, const MicroKernel& kernel) {
  constexpr std::int64_t kFloat = sizeof(float);
  // Number of reads per element above which a copy pays. Rows of A are read efficiently in place;
  // along columns, every step of k touches another page.
  constexpr std::int64_t kReadsOfRows = 48, kReadsOfColumns = 4, kReadsOfB = 8;
  const std::int64_t l2 = caches().l2, bytes_a = p.m * p.k * kFloat, bytes_b = p.n * p.k * kFloat;
  Way out;
  out.tile = tile_for(p, kernel);
  // Streaming stores avoid reading C's cache lines before they are written, which pays if L3 cannot
  // hold C. For a deep k that read costs nothing, and streaming is slower for what L3 can hold.
  constexpr std::int64_t kShallow = 64;
  out.streams =
      p.k <= kShallow && p.beta == 0.0F && p.m * p.n * kFloat > std::max(2 * l2, caches().l3 / 2);
  out.c_is_far = !out.streams && p.m * p.n * kFloat > l2 / 4;
  const bool near = bytes_a + bytes_b <= l2 * 5 / 8;
  const bool whole_vectors = p.n % kernel.lanes == 0 || kernel.partial_loads;
  const bool b_in_place =
      near || p.m <= out.tile.rows || (p.m <= kReadsOfB * out.tile.rows && bytes_b <= l2 / 2);
  out.pack_b = p.op_b == Op::kTranspose || !whole_vectors || !b_in_place;
  out.pack_a =
      !near && p.n > (p.op_a == Op::kTranspose ? kReadsOfColumns : kReadsOfRows) * out.tile.cols;
  // minimum depth of blocks on any machine, see blocks_for()
  constexpr std::int64_t kLeastDepth = 64;
  out.in_place = !out.pack_a && !out.pack_b && p.k <= kLeastDepth;
  if (!out.in_place) {
    out.blocks = blocks_of(p, out.tile, out.pack_a);
    out.in_place = !out.pack_a && !out.pack_b && p.k <= out.blocks.depth;
  }
  if (out.pack_a) {
    out.form = out.pack_b ? Form::kPacked : Form::kInColumns;
  } else {
    out.form = p.op_a == Op::kTranspose ? Form::kInColumns : Form::kInRows;
  }
  return out;
}

}  // namespace ladder::host
