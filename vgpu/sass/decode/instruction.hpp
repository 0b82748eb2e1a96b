// SPDX-License-Identifier: Apache-2.0
// A decoded instruction of machine code: its operation, its operands in the disassembler's
// order (destinations first), its modifiers and its text.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "ir/schedule.hpp"

namespace vgpu::sass {

inline constexpr std::uint32_t kInstructionBytes = 16;

// An instruction's 128 bits: bits 0 to 63 are in `low`, bits 64 to 127 in `high`.
struct Word {
  std::uint64_t low = 0, high = 0;
};

// Uniform-datapath twins (UIADD3...) have the operation of the vector form; their operands are
// uniform registers.
enum class Op : std::uint8_t {
#define OPERATION(name, ...) name,
#include "sass/opcodes.def"
};

enum class Kind : std::uint8_t {
  kNone,
  kRegister,          // R0..R254; 255 is RZ
  kUniform,           // UR0..UR62, from sm_100 on UR0..UR254; 255 is URZ
  kPredicate,         // P0..P6; 7 is PT
  kUniformPredicate,  // UP0..UP6; 7 is UPT
  kImmediate,         // value: the 32 bits in the instruction
  // c[bank][value]; with `index` other than kZero: c[bank][R + value] or c[bank][UR + value]
  kConstant,
  kAddress,  // [R + UR + value]
  kBarrier,  // convergence barrier B0..B15
};

inline constexpr std::uint8_t kZeroRegister = 255, kZeroUniform = 255, kTrue = 7;
inline constexpr std::uint8_t kNoScoreboard = 7;

// R0, R0.H0_H0, R0.H1_H1, R0.H1, R0.H0_NH1: the upper half of the operand is the lower half of R0,
// the lower half the negated upper one. R0.B1 to R0.B3: one byte; the lowest has no suffix.
enum class Half : std::uint8_t { kPair, kLow, kHigh, kUpper, kCrossed, kByte1, kByte2, kByte3 };

struct Operand {
  Kind kind = Kind::kNone;
  std::uint8_t index = 0;
  bool negated = false;  // -R, !P, or ~R in bitwise instructions
  bool absolute = false;
  Half half = Half::kPair;
  std::uint8_t bank = 0;  // constants
  // Addresses and constants: the uniform register that is added.
  std::uint8_t uniform = kZeroUniform;
  bool pair = false;        // of 64 bits: two registers; an immediate is extended with its sign
  bool shows_zero = false;  // RZ or URZ is printed
  bool wide = false;        // addresses: the register is a pair
  bool narrow = false;      // addresses of 64 bits: the register is extended with zeros (.U32)
  std::uint8_t scale = 0;   // addresses of 32 bits: the register is shifted left by so many bits
  std::uint32_t value = 0;  // immediates; offsets (addresses: signed)
};

inline bool is_true(const Operand& predicate) {
  return predicate.index == kTrue && !predicate.negated;
}

enum class Compare : std::uint8_t {  // bit 3: also true if an operand is NaN
  kFalse,
  kLess,
  kEqual,
  kLessEqual,
  kGreater,
  kNotEqual,
  kGreaterEqual,
  kNumber,
  kNan,
  kLessOrNan,
  kEqualOrNan,
  kLessEqualOrNan,
  kGreaterOrNan,
  kNotEqualOrNan,
  kGreaterEqualOrNan,
  kAlways,
};
enum class Combine : std::uint8_t { kAnd, kOr, kXor };

// Floating-point formats in Instruction::type of conversions and matrix products.
inline constexpr std::uint8_t kF16 = 1, kF32 = 2, kF64 = 3, kBf16 = 4, kTf32 = 5, kE5m2 = 6,
                              kE4m3 = 7;

struct Instruction {
  static constexpr std::size_t kMostOperands = 8;

  std::uint32_t address = 0;  // bytes from the beginning of the kernel's code
  std::uint16_t opcode = 0;   // bits 0 to 11
  Op op = Op::kNop;
  bool uniform = false;  // executes on the uniform datapath
  Operand guard;         // a predicate; PT if the instruction has no guard
  std::array<Operand, kMostOperands> operands;
  std::uint8_t count = 0;  // of operands

  // Modifiers.
  std::uint8_t rounding = 0;  // nearest, down, up, zero
  bool flush = false;         // .FTZ
  bool saturate = false;      // .SAT
  bool extended = false;      // .X, .EX
  bool is_signed = false;
  bool high = false;   // .HI
  bool right = false;  // shifts
  bool wrap = false;   // .W; shift counts modulo the width
  Compare compare = Compare::kFalse;
  Combine combine = Combine::kAnd;
  std::uint8_t mode = 0;  // meaning depends on op: MUFU's function, BAR's kind, ATOM's operation...
  std::uint8_t type = 0, source_type = 0;  // formats; encoding depends on op
  std::uint8_t bytes = 0;                  // memory: bytes per lane
  std::uint8_t table = 0, table2 = 0;      // LOP3 and PLOP3
  std::uint16_t shift = 0;                 // matrix products: k
  bool floating = false;                   // atomics: sums of floating point
  bool strong = false;                     // memory: a strong access (memory consistency model)
  bool compared = false;  // loads, exchanges: part of a compare-and-swap loop (lower/passes.cpp)
  bool half = false;      // loads, exchanges: part of such a loop for a 16-bit operation
  std::uint8_t dead = 0;  // vector loads: mask of the words that nothing reads (lower/passes.cpp)
  std::uint32_t target = 0;  // branches: address
  ir::ControlCode control;

  std::string text;  // "@!P0 IADD3 R4, R4, 0x1, RZ"

  const Operand& operator[](std::size_t i) const { return operands[i]; }
};

}  // namespace vgpu::sass
