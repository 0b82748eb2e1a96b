// SPDX-License-Identifier: Apache-2.0
// Operands of instructions.
#include "ptx/parse/parser.hpp"

namespace vgpu::ptx {
namespace {

constexpr int kMaxNesting = 16;  // PTX nests operands at most three deep

}  // namespace

std::span<Operand> Parser::keep_operands(std::size_t first) {
  const std::span<Operand> kept =
      storage_->keep(std::span<const Operand>(scratch_.data() + first, scratch_.size() - first));
  scratch_.resize(first);
  for (Operand& operand : kept) {
    if (operand.kind == Operand::Kind::kLabel && operand.target == kNone) {
      pending_.push_back({&operand, 0, 0, operand.name, token_.line});
    }
  }
  return kept;
}

Operand Parser::operand(int depth) {
  if (depth > kMaxNesting) fail(token_.line, "operands nested too deeply");
  Operand first;
  if (token_.is('!')) {
    advance();
    first = name_operand(false);
    first.negated = true;
  } else if (negates_register()) {
    advance();
    first = name_operand(false);
    first.negated = true;
  } else if (token_.is('{')) {
    first = group(Operand::Kind::kVector, '}', depth);
  } else if (token_.is('(') && is_call_) {
    first = group(Operand::Kind::kList, ')', depth);
  } else if (token_.is('[')) {
    first = address(depth);
  } else if (token_.is_name()) {
    first = name_operand(true);
  } else {
    first = constant_operand();
  }
  if (!token_.is('|')) return first;
  const std::size_t begin = scratch_.size();
  scratch_.push_back(first);
  advance();
  scratch_.push_back(name_operand(false));
  Operand pair;
  pair.kind = Operand::Kind::kPair;
  pair.elements = keep_operands(begin);
  return pair;
}

// A minus before a register, which vmad has; else it begins a constant.
bool Parser::negates_register() const {
  if (!has_signs_ || !token_.is('-')) return false;
  Lexer ahead = lexer_;
  const Token next = ahead.next();
  return next.is_name() && scopes_.find(next.text.substr(0, next.text.find('.'))).reg != kNone;
}

Operand Parser::group(Operand::Kind kind, char close, int depth) {
  const std::size_t begin = scratch_.size();
  advance();
  while (!accept(close)) {
    const Operand element = operand(depth + 1);
    scratch_.push_back(element);
    if (token_.is(',')) {
      advance();
    } else if (!token_.is(close)) {
      unexpected("',' or '" + std::string(1, close) + "' after an element");
    }
  }
  Operand result;
  result.kind = kind;
  result.elements = keep_operands(begin);
  return result;
}

Operand Parser::address(int depth) {
  const std::size_t begin = scratch_.size();
  advance();
  Operand result;
  result.kind = Operand::Kind::kAddress;
  scratch_.push_back(token_.is_name() ? name_operand(false) : constant_operand());
  result.offset = offset();
  while (accept(',')) {
    const Operand element = operand(depth + 1);
    scratch_.push_back(element);
  }
  expect(']', "after an address");
  result.elements = keep_operands(begin);
  return result;
}

Operand Parser::constant_operand() {
  if (!token_.is_integer() && token_.kind != Token::Kind::kFloat32 &&
      token_.kind != Token::Kind::kFloat64 && !token_.is('-') && !token_.is('+') &&
      !token_.is('~') && !token_.is('(')) {
    unexpected("an operand");
  }
  const Constant value = constant();
  Operand result;
  result.kind = value.kind;
  result.bits = value.bits;
  result.is_unsigned = value.is_unsigned;
  return result;
}

Operand Parser::name_operand(bool with_offset) {
  if (!token_.is_name()) unexpected("a name");
  const std::string_view text = token_.text;
  const int line = token_.line;
  advance();
  Operand result;
  result.name = text;
  if (text == "_") {
    result.kind = Operand::Kind::kSink;
    return result;
  }
  if (text == "WARP_SZ") {
    result.kind = Operand::Kind::kInteger;
    result.bits = 32;
    return result;
  }
  if (text == "generic" && token_.is('(')) {
    advance();
    result = name_operand(false);
    result.is_generic = true;
    expect(')', "after generic(...");
  } else {
    const std::size_t dot = text.find('.');
    const std::string_view base = text.substr(0, dot);
    const Scopes::Found found = is_branch_ ? Scopes::Found{} : scopes_.find(base);
    const bool has_selector = dot != std::string_view::npos;
    if (found.reg != kNone) {
      result.kind = Operand::Kind::kRegister;
      result.reg = found.reg;
      result.name = base;
      if (has_selector) result.selector = text.substr(dot + 1);
      return result;
    }
    if (!found && found.beyond_range)
      fail(line, "register " + quoted(base) + " is beyond the range declared");
    if (!found && text.front() == '%') {
      result.kind = Operand::Kind::kSpecial;
      return result;
    }
    if (has_selector) fail(line, quoted(base) + " is not declared");
    result.kind = Operand::Kind::kSymbol;
    result.symbol = found.symbol;
    if (!found) {
      const auto global = globals_.find(text);
      // In a branch, a label declared later may hide the module's name.
      if (global != globals_.end() && !is_branch_) {
        result.symbol = global->second;
      } else {
        result.kind = Operand::Kind::kLabel;
      }
    }
  }
  if (with_offset && (token_.is('+') || token_.is('-'))) result.offset = offset();
  return result;
}

}  // namespace vgpu::ptx
