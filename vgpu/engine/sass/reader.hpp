// SPDX-License-Identifier: Apache-2.0
// Reads the fields of one instruction and notes which bits were looked at; builds the instruction
// and its text.
#pragma once
#include <initializer_list>

#include "engine/sass/decode.hpp"

namespace vgpu::sass {

// Of a signed number, the least one included.
constexpr std::uint32_t magnitude(std::int32_t value) {
  return value < 0 ? 0u - static_cast<std::uint32_t>(value) : static_cast<std::uint32_t>(value);
}

class Reader {
 public:
  Reader(Word word, std::uint32_t address, const char* name);

  // Fields. Each marks its bits as understood.
  std::uint64_t field(unsigned position, unsigned bits);
  bool bit(unsigned position) { return field(position, 1) != 0; }
  std::int64_t signed_field(unsigned position, unsigned bits);
  // Must have one of these values.
  void expect(unsigned position, unsigned bits, std::initializer_list<std::uint64_t> values);
  void ignore(unsigned position, unsigned bits) {
    field(position, bits);
  }  // hints without a meaning here

  // Suffixes of the mnemonic, in the order of the calls.
  void suffix(const char* text) { mnemonic_ += text; }
  bool suffix_if(bool condition, const char* text) {
    if (condition) suffix(text);
    return condition;
  }
  // The name of the field's value; refuses values without one (null).
  std::uint8_t named(unsigned position, unsigned bits, std::initializer_list<const char*> names);

  // Operands, in the order of the text.
  Operand& add(const Operand& operand);
  void add_text(const std::string& text) { texts_ += (texts_.empty() ? "" : ", ") + text; }
  void add_prefixed(const std::string& prefix, const Operand& operand);
  void add_behind(const std::string& text) { texts_ += text; }  // the last operand
  Operand reg(
      unsigned position);  // 8 bits, or 6 where the instruction is one of the uniform datapath
  static Operand general(std::uint64_t index);
  static Operand uniform(std::uint64_t index);
  Operand general_at(unsigned position) { return general(field(position, 8)); }
  Operand uniform_at(unsigned position) { return uniform(field(position, 6)); }
  Operand predicate_at(unsigned position);                     // 3 bits
  Operand predicate_at(unsigned position, unsigned negation);  // and the bit that negates it
  static Operand immediate(std::uint64_t value);
  static Operand barrier(std::uint64_t index);

  // The operands of an arithmetic instruction: bits 9 to 11 say where b and c are.
  //   form 1: b at 32, c at 64      2: b at 64, c an immediate     3: b at 64, c a constant
  //   form 4: b an immediate, c at 64   5: b a constant, c at 64   6: b uniform, c at 64   7: b at 64, c uniform
  unsigned form() const { return form_; }
  Operand a() { return reg(24); }
  Operand b();
  Operand c();
  // The second operand where there are only two: it is the one that is not at 64.
  Operand second();
  void rounding_at(unsigned position) {
    insn.rounding = named(position, 2, {"", ".RM", ".RP", ".RZ"});
  }
  void unused(unsigned position);  // a register that is not used: 0 or RZ
  // Sign and magnitude of an operand that lies at 24 (72, 73), at 32 (63, 62) or at 64 (75, 74).
  enum class Modifier { kNegate, kNegateAndAbsolute };
  void modify_first(Operand& operand, Modifier modifier);
  void modify_low(Operand& operand, Modifier modifier);   // at 32
  void modify_high(Operand& operand, Modifier modifier);  // at 64
  void modify_b(Operand& operand, Modifier modifier);
  void modify_c(Operand& operand, Modifier modifier);

  [[noreturn]] void refuse(const std::string& why) const;
  Instruction finish();  // refuses bits that nobody looked at

  Instruction insn;
  bool bitwise = false;  // negation is printed as ~
  enum class Literal { kInteger, kSingle, kDouble, kHalves, kBfloats } literal = Literal::kInteger;

 private:
  Operand low_constant();
  std::string show(const Operand& operand) const;

  Word word_, used_;
  const char* name_;
  std::string mnemonic_;
  unsigned form_;
  std::string texts_;
};

using Modifier = Reader::Modifier;
inline constexpr Modifier kBoth = Modifier::kNegateAndAbsolute;

}  // namespace vgpu::sass
