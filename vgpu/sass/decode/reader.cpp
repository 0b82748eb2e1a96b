// SPDX-License-Identifier: Apache-2.0
#include "sass/decode/reader.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace vgpu::sass {
namespace {

std::uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t take(const Word& word, unsigned position, unsigned bits) {
  std::uint64_t value = position >= 64 ? word.high >> (position - 64) : word.low >> position;
  if (position > 0 && position < 64 && position + bits > 64) value |= word.high << (64 - position);
  return value & mask_of(bits);
}

void mark(Word& word, unsigned position, unsigned bits) {
  const std::uint64_t mask = mask_of(bits);
  if (position >= 64) {
    word.high |= mask << (position - 64);
  } else {
    word.low |= mask << position;
    if (position > 0 && position + bits > 64) word.high |= mask >> (64 - position);
  }
}

template <class T>
std::string show_number(T value) {
  if (std::isnan(value)) return std::signbit(value) ? "-QNAN" : "+QNAN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "+INF";
  return fmt::format("{:.20g}", value);
}

double half_value(std::uint32_t code) {
  const int exponent = static_cast<int>(code >> 10 & 31), fraction = static_cast<int>(code & 1023);
  double value;
  if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else
    value = std::ldexp(1024 + fraction, exponent - 25);
  return (code >> 15 & 1) != 0 ? std::copysign(value, -1.0) : value;
}

Operand make_operand(Kind kind, std::uint64_t index, std::uint64_t value = 0) {
  Operand operand;
  operand.kind = kind;
  operand.index = static_cast<std::uint8_t>(index);
  operand.value = static_cast<std::uint32_t>(value);
  return operand;
}

std::string show_integer(std::uint32_t value) {
  const auto as_signed = static_cast<std::int32_t>(value);
  return as_signed < 0 && as_signed > -0x10000 ? fmt::format("-0x{:x}", -as_signed)
                                               : fmt::format("0x{:x}", value);
}

}  // namespace

Reader::Reader(Word word, std::uint32_t address, int architecture, const char* name)
    : word_(word),
      name_(name),
      mnemonic_(name),
      form_(static_cast<unsigned>(take(word, 9, 3))),
      architecture_(architecture) {
  insn.address = address;
  insn.opcode = static_cast<std::uint16_t>(field(0, 12));
  ignore(105, 23);  // control_code.hpp
}

std::uint64_t Reader::field(unsigned position, unsigned bits) {
  mark(used_, position, bits);
  return take(word_, position, bits);
}

