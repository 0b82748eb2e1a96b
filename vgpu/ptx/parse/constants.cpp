// SPDX-License-Identifier: Apache-2.0
// Constant expressions and initialisers.
#include <algorithm>
#include <bit>

#include "ptx/parse/parser.hpp"

namespace vgpu::ptx {
namespace {

constexpr int kMaxDepth = 64;  // nesting of parentheses and signs
constexpr std::uint64_t kMaxInitialiser = std::uint64_t{1} << 28;  // bytes

struct Operator {
  char text;  // '<' means <<, '>' means >>
  int precedence;
};
constexpr Operator kOperators[] = {{'<', 1}, {'>', 1}, {'+', 2}, {'-', 2}, {'*', 3}, {'/', 3}};

}  // namespace

Parser::Constant Parser::constant_primary(int depth) {
  if (depth > kMaxDepth) fail(token_.line, "a constant expression nested too deeply");
  if (accept('+')) return constant_primary(depth + 1);
  if (accept('-')) {
    Constant value = constant_primary(depth + 1);
    if (value.kind == Operand::Kind::kInteger) {
      value.bits = 0 - value.bits;
    } else {
      value.bits ^=
          value.kind == Operand::Kind::kFloat32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
    }
    value.is_unsigned = false;
    return value;
  }
  if (accept('~')) {
    Constant value = constant_primary(depth + 1);
    if (value.kind != Operand::Kind::kInteger) fail(token_.line, "~ of a floating-point constant");
    value.bits = ~value.bits;
    return value;
  }
  if (accept('(')) {
    const Constant value = constant(depth + 1);
    expect(')', "in a constant expression");
    return value;
  }
  Constant value;
  switch (token_.kind) {
    case Token::Kind::kInteger: value.kind = Operand::Kind::kInteger; break;
    case Token::Kind::kFloat32: value.kind = Operand::Kind::kFloat32; break;
    case Token::Kind::kFloat64: value.kind = Operand::Kind::kFloat64; break;
    default:
      if (!token_.is_name("WARP_SZ")) unexpected("a constant");
      advance();
      value.bits = 32;
      return value;
  }
  value.bits = token_.bits;
  value.is_unsigned = token_.is_unsigned;
  advance();
  return value;
}

Parser::Constant Parser::constant(int depth) { return binary(constant_primary(depth), 1, depth); }

Parser::Constant Parser::binary(Constant left, int least_precedence, int depth) {
  for (;;) {
    const auto found =
        std::ranges::find_if(kOperators, [this](const Operator& o) { return token_.is(o.text); });
    if (found == std::end(kOperators) || found->precedence < least_precedence) return left;
    const int line = token_.line;
    advance();
    if (found->precedence == 1) expect(found->text, "for a shift");
    const Constant right = binary(constant_primary(depth + 1), found->precedence + 1, depth + 1);
    if (left.kind != Operand::Kind::kInteger || right.kind != Operand::Kind::kInteger) {
      fail(line, "arithmetic with floating-point constants");
    }
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    switch (found->text) {
      case '+': left.bits += right.bits; break;
      case '-': left.bits -= right.bits; break;
      case '*': left.bits *= right.bits; break;
      case '/': {
        if (right.bits == 0) fail(line, "division by zero");
        const auto a = static_cast<std::int64_t>(left.bits),
                   b = static_cast<std::int64_t>(right.bits);
        if (is_unsigned) {
          left.bits /= right.bits;
        } else {
          left.bits = b == -1 ? 0 - left.bits : static_cast<std::uint64_t>(a / b);
        }
        break;
      }
      default:
        if (right.bits > 63) fail(line, "a shift by more than 63");
        if (found->text == '<') {
          left.bits <<= right.bits;
        } else if (left.is_unsigned) {
          left.bits >>= right.bits;
        } else {
          left.bits =
              static_cast<std::uint64_t>(static_cast<std::int64_t>(left.bits) >> right.bits);
        }
        continue;  // a shift's result has its left operand's type
    }
    left.is_unsigned = is_unsigned;
  }
}

std::uint64_t Parser::take_constant(std::string_view what) {
  const int line = token_.line;
  const Constant value = constant();
  if (value.kind != Operand::Kind::kInteger || (!value.is_unsigned && (value.bits >> 63) != 0)) {
    fail(line, std::string(what) + " is a non-negative integer");
  }
  return value.bits;
}

std::int64_t Parser::offset() {
  if (!token_.is('+') && !token_.is('-')) return 0;
  const int line = token_.line;
  const Constant value = binary(Constant{}, 1, 0);
  if (value.kind != Operand::Kind::kInteger) fail(line, "an offset is an integer");
  return static_cast<std::int64_t>(value.bits);
}

void Parser::put(Variable& variable, std::uint64_t offset, std::uint64_t bits, std::uint32_t size) {
  if (offset > kMaxInitialiser) fail(token_.line, "an initialiser of more than 256 MB");
  if (variable.initial.size() < offset + size) variable.initial.resize(offset + size);
  for (std::uint32_t i = 0; i < size; ++i) {
    variable.initial[offset + i] = static_cast<std::uint8_t>(i < 8 ? bits >> (8 * i) : 0);
  }
}

void Parser::initialiser(Variable& variable) {
  std::vector<std::uint64_t> extents = variable.dimensions;
  if (variable.vector > 1) extents.push_back(variable.vector);
  if (extents.empty()) {
    const bool braces = accept('{');
    initialiser_element(variable, 0);
    if (braces) expect('}', "after an initialiser");
    return;
  }
  std::vector<std::uint64_t> strides(extents.size());
  std::uint64_t stride = size_of(variable.type);
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= i == 0 ? 1 : extents[i];
  }
  const std::uint64_t bytes = initialiser_list(variable, extents, strides, 0, 0);
  if (!variable.dimensions.empty() && variable.dimensions[0] == 0 && strides[0] != 0) {
    variable.dimensions[0] = (bytes + strides[0] - 1) / strides[0];
  }
}

