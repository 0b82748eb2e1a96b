// SPDX-License-Identifier: Apache-2.0
// The available tiles, in the order of the kernel lists. The shape of a cluster's tile is that of
// all its blocks together.
#pragma once
#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/tile_plan.hpp"

#include <array>

namespace ladder {

// 16-bit operands. One narrower width per kernel: with two, the registers do not suffice.
inline constexpr std::array k16BitTiles{
    TileShape{128, 256, 64, 1}, TileShape{128, 128, 64, 1},      TileShape{64, 128, 64, 1},
    TileShape{64, 64, 64, 1},   TileShape{256, 256, 64, 2, 232}, TileShape{256, 256, 64, 2, 192},
    TileShape{128, 128, 64, 2}, TileShape{128, 512, 64, 4},      TileShape{64, 64, 64, 2, 0, 2},
    TileShape{256, 256, 64, 2}};
inline constexpr std::array kTf32Tiles{TileShape{256, 128, 32, 1}, TileShape{128, 128, 32, 1},
                                       TileShape{128, 64, 32, 1}, TileShape{256, 256, 32, 2},
                                       TileShape{128, 128, 32, 2}};
// Split operands, k in steps of `bk`, widest first.
constexpr std::array<TileShape, 4> split_tiles(int bk) {
  return {TileShape{128, 256, bk, 1}, TileShape{128, 128, bk, 1}, TileShape{64, 128, bk, 1},
          TileShape{128, 64, bk, 1}};
}

// Small, thin and deep products on CUDA cores.
inline constexpr std::array kPartTiles{
    PartTileCost{false, 32, 32, 32, 2, 128, 6, 16, 0.99, false},
    PartTileCost{false, 16, 64, 32, 4, 128, 5, 32, 0.8, false},
    PartTileCost{false, 32, 64, 32, 4, 128, 3, 64, 0.97, false},
    PartTileCost{false, 32, 128, 32, 4, 128, 2, 128, 0.94, false},
    PartTileCost{false, 64, 64, 16, 2, 128, 3, 64, 0.96, false},
    PartTileCost{false, 64, 128, 16, 1, 128, 4, 64, 0.935, false},
    PartTileCost{false, 64, 128, 16, 2, 128, 2, 128, 0.96, false},
    PartTileCost{false, 128, 128, 16, 1, 256, 2, 64, 0.94, false},
    PartTileCost{true, 64, 32, 16, 2, 128, 4, 32, 0.86, false},
    PartTileCost{true, 32, 64, 32, 4, 128, 3, 64, 0.965, false},
    PartTileCost{true, 64, 64, 16, 2, 128, 3, 64, 0.95, false},
    PartTileCost{true, 64, 128, 16, 1, 128, 3, 64, 0.935, false},
    PartTileCost{false, 32, 64, 32, 4, 128, 2, 64, 0.97, true},
    PartTileCost{false, 64, 64, 16, 2, 128, 2, 64, 0.96, true},
    PartTileCost{true, 32, 64, 32, 4, 128, 2, 64, 0.965, true},
    PartTileCost{true, 64, 64, 16, 2, 128, 2, 64, 0.95, true},
};
constexpr auto without_rates(auto tiles) {
  for (PartTileCost& t : tiles) t.rate = 0;
  return tiles;
}

}  // namespace ladder