std::int64_t Reader::signed_field(unsigned position, unsigned bits) {
  const std::uint64_t value = field(position, bits);
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

void Reader::expect(unsigned position, unsigned bits, std::initializer_list<std::uint64_t> values) {
  const std::uint64_t value = field(position, bits);
  for (const std::uint64_t v : values) {
    if (v == value) return;
  }
  refuse(fmt::format("bits {} to {} are 0x{:x}", position, position + bits - 1, value));
}

std::uint8_t Reader::named(unsigned position, unsigned bits,
                           std::initializer_list<const char*> names) {
  const std::uint64_t value = field(position, bits);
  if (value >= names.size() || names.begin()[value] == nullptr) {
    refuse(fmt::format("bits {} to {} are 0x{:x}", position, position + bits - 1, value));
  }
  suffix(names.begin()[value]);
  return static_cast<std::uint8_t>(value);
}

void Reader::add(const Operand& operand) {
  if (insn.count == Instruction::kMostOperands) refuse("too many operands");
  add_prefixed("", operand);
}

void Reader::add_prefixed(const std::string& prefix, const Operand& operand) {
  add_text(prefix + show(operand));
  add_silently(operand);
}

Operand Reader::general(std::uint64_t index) { return make_operand(Kind::kRegister, index); }

std::uint8_t Reader::uniform_index(unsigned position) {
  constexpr std::uint8_t kZeroOfSixBits = 63;
  if (architecture_ >= 100) return byte(position, 8);
  const std::uint8_t index = byte(position, 6);
  return index == kZeroOfSixBits ? kZeroUniform : index;
}

Operand Reader::uniform_at(unsigned position) {
  return make_operand(Kind::kUniform, uniform_index(position));
}

Operand Reader::barrier(std::uint64_t index) { return make_operand(Kind::kBarrier, index); }

Operand Reader::address_at(unsigned position, std::int64_t offset) {
  return make_operand(Kind::kAddress, field(position, 8), static_cast<std::uint64_t>(offset));
}

Operand Reader::reg(unsigned position) {
  return insn.uniform ? uniform_at(position) : general_at(position);
}

bool Reader::prints_absent_predicates() const { return architecture_ >= 100; }

Operand Reader::predicate_at(unsigned position) {
  return make_operand(insn.uniform ? Kind::kUniformPredicate : Kind::kPredicate,
                      field(position, 3));
}

Operand Reader::predicate_at(unsigned position, unsigned negation) {
  Operand operand = predicate_at(position);
  operand.negated = bit(negation);
  return operand;
}

Operand Reader::immediate(std::uint64_t value) { return make_operand(Kind::kImmediate, 0, value); }

Operand Reader::low_constant() {
  Operand operand = make_operand(Kind::kConstant, kZeroRegister, field(38, 16));
  operand.bank = byte(54, 5);
  return operand;
}

Operand Reader::a(Modifier modifier) {
  Operand operand = reg(24);
  modify(operand, modifier, 72, 73);
  return operand;
}

Operand Reader::b(Modifier modifier) {
  Operand operand;
  switch (form_) {
    case 1: operand = reg(32); break;
    case 2:
    case 3:
    case 7: operand = reg(64); break;
    case 4: operand = immediate(field(32, 32)); break;
    case 5: operand = low_constant(); break;
    case 6: operand = uniform_at(32); break;
    default: refuse("a form without operands");
  }
  is_crossed() ? modify(operand, modifier, 75, 74) : modify_low(operand, modifier);
  return operand;
}

Operand Reader::c(Modifier modifier) {
  Operand operand;
  switch (form_) {
    case 2: operand = immediate(field(32, 32)); break;
    case 3: operand = low_constant(); break;
    case 7: operand = uniform_at(32); break;
    case 0: refuse("a form without operands");
    default: operand = reg(64);
  }
  is_crossed() ? modify_low(operand, modifier) : modify(operand, modifier, 75, 74);
  return operand;
}

Operand Reader::second(Modifier modifier) {
  unused(64);
  Operand operand = is_crossed() ? c() : b();
  modify_low(operand, modifier);
  return operand;
}

void Reader::modify_low(Operand& operand, Modifier modifier) {
  if (operand.kind != Kind::kImmediate) modify(operand, modifier, 63, 62);
}

void Reader::modify(Operand& operand, Modifier modifier, unsigned negation, unsigned absolute) {
  if (modifier != Modifier::kNone) operand.negated = bit(negation);
  if (modifier == Modifier::kNegateAndAbsolute) operand.absolute = bit(absolute);
}

void Reader::unused(unsigned position) { expect(position, 8, {0, 63, 255}); }

void Reader::no_condition() {
  if (!is_true(predicate_at(87, 90))) refuse("a condition");
}

std::string Reader::show(const Operand& operand) const {
  std::string text;
  switch (operand.kind) {
    case Kind::kNone: return "";
    case Kind::kRegister:
      text = operand.index == kZeroRegister ? "RZ" : fmt::format("R{}", operand.index);
      break;
    case Kind::kUniform:
      text = operand.index == kZeroUniform ? "URZ" : fmt::format("UR{}", operand.index);
      break;
    case Kind::kPredicate:
    case Kind::kUniformPredicate: {
      const char* const prefix = operand.kind == Kind::kPredicate ? "P" : "UP";
      const std::string name = operand.index == kTrue ? "T" : std::to_string(operand.index);
      return (operand.negated ? "!" : "") + (prefix + name);
    }
    case Kind::kImmediate:
      switch (literal) {
        case Literal::kInteger: return show_integer(operand.value);
        case Literal::kSingle: return show_number(std::bit_cast<float>(operand.value));
        case Literal::kDouble:
          return show_number(std::bit_cast<double>(std::uint64_t{operand.value} << 32));
        case Literal::kHalves:
          return show_number(half_value(operand.value >> 16)) + ", " +
                 show_number(half_value(operand.value & 0xffff));
        case Literal::kBfloats:
          return show_number(std::bit_cast<float>(operand.value & 0xffff0000)) + ", " +
                 show_number(std::bit_cast<float>(operand.value << 16));
      }
      break;
    case Kind::kConstant: {
      std::string at;
      if (operand.uniform != kZeroUniform)
        at = fmt::format("UR{}", operand.uniform);
      else if (operand.index != kZeroRegister)
        at = fmt::format("R{}", operand.index);
      if (at.empty() && operand.shows_zero && operand.value == 0)
        at = operand.wide ? "URZ" : "RZ";
      else if (at.empty() || operand.value != 0)
        at += (at.empty() ? "" : "+") + show_integer(operand.value);
      text = fmt::format("c[0x{:x}][{}]", operand.bank, at);
      break;
    }
    case Kind::kAddress: {
      std::string at;
      if (operand.index != kZeroRegister || (operand.narrow && operand.shows_zero)) {
        at = operand.index == kZeroRegister ? "RZ" : fmt::format("R{}", operand.index);
        if (operand.wide) at += ".64";
        if (operand.narrow) at += ".U32";
        if (operand.scale != 0) at += fmt::format(".X{}", 1 << operand.scale);
      }
      if (operand.uniform != kZeroUniform)
        at += fmt::format("{}UR{}", at.empty() ? "" : "+", operand.uniform);
      else if (operand.shows_zero)
        at += at.empty() ? "URZ" : "+URZ";
      const auto offset = static_cast<std::int32_t>(operand.value);
      if (at.empty() && offset == 0) at = "RZ";
      if (offset != 0)
        at += fmt::format("{}{}0x{:x}", at.empty() ? "" : "+", offset < 0 ? "-" : "",
                          magnitude(offset));
      return "[" + at + "]";
    }
    case Kind::kBarrier: return fmt::format("B{}", operand.index);
  }
  if (operand.absolute) text = "|" + text + "|";
  switch (operand.half) {
    case Half::kPair: break;
    case Half::kLow: text += ".H0_H0"; break;
    case Half::kHigh: text += ".H1_H1"; break;
    case Half::kUpper: text += ".H1"; break;
    case Half::kCrossed: text += ".H0_NH1"; break;
    case Half::kByte1:
    case Half::kByte2:
    case Half::kByte3:
      text +=
          fmt::format(".B{}", 1 + static_cast<int>(operand.half) - static_cast<int>(Half::kByte1));
      break;
  }
  if (operand.negated) text = (bitwise ? "~" : "-") + text;
  return text;
}

void Reader::refuse(const std::string& why) const {
  throw UnknownInstruction(
      fmt::format("machine code at 0x{:x}: {} (opcode 0x{:03x}, bits 0x{:016x} 0x{:016x}): {}",
                  insn.address, name_, insn.opcode, word_.low, word_.high, why));
}

Instruction Reader::finish() {
  if (insn.uniform || form_ >= 6) ignore(91, 1);  // marks operands of the uniform datapath
  const std::uint64_t low = word_.low & ~used_.low, high = word_.high & ~used_.high;
  if (low != 0 || high != 0) {
    const int at = low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high);
    refuse(fmt::format("bit {} has a meaning that is not known", at));
  }
  std::string text;
  if (!is_true(insn.guard)) text = "@" + show(insn.guard) + " ";
  text += mnemonic_;
  if (!texts_.empty()) text += " " + texts_;
  insn.text = std::move(text);
  return std::move(insn);
}

}  // namespace vgpu::sass
