// SPDX-License-Identifier: Apache-2.0
#include "machine/sparse.hpp"

#include <fmt/format.h>

#include "machine/fault.hpp"

namespace vgpu::machine {
namespace {

constexpr const char* meaning_of(SparseRule rule) {
  switch (rule) {
    case SparseRule::kHalves: return "of .tf32 0b0100 and 0b1110 have a meaning";
    case SparseRule::kOrdered:
      return "ordered metadata are two different positions, the lower one in the lower bits";
    default: return "metadata are two different positions";
  }
}

}  // namespace

void check_metadata(const Warp& warp, const Insn& insn, const u32* words,
                    const SparseLayout& layout, u32 selector, SparseRule rule) {
  const u32 first = selector * layout.threads(), end = first + layout.threads();
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 thread = lane % kThreadsOfRow;
    if (thread < first || thread >= end) continue;
    for (u32 bit = 0; bit < 32; bit += kChunkBits) {
      const u32 metadata = words[lane] >> bit & 15;
      if (is_valid_metadata(metadata, rule)) continue;
      fault({warp, insn, lane}, FaultKind::kBadOperand,
            fmt::format("sparse metadata 0b{:04b}: {}", metadata, meaning_of(rule)),
            fmt::format("bits {} to {} of 0x{:08x}", bit, bit + kChunkBits - 1, words[lane]));
    }
  }
}

}  // namespace vgpu::machine