// Parses {...} and stores its elements from byte `offset` on; an element of this level occupies
// strides[level] bytes. Returns the number of bytes that the list covers.
std::uint64_t Parser::initialiser_list(Variable& variable,
                                       const std::vector<std::uint64_t>& extents,
                                       const std::vector<std::uint64_t>& strides, std::size_t level,
                                       std::uint64_t offset) {
  const bool open = level == 0 && !variable.dimensions.empty() && extents[0] == 0;
  const std::uint64_t end = open ? kMaxInitialiser : extents[level] * strides[level];
  std::uint64_t at = 0;
  expect('{', "before an initialiser's elements");
  while (!accept('}')) {
    const int line = token_.line;
    if (token_.is('{')) {
      if (level + 1 == extents.size())
        fail(line, "braces nested deeper than the array's dimensions");
      if (strides[level] != 0) at = (at + strides[level] - 1) / strides[level] * strides[level];
      initialiser_list(variable, extents, strides, level + 1, offset + at);
      at += strides[level];
    } else {
      initialiser_element(variable, offset + at);
      at += size_of(variable.type);
    }
    if (at > end) fail(line, "more initialisers than " + quoted(variable.name) + " has elements");
    if (!token_.is('}')) expect(',', "between initialisers");
  }
  return at;
}

void Parser::initialiser_element(Variable& variable, std::uint64_t offset) {
  const std::uint32_t size = size_of(variable.type);
  if (token_.is_name() && !token_.is_name("WARP_SZ"))
    return initialiser_symbol(variable, offset, size, 0);
  const int line = token_.line;
  const Constant value = constant();
  // 0xFF00(symbol): one byte of an address.
  if (value.kind == Operand::Kind::kInteger && token_.is('(')) {
    const int shift = value.bits == 0 ? 0 : std::countr_zero(value.bits) / 8 * 8;
    if (value.bits != std::uint64_t{0xFF} << shift)
      fail(line, "the mask of an address selects one byte");
    advance();
    initialiser_symbol(variable, offset, size, static_cast<std::uint32_t>(shift));
    return expect(')', "after a masked address");
  }
  if (variable.type == Type::kF32 || variable.type == Type::kF64) {
    const double number = value.kind == Operand::Kind::kFloat64 ? std::bit_cast<double>(value.bits)
                          : value.kind == Operand::Kind::kFloat32
                              ? std::bit_cast<float>(static_cast<std::uint32_t>(value.bits))
                              : static_cast<double>(static_cast<std::int64_t>(value.bits));
    // Copies the bits, so that NaN payloads are preserved.
    const bool exact = value.kind == Operand::Kind::kFloat32 && variable.type == Type::kF32;
    const std::uint64_t bits = variable.type == Type::kF64 ? std::bit_cast<std::uint64_t>(number)
                               : exact                     ? value.bits
                                       : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    return put(variable, offset, bits, size);
  }
  if (value.kind != Operand::Kind::kInteger)
    fail(line, "a floating-point initialiser for an integer");
  put(variable, offset, value.bits, size);
}

void Parser::initialiser_symbol(Variable& variable, std::uint64_t offset, std::uint32_t size,
                                std::uint32_t shift) {
  Relocation relocation;
  relocation.offset = offset;
  relocation.size = size;
  relocation.shift = shift;
  relocation.name = take_name("a symbol");
  if (relocation.name == "generic" && accept('(')) {
    relocation.is_generic = true;
    relocation.name = take_name("a symbol");
    expect(')', "after generic(...");
  }
  relocation.addend = this->offset();
  put(variable, offset, 0, size);
  variable.relocations.push_back(relocation);
}

void Parser::resolve_relocations(std::vector<Variable>& list) {
  for (Variable& variable : list) {
    for (Relocation& relocation : variable.relocations) {
      const auto found = globals_.find(relocation.name);
      if (found == globals_.end())
        fail(variable.line, quoted(relocation.name) + " is not declared");
      relocation.symbol = found->second;
    }
  }
}

}  // namespace vgpu::ptx
