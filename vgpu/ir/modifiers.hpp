// SPDX-License-Identifier: Apache-2.0
// The modifiers of a lowered arithmetic instruction, packed into ir::Insn::imm.
#pragma once
#include <cstdint>

#include "ir/program.hpp"

namespace vgpu::ir {

using Modifiers = std::uint64_t;

inline constexpr Modifiers kNegateA = 1, kNegateB = 2, kNegateC = 4;
inline constexpr Modifiers kAbsoluteA = 8, kAbsoluteB = 16, kAbsoluteC = 32;
inline constexpr Modifiers kFlush = 1 << 6, kSaturate = 1 << 7;
inline constexpr unsigned kRoundingAt = 8;  // 2 bits
inline constexpr Modifiers kExtended = 1 << 10, kSigned = 1 << 11, kHigh = 1 << 12,
                           kRight = 1 << 13, kWrap = 1 << 14, kRelu = 1 << 15;
inline constexpr unsigned kCompareAt = 16;  // 4 bits
inline constexpr unsigned kCombineAt = 20;  // 2 bits
inline constexpr unsigned kTypeAt = 22;     // 3 bits
inline constexpr Modifiers kNegateP = 1 << 26, kNegateQ = 1 << 27,
                           kNegateR = 1 << 28;                          // predicates
inline constexpr unsigned kSlotAt = 32;                                 // a slot (carries of IADD3)
inline constexpr unsigned kHalfAAt = 32, kHalfBAt = 34, kHalfCAt = 36;  // 2 bits: pair, low, high
inline constexpr unsigned kShiftAt = 40;                                // 5 bits
inline constexpr unsigned kTableAt = 48, kTable2At = 56;                // 8 bits

constexpr bool has(Modifiers m, Modifiers bit) { return (m & bit) != 0; }
constexpr unsigned bits_of(Modifiers m, unsigned at, unsigned count) {
  return static_cast<unsigned>(m >> at) & ((1u << count) - 1);
}

// How the result of a comparison is combined with a predicate: Insn::sub of setp.
enum Combination : u8 { kCombineNone, kCombineAnd, kCombineOr, kCombineXor };

// Which lanes branch: Insn::sub of sass.bra. Those whose condition holds; all if it holds for any;
// all if it holds for all, else none.
enum class Quorum : u8 { kEach, kAny, kAll };

// Which layout the elements of a wmma fragment have (machine/fragments.hpp).
enum class WmmaFragment : u8 {  // Insn::sub of wmma.address
  kOwn,
  kA,  // mma's
  kB,
  kC,
};

}  // namespace vgpu::ir
