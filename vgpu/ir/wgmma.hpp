// SPDX-License-Identifier: Apache-2.0
// Operands of wgmma.mma_async.
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

// Fields of Insn for wgmma.mma_async. imm: N. bytes, width: WgmmaType of A and B. vector: WgmmaType
// of D. s: descriptors of A (unless in registers) and B, predicate scale-d. list: registers of D,
// then those of A.
enum class WgmmaType : u8 { kF16, kBf16, kTf32, kE4m3, kE5m2, kS8, kU8, kF32, kS32 };
enum WgmmaFlag : u8 {   // Insn::sub
  kWgmmaRegisters = 1,  // A is in registers
  kWgmmaTransposeA = 2,
  kWgmmaTransposeB = 4,
  kWgmmaNegateA = 8,
  kWgmmaNegateB = 16,
  kWgmmaSaturate = 32,
};

constexpr u32 wgmma_bytes(WgmmaType type) {  // per element
  switch (type) {
    case WgmmaType::kF16:
    case WgmmaType::kBf16:
      return 2;
    case WgmmaType::kTf32:
    case WgmmaType::kF32:
    case WgmmaType::kS32:
      return 4;
    default:
      return 1;
  }
}
constexpr u32 wgmma_depth(WgmmaType a) { return 32 / wgmma_bytes(a); }  // k per instruction
constexpr u32 wgmma_registers_of_d(WgmmaType d, u32 n) {
  return d == WgmmaType::kF16 ? n / 4 : n / 2;
}

}  // namespace vgpu::ir
