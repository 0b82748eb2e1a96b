// SPDX-License-Identifier: Apache-2.0
// A and B of an mma whose elements have 8 bits or fewer. Registers hold 32 bits of a row (column)
// along k, in the same places for all types: PTX ISA, "Matrix Fragments for mma.m8n8k16",
// ".m16n8k32" and the others.
#pragma once
#include <type_traits>

#include "machine/isa/sparse.hpp"

namespace vgpu::machine::VGPU_ISA {

// kWords: of a row of A. kSparse: the rows of A have half of the elements.
template <u32 M, u32 kWords, bool kSparse>
class WordFactors {
 public:
  static constexpr u32 kColumns = 8;
  static constexpr u32 kWordsOfB = kSparse ? 2 * kWords : kWords;
  static constexpr u32 kA = M * kWords / kLanes, kB = kWordsOfB * kColumns / kLanes,
                       kRegisters = kA + kB;

  WordFactors(const Warp& warp, std::byte* window, const Insn& insn, const u32* slots) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      for (u32 r = 0; r < kA; ++r)
        a_[lane / 4 + 8 * (r % 2)][lane % 4 + 4 * (r / 2)] = slot<u32>(window, slots[r])[lane];
      for (u32 r = 0; r < kB; ++r)
        b_[lane / 4][lane % 4 + 4 * r] = slot<u32>(window, slots[kA + r])[lane];
    }
    if constexpr (kSparse) metadata_ = metadata_of<kWordsOfB, true, false>(warp, window, insn);
  }

  u32 of_a(u32 row, u32 word) const { return a_[row][word]; }
  // The elements of B's column that are multiplied by word `word` of A's row. A sparse word holds
  // the kept elements of two chunks, each as wide as a word of B.
  u32 of_b(u32 row, u32 column, u32 word) const {
    if constexpr (kSparse) {
      u32 met = 0;
      for (u32 byte = 0; byte < 4; ++byte) {
        const u32 chunk = 2 * word + byte / 2;
        const u32 position = position_in_chunk(metadata_.of[row][chunk], byte % 2);
        met |= (b_[column][chunk] >> 8 * position & 255) << 8 * byte;
      }
      return met;
    } else {
      return b_[column][word];
    }
  }

 private:
  struct Nothing {};
  u32 a_[M][kWords], b_[kColumns][kWordsOfB];
  [[no_unique_address]] std::conditional_t<kSparse, Metadata<kWordsOfB>, Nothing> metadata_;
};

}  // namespace vgpu::machine::VGPU_ISA
