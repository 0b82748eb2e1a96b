// SPDX-License-Identifier: Apache-2.0
// SVG diagrams of a warp's memory accesses, styled by page.css: a global access by cache lines and
// sectors, a shared-memory access by banks, and a block tile. Each has a text description for
// screen readers.
#pragma once
#include <ladder/problem.hpp>

#include <string>

#include "analyse/access.hpp"
#include "analyse/tile.hpp"

namespace ladder::page {

// Draws the 4-byte words of the accessed 128-byte cache lines, each with the lane that accesses it;
// sectors are framed.
std::string warp_picture(const analyse::Access& access);

// Draws the 32 banks. Words stacked in one bank are a bank conflict. There is one row of banks per
// group of lanes that one wavefront serves.
std::string bank_picture(const analyse::Access& access);

// Draws the block tile of C with its warp tiles and one thread tile, and the parts of A and B that
// one main-loop step reads.
std::string tile_picture(const analyse::TileShape& tile);

}  // namespace ladder::page
