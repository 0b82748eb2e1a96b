// SPDX-License-Identifier: Apache-2.0
// Positions of the kept elements of mma.sp's A, from the metadata of the warp's threads.
// Functions are static: code compiled for different instruction sets must not share them.
#pragma once
#include "ir/sparse.hpp"
#include "machine/isa/lanes.hpp"
#include "machine/sparse.hpp"

namespace vgpu::machine::VGPU_ISA {

constexpr u32 kSparseRows = 16;

// The metadata of each chunk of each row.
template <u32 kChunks>
struct Metadata {
  u8 of[kSparseRows][kChunks];
};
template <u32 kChunks, bool kNarrow, bool kHalves>
static Metadata<kChunks> metadata_of(const Warp& warp, std::byte* window, const Insn& insn) {
  constexpr SparseLayout kLayout{kChunks, kNarrow};
  const u32* const words = slot<u32>(window, insn.s[0]);
  const u32 selector = static_cast<u32>(insn.imm);
  check_metadata(warp, insn, words, kLayout, selector,
                 kHalves                            ? SparseRule::kHalves
                 : (insn.sub & kSparseOrdered) != 0 ? SparseRule::kOrdered
                                                    : SparseRule::kDistinct);
  Metadata<kChunks> metadata;
  for (u32 row = 0; row < kSparseRows; ++row) {
    for (u32 chunk = 0; chunk < kChunks; ++chunk) {
      const auto at = kLayout.place(selector, row / 8, chunk);
      metadata.of[row][chunk] =
          static_cast<u8>(words[row % 8 * kThreadsOfRow + at.thread] >> at.bit & 15);
    }
  }
  return metadata;
}

// The row of B by which kept element k of A's row i is multiplied, for elements of 16 bits, or of
// 32 (kWide).
template <u32 kKept>
struct KeptElements {
  u8 along[kSparseRows][kKept];
  u32 operator()(u32 i, u32 k) const { return along[i][k]; }
};
template <u32 kKept, bool kWide>
static KeptElements<kKept> kept_elements(const Warp& warp, std::byte* window, const Insn& insn) {
  constexpr u32 kOfChunk = kWide ? 1 : 2;
  const auto metadata = metadata_of<kKept / kOfChunk, false, kWide>(warp, window, insn);
  KeptElements<kKept> kept;
  for (u32 i = 0; i < kSparseRows; ++i) {
    for (u32 k = 0; k < kKept; ++k) {
      const u32 position = position_in_chunk(metadata.of[i][k / kOfChunk], k % kOfChunk);
      kept.along[i][k] =
          static_cast<u8>(kWide ? 2 * k + position / 2 : k / kOfChunk * 4 + position);
    }
  }
  return kept;
}

}  // namespace vgpu::machine::VGPU_ISA
