// SPDX-License-Identifier: Apache-2.0
// How a product is cut for the caches of the machine (after Goto and van de Geijn 2008, "Anatomy of
// high-performance matrix multiplication", with A and B in each other's place since C lies in
// rows): a panel of A stays in L1 while the slivers of a block of B stream past it from L2; the
// block of A stays in L3.
#pragma once
#include <ladder/problem.hpp>

#include <algorithm>
#include <cstdint>

#include "host/micro_kernel.hpp"

namespace ladder::host {

struct CacheSizes {
  std::int64_t l1 = 32 << 10, l2 = 1 << 20, l3 = 8 << 20;  // bytes that one core may use
};
CacheSizes cache_sizes();  // of this machine; the defaults where it does not say

struct Blocks {
  std::int64_t rows = 0, cols = 0,
               depth = 0;  // of C's block and of k; rows and cols in whole tiles
  bool operator==(const Blocks&) const = default;
};

// Pure.
constexpr Blocks blocks_for(const CacheSizes& caches, Shape tile) {
  constexpr std::int64_t kFloat = sizeof(float);
  Blocks out;
  // Three fifths of L1 for the panel of A; the rest for the sliver of B that passes and for C.
  // Deeper than 512, what C costs is below one per cent.
  out.depth = std::clamp<std::int64_t>(caches.l1 * 3 / 5 / (tile.rows * kFloat) / 16 * 16, 64, 512);
  // Three eighths of L2 for the block of B, since panels of A and C pass through it as well.
  out.cols =
      std::max<std::int64_t>(1, caches.l2 * 3 / 8 / (out.depth * kFloat) / tile.cols) * tile.cols;
  // Half of L3, and no more than 4 MiB: what of L3 is this core's own, nobody says.
  const std::int64_t l3 = std::min<std::int64_t>(caches.l3 / 2, 4 << 20);
  out.rows = std::max<std::int64_t>(1, l3 / (out.depth * kFloat) / tile.rows) * tile.rows;
  return out;
}

Blocks blocks(Shape tile);  // of this machine: from the tuned table (tuned.hpp), else blocks_for()

// Floats that packed blocks of an operand take: of `lines` cut into blocks of at most `most`,
// filled up to `unit`.
constexpr std::int64_t packed_floats(std::int64_t lines, std::int64_t most, std::int64_t k,
                                     std::int64_t most_depth, std::int64_t unit) {
  const std::int64_t widest = std::min(lines, most) + unit;
  constexpr std::int64_t kVector = 16,
                         kLeastTileRows = 4;  // a vector's room behind each panel: see Panels
  return widest / unit * unit * std::min(k, most_depth) + kVector * (widest / kLeastTileRows + 2);
}

// The way to a product: the register tile, and which operands are copied into panels. An element of
// A is read once for each tile column of C, one of B once for each tile row: below a few reads, or
// where all lies near, the copy costs more than the strides.
struct Way {
  Shape tile;
  bool pack_a = true, pack_b = true;
  bool in_place = false;                   // nothing is copied, and k is one block
  bool c_is_far = false, streams = false;  // see TileArgs
  Form form = Form::kPacked;
  Blocks blocks;  // unless in_place
};
Way way_for(const Problem& row_major, const MicroKernel& kernel);

// Piece `i` of `size` cut into the fewest pieces of at most `most`, as equal as multiples of `unit`
// allow.
struct Piece {
  std::int64_t begin = 0, size = 0;
};
constexpr std::int64_t pieces(std::int64_t size, std::int64_t most) {
  return (size + most - 1) / most;
}
constexpr Piece piece(std::int64_t size, std::int64_t count, std::int64_t i,
                      std::int64_t unit = 1) {
  const std::int64_t units = (size + unit - 1) / unit;
  const std::int64_t begin = units * i / count * unit, end = units * (i + 1) / count * unit;
  return {begin, std::min(end, size) - begin};
}

}  // namespace ladder::host
