// SPDX-License-Identifier: Apache-2.0
// Reads the fields of one instruction and records which bits were read; builds the instruction and
// its text.
#pragma once
#include <initializer_list>

#include "sass/decode/decode.hpp"

namespace vgpu::sass {

// The absolute value; unlike std::abs, also defined for INT32_MIN.
constexpr std::uint32_t magnitude(std::int32_t value) {
  return value < 0 ? 0u - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value);
}

class Reader {
 public:
  Reader(Word word, std::uint32_t address, int architecture, const char* name);

  int architecture() const { return architecture_; }  // 90 for sm_90

  // Fields. Reading a field marks its bits as interpreted.
  std::uint64_t field(unsigned position, unsigned bits);
  std::uint8_t byte(unsigned position, unsigned bits) {
    return static_cast<std::uint8_t>(field(position, bits));
  }
  bool bit(unsigned position) { return field(position, 1) != 0; }
  std::int64_t signed_field(unsigned position, unsigned bits);
  // Refuses the instruction unless the field has one of these values.
  void expect(unsigned position, unsigned bits, std::initializer_list<std::uint64_t> values);
  // For hints that do not affect the result.
  void ignore(unsigned position, unsigned bits) { field(position, bits); }

  // Suffixes of the mnemonic, in the order of the calls.
  void suffix(const char* text) { mnemonic_ += text; }
  bool suffix_if(bool condition, const char* text) {
    if (condition) suffix(text);
    return condition;
  }
  // Returns the field's value and appends its name to the mnemonic; refuses values without a name
  // (null).
  std::uint8_t named(unsigned position, unsigned bits, std::initializer_list<const char*> names);

  // For numbers with a sign there is no suffix.
  void signed_at(unsigned position, const char* unsigned_suffix) {
    insn.is_signed = bit(position);
    suffix_if(!insn.is_signed, unsigned_suffix);
  }

  // Operands, in the order of the text.
  void add(const Operand& operand);
  void add_silently(const Operand& operand) { insn.operands[insn.count++] = operand; }
  void add_unless_true(const Operand& predicate) {  // PT is not printed
    is_true(predicate) ? add_silently(predicate) : add(predicate);
  }
  void add(std::initializer_list<Operand> operands) {
    for (const Operand& operand : operands) add(operand);
  }
  // The predicate that the instruction writes, unless it is PT. Returns whether there is one.
  bool add_written(const Operand& predicate) {
    if (predicate.index != kTrue) add(predicate);
    return predicate.index != kTrue;
  }
  void add_text(const std::string& text) { texts_ += (texts_.empty() ? "" : ", ") + text; }
  void add_prefixed(const std::string& prefix, const Operand& operand);
  void add_behind(const std::string& text) { texts_ += text; }  // after the last operand
  // General, or uniform in instructions of the uniform datapath.
  Operand reg(unsigned position);
  static Operand general(std::uint64_t index);
  Operand general_at(unsigned position) { return general(field(position, 8)); }
  // Number of a uniform register: 6 bits, from sm_100 on 8.
  std::uint8_t uniform_index(unsigned position);
  Operand uniform_at(unsigned position);
  // From sm_100 on, the disassembler shows PT where no predicate is written.
  bool prints_absent_predicates() const;
  Operand predicate_at(unsigned position);                     // 3 bits
  Operand predicate_at(unsigned position, unsigned negation);  // `negation`: bit that negates it
  static Operand immediate(std::uint64_t value);
  static Operand barrier(std::uint64_t index);
  Operand address_at(unsigned position, std::int64_t offset);  // [R + offset]

  // The operands of an arithmetic instruction. The form (bits 9 to 11) selects those of b and c;
  // "at n" is a register whose number begins at bit n.
  //   form  b                 c
  //   1     at 32             at 64
  //   2     at 64             immediate
  //   3     at 64             constant
  //   4     immediate         at 64
  //   5     constant          at 64
  //   6     uniform register  at 64
  //   7     at 64             uniform register
  unsigned form() const { return form_; }
  // With the negation and absolute-value bits of the operand at 24 (bits 72, 73), at 32 (63, 62) or
  // at 64 (75, 74).
  enum class Modifier { kNone, kNegate, kNegateAndAbsolute };
  Operand a(Modifier modifier = Modifier::kNone);
  Operand b(Modifier modifier = Modifier::kNone);
  Operand c(Modifier modifier = Modifier::kNone);
  // The second operand of instructions with two operands: the one of b and c that is not at 64.
  Operand second(Modifier modifier = Modifier::kNone);
  void modify_low(Operand& operand, Modifier modifier);  // at 32; not an immediate
  void rounding_at(unsigned position) {
    insn.rounding = named(position, 2, {"", ".RM", ".RP", ".RZ"});
  }
  // b and c are at 64 and 32, not at 32 and 64.
  bool is_crossed() const { return form_ == 2 || form_ == 3 || form_ == 7; }
  void combine_at(unsigned position) {
    insn.combine = static_cast<Combine>(named(position, 2, {".AND", ".OR", ".XOR"}));
  }
  void flush_single() {  // bit 80 of single precision
    literal = Literal::kSingle;
    insn.flush = suffix_if(bit(80), ".FTZ");
  }
  void unused(unsigned position);  // an unused register field: must be 0 or RZ
  void no_condition();             // refuses another predicate at 87 than PT

  [[noreturn]] void refuse(const std::string& why) const;
  Instruction finish();  // refuses the instruction if a nonzero bit was not read

  Instruction insn;
  bool bitwise = false;  // negation is printed as ~
  enum class Literal { kInteger, kSingle, kDouble, kHalves, kBfloats } literal = Literal::kInteger;

 private:
  Operand low_constant();
  void modify(Operand& operand, Modifier modifier, unsigned negation, unsigned absolute);
  std::string show(const Operand& operand) const;

  Word word_, used_;
  const char* name_;
  std::string mnemonic_;
  unsigned form_;
  int architecture_;
  std::string texts_;
};

using Modifier = Reader::Modifier;
inline constexpr Modifier kNegate = Modifier::kNegate, kBoth = Modifier::kNegateAndAbsolute;

}  // namespace vgpu::sass
