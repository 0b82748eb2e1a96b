// SPDX-License-Identifier: Apache-2.0
// The available tiles, in the order of the kernel lists. The shape of a cluster's tile is that of
// all its blocks together.
#pragma once
#include "gemm/plan/tile_plan.hpp"

#include <ladder/kernel.hpp>

#include <array>
#include <string_view>

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
// 8-bit operands with scales.
inline constexpr std::array k8BitTiles{
    TileShape{256, 256, 128, 2}, TileShape{128, 128, 128, 1},     TileShape{64, 128, 128, 1},
    TileShape{64, 64, 128, 1},   TileShape{64, 64, 128, 2, 0, 2}, TileShape{64, 128, 128, 2, 0, 2}};
// Split operands: 2 or 3 terms per element, in slabs of BK along k.
inline constexpr int kSlab = 64;  // of two 16-bit terms
struct SplitFormat {
  Precision precision;
  std::string_view kernel;
  int bk;
  SplitCost cost;
};
inline constexpr SplitFormat kSplitFormats[] = {
    {Precision::kFp16x3, "ladder_fp16x3", kSlab, {3, 256, 128}},
    {Precision::kBf16x3, "ladder_bf16x3", kSlab, {3, 256, 128}},
    {Precision::kBf16x6, "ladder_bf16x6", 32, {6, 192, 64}},
    {Precision::kBf16x9, "ladder_bf16x9", 32, {9, 192, 64}},
    {Precision::kTf32x3, "ladder_tf32x3", 32, {3, 256, 128}},
};
constexpr const SplitFormat& split_format(Precision precision) {
  for (const SplitFormat& format : kSplitFormats) {
    if (format.precision == precision) return format;
  }
  return kSplitFormats[0];
}
constexpr std::array<TileShape, 4> split_tiles(int bk) {
  return {TileShape{128, 256, bk, 1}, TileShape{128, 128, bk, 1}, TileShape{64, 128, bk, 1},
          TileShape{128, 64, bk, 1}};
}
// A fused split of the larger operand: of C, or C^T, with more or with at most 64 columns.
inline constexpr TileShape kWideFusedTile{128, 128, kSlab, 1}, kNarrowFusedTile{128, 64, kSlab, 1};

}  // namespace ladder
