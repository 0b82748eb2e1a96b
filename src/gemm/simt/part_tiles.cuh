// SPDX-License-Identifier: Apache-2.0
// The tile types of kPartTiles, in the same order.
#pragma once
#include "gemm/plan/menus.hpp"
#include "gemm/simt/part_tile.cuh"

#include <array>
#include <type_traits>

namespace ladder {

// The results of `visit(std::type_identity<Tile>)`, one per tile.
template <class Visit>
constexpr auto part_tiles(Visit visit) {
  return std::array{
      visit(std::type_identity<PartTile<false, 4, 4, 4, 8, 2, 1, 2, 32, 4, 6>>{}),
      visit(std::type_identity<PartTile<false, 8, 4, 2, 16, 1, 1, 4, 32, 4, 5>>{}),
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 1, 1, 4, 32, 3, 3>>{}),
      visit(std::type_identity<PartTile<false, 8, 16, 4, 8, 1, 1, 4, 32, 3, 2>>{}),
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 2, 1, 2, 16, 4, 3>>{}),
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 2, 2, 1, 16, 4, 4>>{}),
      visit(std::type_identity<PartTile<false, 8, 16, 4, 8, 2, 1, 2, 16, 4, 2>>{}),
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 4, 2, 1, 16, 3, 2>>{}),
      visit(std::type_identity<PartTile<true, 8, 4, 4, 8, 2, 1, 2, 16, 4, 4>>{}),
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 1, 1, 4, 32, 3, 3>>{}),
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 2, 1, 2, 16, 4, 3>>{}),
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 2, 2, 1, 16, 4, 3>>{}),
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 1, 1, 4, 32, 3, 2, true>>{}),
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 2, 1, 2, 16, 4, 2, true>>{}),
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 1, 1, 4, 32, 3, 2, true>>{}),
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 2, 1, 2, 16, 4, 2, true>>{}),
  };
}

static_assert(part_tiles([]<class T>(std::type_identity<T>) {
                return PartTileCost{T::kAlongK,  T::BM,          T::BN,         T::BK, T::WK,
                                    T::kThreads, T::kBlocksOfSm, T::TM * T::TN, 0,     T::kRagged};
              }) == without_rates(kPartTiles),
              "a kernel for each tile of the menu");

}  // namespace ladder
