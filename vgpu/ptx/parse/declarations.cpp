// SPDX-License-Identifier: Apache-2.0
// Declarations of variables, parameters and registers.
#include <utility>

#include "ptx/parse/parser.hpp"

namespace vgpu::ptx {
namespace {

constexpr std::uint64_t kMaxVariable = std::uint64_t{1} << 48;   // bytes
constexpr std::uint64_t kMaxRegisters = std::uint64_t{1} << 24;  // in a module

}  // namespace

std::uint32_t Parser::alignment() {
  const int line = token_.line;
  const std::uint32_t value = take_number("an alignment");
  if (value == 0 || (value & (value - 1)) != 0) fail(line, "an alignment is a power of two");
  return value;
}

bool Parser::vector_width(std::uint32_t& width) {
  if (token_.is_directive("v2")) {
    width = 2;
  } else if (token_.is_directive("v4")) {
    width = 4;
  } else if (token_.is_directive("v8")) {
    width = 8;
  } else {
    return false;
  }
  advance();
  return true;
}

std::vector<std::uint64_t> Parser::dimensions() {
  std::vector<std::uint64_t> result;
  while (accept('[')) {
    const int line = token_.line;
    if (token_.is(']')) {
      if (!result.empty()) fail(line, "only an array's first dimension may be open");
      result.push_back(0);
    } else {
      result.push_back(take_constant("an array's size"));
    }
    expect(']', "after an array's size");
  }
  return result;
}

std::uint64_t Parser::array_size(const std::vector<std::uint64_t>& dimensions,
                                 std::uint64_t element) const {
  std::uint64_t size = element;
  for (std::uint64_t n : dimensions) {
    if (n > kMaxVariable || __builtin_mul_overflow(size, n, &size) || size > kMaxVariable) {
      fail(token_.line, "an array of more than 2^48 bytes");
    }
  }
  return size;
}

void Parser::variables(Space space, Linkage linkage, Function* body) {
  Variable common;
  common.space = space;
  common.linkage = linkage;
  bool has_type = false;
  std::uint32_t aligned = 0;
  while (token_.is_directive() || token_.is('[')) {
    if (accept('[')) {  // the bank number in the obsolete form .const[2]
      take_number("a bank");
      expect(']', "after a bank");
    } else if (token_.is_directive("align")) {
      advance();
      aligned = alignment();
    } else if (token_.is_directive("attribute")) {
      attributes();
    } else if (!vector_width(common.vector)) {
      const std::optional<Type> type = type_from(token_.text);
      if (!type || *type == Type::kPred) unexpected("a variable's type");
      common.type = *type;
      has_type = true;
      advance();
    }
  }
  if (!has_type) unexpected("a variable's type");
  common.alignment = aligned != 0 ? aligned : size_of(common.type) * common.vector;
  do {
    if (token_.is(',')) advance();
    Variable variable = common;
    variable.line = token_.line;
    variable.name = take_name("a variable's name");
    variable.dimensions = dimensions();
    const std::uint64_t element = std::uint64_t{size_of(variable.type)} * variable.vector;
    variable.size = array_size(variable.dimensions, element);
    if (accept('=')) {
      initialiser(variable);
      variable.size = array_size(variable.dimensions, element);
    }
    declare_variable(std::move(variable), body);
  } while (token_.is(','));
  expect(';', "after a variable");
}

void Parser::declare_variable(Variable variable, Function* body) {
  if (body != nullptr) {
    const Symbol symbol{Symbol::Kind::kBody, static_cast<std::uint32_t>(body->variables.size())};
    if (!scopes_.declare_variable(variable.name, symbol)) {
      fail(variable.line, quoted(variable.name) + " is declared twice");
    }
    body->variables.push_back(std::move(variable));
    return;
  }
  const Symbol symbol{Symbol::Kind::kModule, static_cast<std::uint32_t>(module_.variables.size())};
  const auto [place, is_new] = globals_.try_emplace(variable.name, symbol);
  if (is_new) {
    module_.variables.push_back(std::move(variable));
    return;
  }
  if (place->second.kind != Symbol::Kind::kModule) {
    fail(variable.line, quoted(variable.name) + " is a function already");
  }
  Variable& earlier = module_.variables[place->second.index];
  if (variable.linkage == Linkage::kExtern) return;
  if (earlier.linkage != Linkage::kExtern)
    fail(variable.line, quoted(variable.name) + " is declared twice");
  earlier = std::move(variable);
}

// `function` is null for a prototype, whose parameters declare no names.
std::vector<Parameter> Parser::parameters(Function* function, Symbol::Kind kind) {
  std::vector<Parameter> result;
  std::uint64_t end = 0;
  advance();
  while (!accept(')')) {
    const int line = token_.line;
    Parameter p = parameter(function);
    const std::uint64_t mask = p.alignment - 1;
    p.offset = (end + mask) & ~mask;
    end = p.offset + p.size;
    if (end > kMaxVariable) fail(line, "parameters of more than 2^48 bytes");
    if (function != nullptr && p.space == Space::kParam) {
      const Symbol symbol{kind, static_cast<std::uint32_t>(result.size())};
      if (!scopes_.declare_variable(p.name, symbol))
        fail(line, quoted(p.name) + " is declared twice");
    }
    result.push_back(p);
    if (!token_.is(')')) expect(',', "between parameters");
  }
  return result;
}

Parameter Parser::parameter(Function* function) {
  Parameter p;
  if (!token_.is_directive("param") && !token_.is_directive("reg")) unexpected("'.param'");
  p.space = token_.text == "reg" ? Space::kReg : Space::kParam;
  advance();
  std::uint32_t aligned = 0;
  bool has_type = false, is_pointer = false;  // what follows .ptr is of the memory pointed to
  while (token_.is_directive()) {
    if (token_.is_directive("align")) {
      advance();
      const std::uint32_t value = alignment();
      if (!is_pointer) aligned = value;
      continue;
    }
    if (vector_width(p.vector)) continue;
    const std::string_view name = token_.text;
    const std::optional<Type> type = type_from(name);
    if (type && !has_type) {
      p.type = *type;
      has_type = true;
    } else if (name == "ptr") {
      is_pointer = true;
    } else if (!is_pointer || !is_any_of(name, {"global", "const", "shared", "local"})) {
      unexpected("a parameter's type or name");
    }
    advance();
  }
  if (!has_type) unexpected("a parameter's type");
  if (p.type == Type::kPred && p.space == Space::kParam)
    fail(token_.line, "a .param of type .pred");
  const std::uint32_t element = size_of(p.type) * p.vector;
  p.alignment = aligned != 0 ? aligned : (element != 0 ? element : 1);
  p.name = take_name("a parameter's name");
  p.size = array_size(dimensions(), element);
  if (p.space == Space::kReg && function != nullptr)
    p.reg = add_registers(*function, {p.name, p.type}, token_.line);
  return p;
}

std::uint32_t Parser::add_registers(Function& function, const RegisterRange& range, int line) {
  const auto first = static_cast<std::uint32_t>(function.register_types.size());
  register_count_ += range.count;
  if (register_count_ > kMaxRegisters) fail(line, "more than 2^24 registers");
  if (range.count == 0) return kNone;
  const bool is_new = range.numbered ? scopes_.declare_registers(range.base, first, range.count)
                                     : scopes_.declare_register(range.base, first);
  if (!is_new) fail(line, "register " + quoted(range.base) + " is declared twice");
  function.register_types.insert(function.register_types.end(), range.count, range.type);
  return first;
}

void Parser::registers(Function& function) {
  RegisterRange range;
  std::uint32_t width = 1;
  vector_width(width);
  const std::optional<Type> type = token_.is_directive() ? type_from(token_.text) : std::nullopt;
  if (!type) unexpected("a register's type");
  range.type = *type;
  advance();
  do {
    if (token_.is(',')) advance();
    const int line = token_.line;
    range.base = take_name("a register's name");
    range.numbered = accept('<');
    range.count = 1;
    if (range.numbered) {
      range.count = take_number("a number of registers");
      expect('>', "after a number of registers");
    }
    add_registers(function, range, line);
  } while (token_.is(','));
  expect(';', "after .reg");
}

}  // namespace vgpu::ptx
