// SPDX-License-Identifier: Apache-2.0
// Metadata of the sparse A of mma.sp and wgmma.mma_async.sp. PTX ISA, "Sparse matrix storage" and
// the metadata layouts of "Matrix fragments for multiply-accumulate operation with sparse matrix
// A". A row of A consists of chunks of which half is kept. Four bits of metadata per chunk hold two
// positions in units of a quarter of the chunk, the first one in the lower bits. tf32: a chunk has
// two elements, and the positions are those of the two halves of the kept one.
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

inline constexpr u32 kThreadsOfRow = 4;  // a row of A is spread over so many threads
inline constexpr u32 kChunkBits = 4;

struct SparseLayout {
  u32 chunks;   // per row of A
  bool narrow;  // elements of 8 or 4 bits: a thread has the metadata of one row, else of two

  // How many of each four threads have the metadata, and how many choices of them there are.
  constexpr u32 threads() const { return chunks / 4; }
  constexpr u32 selectors() const { return kThreadsOfRow / threads(); }

  // Where the metadata of chunk `chunk` is: the thread of the four, and the first of its bits. h: 0
  // for a row in the upper eight of a warp's 16 rows, 1 for the lower eight.
  struct Place {
    u32 thread, bit;
  };
  constexpr Place place(u32 selector, u32 h, u32 chunk) const {
    const u32 first = selector * threads();
    if (narrow) return {first + h + 2 * (chunk / 8), kChunkBits * (chunk % 8)};
    return {first + chunk / 4, 16 * h + kChunkBits * (chunk % 4)};
  }
};

// The position of kept element `e` of a chunk, in units of a quarter of the chunk.
constexpr u32 position_in_chunk(u32 metadata, u32 e) { return metadata >> 2 * e & 3; }

// What a chunk's metadata may be.
enum class SparseRule : u8 {
  kDistinct,  // two different positions
  kOrdered,   // ... the lower one first: mma.sp::ordered_metadata
  kHalves     // tf32: the two halves of an element
};
constexpr bool is_valid_metadata(u32 metadata, SparseRule rule) {
  const u32 first = position_in_chunk(metadata, 0), second = position_in_chunk(metadata, 1);
  if (rule == SparseRule::kHalves) return first % 2 == 0 && second == first + 1;
  return rule == SparseRule::kOrdered ? first < second : first != second;
}

// Insn of mma.sp. imm: the selector. s[0]: metadata. list: as for mma.
enum SparseFlag : u8 {  // Insn::sub
  kSparseSaturate = 1,  // as for mma
  kSparseOrdered = 2,
};

}  // namespace vgpu::ir
