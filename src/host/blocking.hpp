// SPDX-License-Identifier: Apache-2.0
// Cache blocking of a CPU product after Goto and van de Geijn 2008, "Anatomy of high-performance
// matrix multiplication", with A and B exchanged because C is row-major. A panel of A stays in L1
// while the slivers of a block of B stream past it from L2; the block of A stays in L3.
#pragma once
#include <ladder/problem.hpp>

#include <algorithm>
#include <cstdint>

#include "host/micro_kernel.hpp"

namespace ladder::host {

struct CacheSizes {
  std::int64_t l1 = 32 << 10, l2 = 1 << 20, l3 = 8 << 20;  // bytes usable by one core
};
CacheSizes cache_sizes();  // of this machine; the defaults where it reports none

struct Blocks {
  // Sizes of a block of C and of k; rows and cols are whole tiles.
  std::int64_t rows = 0, cols = 0, depth = 0;
  bool operator==(const Blocks&) const = default;
};

// Depends only on its arguments.
constexpr Blocks blocks_for(const CacheSizes& caches, Shape tile) {
  constexpr std::int64_t kFloat = sizeof(float);
  Blocks out;
  // Three fifths of L1 hold the panel of A; the rest is for the current sliver of B and C. At a
  // depth above 512, the cost of C is below 1%.
  out.depth = std::clamp<std::int64_t>(caches.l1 * 3 / 5 / (tile.rows * kFloat) / 16 * 16, 64, 512);
  // Three eighths of L2 hold the block of B; panels of A and of C also pass through L2.
  out.cols =
      std::max<std::int64_t>(1, caches.l2 * 3 / 8 / (out.depth * kFloat) / tile.cols) * tile.cols;
  // Half of L3, at most 4 MiB: one core's share of L3 is not reported by the system.
  const std::int64_t l3 = std::min<std::int64_t>(caches.l3 / 2, 4 << 20);
  out.rows = std::max<std::int64_t>(1, l3 / (out.depth * kFloat) / tile.rows) * tile.rows;
  return out;
}

Blocks blocks(Shape tile);  // for this machine: from the tuned table (tuned.hpp), else blocks_for()

// Floats for the packed blocks of an operand with `lines` rows or columns, split into blocks of at
// most `most` and padded to a multiple of `unit`.
constexpr std::int64_t packed_floats(std::int64_t lines, std::int64_t most, std::int64_t k,
                                     std::int64_t most_depth, std::int64_t unit) {
  const std::int64_t widest = std::min(lines, most) + unit;
  // Each panel is padded by one vector, see Panels.
  constexpr std::int64_t kVector = 16, kLeastTileRows = 4;
  return widest / unit * unit * std::min(k, most_depth) + kVector * (widest / kLeastTileRows + 2);
}

// Strategy for one product: the register tile and which operands are packed into panels. An element
// of A is read once per tile column of C, an element of B once per tile row. With few reads per
// element, or if the operands fit in a near cache, packing costs more than strided reads.
struct Way {
  Shape tile;
  bool pack_a = true, pack_b = true;
  bool in_place = false;                   // nothing is packed, and k is one block
  bool c_is_far = false, streams = false;  // see TileArgs
  Form form = Form::kPacked;
  Blocks blocks;  // unused if in_place
};
Way way_for(const Problem& row_major, const MicroKernel& kernel);

// Piece `i` of `size`, split into the fewest pieces of at most `most`. The pieces are as equal as
// multiples of `unit` allow.
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
