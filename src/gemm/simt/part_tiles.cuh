// SPDX-License-Identifier: Apache-2.0
// The tiles that small, thin and deep products are planned with.
#pragma once
#include "gemm/simt/part_tile.cuh"

#include <array>
#include <type_traits>

namespace ladder {

// What `visit(std::type_identity<Tile>, rate)` gives for each: the rate is that of the
// multiply-adds the SM could do, fitted to measurements on an H200.
template <class Visit>
constexpr auto part_tiles(Visit visit) {
  return std::array{
      visit(std::type_identity<PartTile<false, 4, 4, 4, 8, 2, 1, 2, 32, 4, 6>>{}, 0.99),  // 32 x 32
      visit(std::type_identity<PartTile<false, 8, 4, 2, 16, 1, 1, 4, 32, 4, 5>>{},
            0.80),                                                                        // 16 x 64
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 1, 1, 4, 32, 3, 3>>{}, 0.97),  // 32 x 64
      visit(std::type_identity<PartTile<false, 8, 16, 4, 8, 1, 1, 4, 32, 3, 2>>{},
            0.94),  // 32 x 128
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 2, 1, 2, 16, 4, 3>>{}, 0.96),  // 64 x 64
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 2, 2, 1, 16, 4, 4>>{},
            0.935),  // 64 x 128
      visit(std::type_identity<PartTile<false, 8, 16, 4, 8, 2, 1, 2, 16, 4, 2>>{},
            0.96),  // 64 x 128
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 4, 2, 1, 16, 3, 2>>{},
            0.94),  // 128 x 128
      visit(std::type_identity<PartTile<true, 8, 4, 4, 8, 2, 1, 2, 16, 4, 4>>{}, 0.86),   // 64 x 32
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 1, 1, 4, 32, 3, 3>>{}, 0.965),  // 32 x 64
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 2, 1, 2, 16, 4, 3>>{}, 0.95),   // 64 x 64
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 2, 2, 1, 16, 4, 3>>{},
            0.935),  // 64 x 128
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 1, 1, 4, 32, 3, 2, true>>{},
            0.97),  // 32 x 64
      visit(std::type_identity<PartTile<false, 8, 8, 4, 8, 2, 1, 2, 16, 4, 2, true>>{},
            0.96),  // 64 x 64
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 1, 1, 4, 32, 3, 2, true>>{},
            0.965),  // 32 x 64
      visit(std::type_identity<PartTile<true, 8, 8, 4, 8, 2, 1, 2, 16, 4, 2, true>>{},
            0.95),  // 64 x 64
  };
}

}  // namespace ladder
