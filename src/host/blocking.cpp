// SPDX-License-Identifier: Apache-2.0
#include "host/blocking.hpp"

#include <unistd.h>

#include <algorithm>

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

// Of the tile that most products take; a search sets them for a while.
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

// Twice the cycles of a step of k on all tiles of C: of each the multiply-adds, two a cycle, or the
// loads, two a cycle, or the wait of a sum for itself. In integers, since a small product takes no
// longer than some divisions.
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
  // Wider than this, the sliver at the edge no longer decides. Taller, its part of the whole no
  // longer changes.
  constexpr std::int64_t kMostForThree = 128, kTall = 1 << 16;
  const Shape two = kernel.shape(2), three = kernel.shape(3);
  if (p.n <= two.cols || p.n > kMostForThree || p.n % two.cols == 0) return two;
  const int m = static_cast<int>(std::min(p.m, kTall)), n = static_cast<int>(p.n);
  return half_cycles(kernel, three, m, n) < half_cycles(kernel, two, m, n) ? three : two;
}

// Rows of A that are read in place have no block to keep in L3, so all rows of C share one packed
// B; and they may be deeper, since no copy of a panel has to be written: C is read and written less
// often.
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
  // Reads of an element from which a copy pays. Rows of A are read well where they lie; down its
  // columns every step of k is on another page.
  constexpr std::int64_t kReadsOfRows = 48, kReadsOfColumns = 4, kReadsOfB = 8;
  const std::int64_t l2 = caches().l2, bytes_a = p.m * p.k * kFloat, bytes_b = p.n * p.k * kFloat;
  Way out;
  out.tile = tile_for(p, kernel);
  // Written once and not kept by L3: such lines need not be read first. Where k is deep that read
  // costs nothing, and what L3 can keep is slower to write past it.
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
  constexpr std::int64_t kLeastDepth = 64;  // no machine's blocks are less deep, see blocks_for
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
