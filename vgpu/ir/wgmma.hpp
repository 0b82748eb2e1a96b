// SPDX-License-Identifier: Apache-2.0
// Operands of wgmma.mma_async and wgmma.mma_async.sp.
#pragma once
#include "ir/program.hpp"
#include "ir/sparse.hpp"

namespace vgpu::ir {

// Fields of Insn for wgmma.mma_async. imm: N. bytes, width: WgmmaType of A and B. vector: WgmmaType
// of D. s: descriptors of A (unless in registers) and B, predicate scale-d. list: registers of D,
// then those of A, then that of a sparse A's metadata.
enum class WgmmaType : u8 { kF16, kBf16, kTf32, kE4m3, kE5m2, kS8, kU8, kF32, kS32 };
enum WgmmaFlag : u8 {   // Insn::sub
  kWgmmaRegisters = 1,  // A is in registers
  kWgmmaTransposeA = 2,
  kWgmmaTransposeB = 4,
  kWgmmaNegateA = 8,
  kWgmmaNegateB = 16,
  kWgmmaSaturate = 32,
  kWgmmaSparse = 64,      // A has half of its elements, and k is twice as large
  kWgmmaSecondPair = 128  // ... and of each four threads the last two have the metadata
};

constexpr u32 wgmma_bytes(WgmmaType type) {  // per element
  switch (type) {
    case WgmmaType::kF16:
    case WgmmaType::kBf16: return 2;
    case WgmmaType::kTf32:
    case WgmmaType::kF32:
    case WgmmaType::kS32: return 4;
    default: return 1;
  }
}
constexpr u32 kWgmmaBytesOfA = 32;           // of a row of A along k
constexpr u32 wgmma_bytes_of_b(u32 flags) {  // of a column of B
  return (flags & kWgmmaSparse) != 0 ? 2 * kWgmmaBytesOfA : kWgmmaBytesOfA;
}
constexpr u32 wgmma_depth(WgmmaType a, u32 flags) {  // k per instruction
  return wgmma_bytes_of_b(flags) / wgmma_bytes(a);
}
constexpr u32 wgmma_registers_of_d(WgmmaType d, u32 n) {
  return d == WgmmaType::kF16 ? n / 4 : n / 2;
}
constexpr u32 wgmma_register_of_metadata(const Insn& insn) {  // in its list
  return wgmma_registers_of_d(static_cast<WgmmaType>(insn.vector), static_cast<u32>(insn.imm)) +
         ((insn.sub & kWgmmaRegisters) != 0 ? 4 : 0);
}

constexpr SparseLayout wgmma_metadata(WgmmaType a) {
  const bool narrow = wgmma_bytes(a) == 1;
  return {narrow ? 16u : 8u, narrow};
}
constexpr SparseRule wgmma_metadata_rule(WgmmaType a) {
  return a == WgmmaType::kTf32 ? SparseRule::kHalves : SparseRule::kDistinct;
}

}  // namespace vgpu::ir
