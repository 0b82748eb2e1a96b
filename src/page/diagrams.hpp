// SPDX-License-Identifier: Apache-2.0
// Pictures of what a warp does, as SVG for a page that has page.css: a global access by lines and
// sectors, a shared one by banks, and a block's tile. Each says itself what it shows, for who
// cannot see it.
#pragma once
#include <ladder/problem.hpp>

#include <string>

#include "analyse/access.hpp"
#include "analyse/tile.hpp"

namespace ladder::page {

// The 4-byte words of the 128-byte lines that are touched, with the lane that wants each; sectors
// are framed.
std::string warp_picture(const analyse::Access& access);

// The 32 banks: a word above another one in the same bank waits for it. A row of banks for each
// group of lanes that is served together.
std::string bank_picture(const analyse::Access& access);

// C's block with its warps' and a thread's part, and the strips of A and B that it takes a step.
std::string tile_picture(const analyse::TileShape& tile);

}  // namespace ladder::page
