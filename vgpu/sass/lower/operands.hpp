// SPDX-License-Identifier: Apache-2.0
// What the passes over decoded code know of an instruction: the operands that it writes, the
// 32-bit registers of each operand (columns of opcodes.def), and where execution continues.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/schedule.hpp"
#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

enum class Registers : std::uint8_t {
  kNone,
  kPredicates,  // as a result: the first operands, two predicates at the most
  kOne,
  kTwo,
  kOneOrTwo,
  kToFour,
  kToEight,
  kToSixteen,
  kMany,    // fragments of wgmma
  kTexels,  // as a result: two operands of up to two registers
  kTyped,   // of conversions, by Instruction::type and source_type
  kData,    // Instruction::bytes
};

struct OperandColumns {
  Registers result, sources;
};
inline OperandColumns columns_of(Op op) {
  using enum Registers;
  static constexpr OperandColumns kColumns[] = {
#define OPERATION(name, lowering, what, space, result, sources, ...) {result, sources},
#include "sass/opcodes.def"
  };
  return kColumns[static_cast<std::size_t>(op)];
}

inline bool is_predicate(const Operand& o) {
  return o.kind == Kind::kPredicate || o.kind == Kind::kUniformPredicate;
}
inline bool is_register(const Operand& o) {
  return o.kind == Kind::kRegister || o.kind == Kind::kUniform;
}

// Operands [0, predicates) are predicates that are written, [predicates, end) registers that are.
// The predicates that follow may be written, too: carries, and the result of a vote.
struct Results {
  std::size_t predicates = 0, end = 0;
  bool has_register() const { return end > predicates; }
};
Results results_of(const Instruction& i);

// The registers that one operand begins: those that are certain, and all that may be.
struct Extent {
  unsigned least, most;
};
Extent result_registers(const Instruction& i);
// The most registers of operand `k`, which is read. Addresses and constants: of either datapath.
unsigned source_registers(const Instruction& i, std::size_t k);

// Whether the instruction may write the register.
bool writes(const Instruction& i, Kind kind, unsigned index);

ir::Ways ways_of(const Instruction& i);

}  // namespace vgpu::sass
