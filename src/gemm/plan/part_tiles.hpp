// SPDX-License-Identifier: Apache-2.0
// The tiles of ladder_split_k.
#pragma once
#include "gemm/plan/part_plan.hpp"

#include <array>

namespace ladder {

// Small, thin and deep products on CUDA cores.
inline constexpr std::array kPartTiles{
#define LADDER_PART_TILE(k_major, TM, TN, lanes_m, lanes_n, WM, WN, WK, BK, STAGES, blocks, rate, \
                         of_batch, start)                                                         \
  PartTileCost{k_major,                                                                           \
               TM * lanes_m * WM,                                                                 \
               TN * lanes_n * WN,                                                                 \
               BK,                                                                                \
               WK,                                                                                \
               32 * WM * WN * WK,                                                                 \
               blocks,                                                                            \
               TM * TN,                                                                           \
               rate,                                                                              \
               of_batch,                                                                          \
               start},
#include "gemm/plan/part_tiles.inc"
#undef LADDER_PART_TILE
};

}  // namespace ladder
