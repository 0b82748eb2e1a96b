// SPDX-License-Identifier: Apache-2.0
// Function bodies: scopes, labels, tables and instructions.
#include "ptx/parse/parser.hpp"

#include <utility>

namespace vgpu::ptx {
namespace {

constexpr std::size_t kMaxScopes = 256;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

void Parser::open_scope() {
  if (scopes_.depth() > kMaxScopes) fail(token_.line, "scopes nested too deeply");
  scopes_.open();
  label_scopes_.push_back({labels_.size(), pending_.size()});
}

// Resolves references inside the scope to its labels. Unresolved references may refer to labels of
// outer scopes.
void Parser::close_labels(Function& function) {
  const LabelScope scope = label_scopes_.back();
  label_scopes_.pop_back();
  label_map_.clear();
  for (std::size_t i = scope.first_label; i < labels_.size(); ++i) {
    const LabelEntry& entry = labels_[i];
    if (!label_map_.try_emplace(entry.name, &entry).second) {
      fail(entry.line, "label " + quoted(entry.name) + " is defined twice");
    }
  }
  std::size_t kept = scope.first_pending;
  for (std::size_t i = scope.first_pending; i < pending_.size(); ++i) {
    const Pending& p = pending_[i];
    const auto found = label_map_.find(p.name);
    if (found == label_map_.end()) {
      pending_[kept++] = p;
      continue;
    }
    const LabelEntry& entry = *found->second;
    if (p.operand != nullptr) {
      p.operand->kind = entry.kind;
      p.operand->target = entry.target;
    } else if (entry.kind == Operand::Kind::kLabel) {
      function.branch_tables[p.table].targets[p.entry] = entry.target;
    } else {
      fail(p.line, quoted(p.name) + " is no label");
    }
  }
  pending_.resize(kept);
  labels_.resize(scope.first_label);
}

void Parser::close_scope(Function& function) {
  close_labels(function);
  scopes_.close();
}

void Parser::body(Function& function) {
  labels_.clear();
  pending_.clear();
  label_scopes_.clear();
  scratch_.clear();
  const int first_line = token_.line;
  advance();
  open_scope();
  while (!label_scopes_.empty()) {
    if (token_.is_name() || token_.is('@')) {
      label_or_instruction(function);
    } else if (token_.is_directive()) {
      body_directive(function);
    } else if (token_.is('{')) {
      open_scope();
      advance();
    } else if (token_.is('}')) {
      close_scope(function);
      advance();
    } else if (token_.is(';')) {
      advance();
    } else if (token_.kind == Token::Kind::kEnd) {
      fail(token_.line, "the body of " + quoted(function.name) + ", which begins in line " +
                            std::to_string(first_line) + ", has no closing brace");
    } else {
      unexpected("a statement");
    }
  }
  for (const Pending& p : pending_) {
    if (p.operand == nullptr) fail(p.line, "label " + quoted(p.name) + " is not defined");
    undeclared_.push_back(p);
  }
}

void Parser::body_directive(Function& function) {
  const std::string_view name = token_.text;
  if (name == "loc") return location();
  if (name == "section") return section();
  if (name == "file") return file();
  advance();
  if (name == "reg") return registers(function);
  if (name == "param") return variables(Space::kParam, Linkage::kInternal, &function);
  if (name == "local") return variables(Space::kLocal, Linkage::kInternal, &function);
  if (name == "shared") return variables(Space::kShared, Linkage::kInternal, &function);
  if (name == "global") return variables(Space::kGlobal, Linkage::kInternal, &function);
  if (name == "const") return variables(Space::kConst, Linkage::kInternal, &function);
  if (name == "pragma") {
    return pragma();
  }
  if (name == "extern") {
    if (!token_.is_directive("shared")) unexpected("'.shared' after .extern in a body");
    advance();
    return variables(Space::kShared, Linkage::kExtern, &function);
  }
  fail(token_.line, "no directive of a function's body: " + quoted(name));
}

void Parser::label_or_instruction(Function& function) {
  Instruction result;
  result.line = token_.line;
  result.location = location_;
  const char* begin = token_.text.data();
  if (accept('@')) {
    result.guard_negated = accept('!');
    const int line = token_.line;
    const std::string_view guard = take_name("a predicate");
    result.guard = scopes_.find(guard).reg;
    if (result.guard == kNone) fail(line, "predicate " + quoted(guard) + " is not declared");
    if (!token_.is_name()) unexpected("an instruction after its predicate");
  }
  const std::string_view name = token_.text;
  const int line = token_.line;
  advance();
  if (token_.is(':') && result.guard == kNone) return label(function, name, line);
  instruction(function, result, begin, name);
}

void Parser::label(Function& function, std::string_view name, int line) {
  if (name.find('.') != std::string_view::npos) fail(line, "no name for a label: " + quoted(name));
  advance();
  if (token_.is_directive("branchtargets")) return branch_targets(function, name);
  if (token_.is_directive("calltargets") || token_.is_directive("callprototype")) {
    labels_.push_back({name, Operand::Kind::kCallees, kNone, token_.line});
    return token_.text == "calltargets" ? call_targets() : call_prototype();
  }
  const auto position = static_cast<std::uint32_t>(function.body.size());
  labels_.push_back({name, Operand::Kind::kLabel, position, line});
}

void Parser::branch_targets(Function& function, std::string_view name) {
  const auto index = static_cast<std::uint32_t>(function.branch_tables.size());
  labels_.push_back({name, Operand::Kind::kBranchTable, index, token_.line});
  BranchTable table;
  table.name = name;
  do {
    advance();
    const int line = token_.line;
    const std::string_view target = take_name("a label");
    pending_.push_back(
        {nullptr, index, static_cast<std::uint32_t>(table.targets.size()), target, line});
    table.targets.push_back(kNone);
  } while (token_.is(','));
  expect(';', "after .branchtargets");
  function.branch_tables.push_back(std::move(table));
}

void Parser::call_targets() {
  do {
    advance();
    const int line = token_.line;
    const std::string_view target = take_name("a function");
    const auto found = globals_.find(target);
    if (found == globals_.end() || found->second.kind != Symbol::Kind::kFunction) {
      fail(line, quoted(target) + " is no function declared before");
    }
  } while (token_.is(','));
  expect(';', "after .calltargets");
}

void Parser::call_prototype() {
  advance();
  if (token_.is('(')) parameters(nullptr, Symbol::Kind::kReturn);
  if (!token_.is_name("_")) unexpected("'_' in .callprototype");
  advance();
  if (token_.is('(')) parameters(nullptr, Symbol::Kind::kParam);
  while (token_.is_directive()) {
    const std::string_view directive = token_.text;
    if (directive == "noreturn") {
      advance();
    } else if (directive == "abi_preserve" || directive == "abi_preserve_control") {
      advance();
      take_number("a number of registers");
    } else {
      unexpected("';' after .callprototype");
    }
  }
  expect(';', "after .callprototype");
}

const Opcode* Parser::opcode(std::string_view text) {
  const Opcode*& known = opcodes_[text];
  if (known != nullptr) return known;
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  Opcode entry;
  entry.text = text;
  entry.parts = storage_->keep(std::span<const std::string_view>(parts));
  entry.id = static_cast<std::uint32_t>(opcodes_.size() - 1);
  known = storage_->keep(std::span<const Opcode>(&entry, 1)).data();
  return known;
}

void Parser::instruction(Function& function, Instruction result, const char* begin,
                         std::string_view name) {
  result.opcode = opcode(name);
  const std::string_view base = result.opcode->base();
  is_call_ = base == "call";
  is_branch_ = base == "bra";
  has_signs_ = base == "vmad";
  scratch_.clear();
  if (!token_.is(';')) {
    for (;;) {
      const Operand next = operand(0);
      scratch_.push_back(next);
      if (!accept(',')) break;
    }
  }
  if (!token_.is(';')) unexpected("',' or ';' after an operand of " + quoted(name));
  result.operands = keep_operands(0);
  const char* end = token_.text.data();
  while (end > begin && is_blank(end[-1])) --end;
  result.text = {begin, static_cast<std::size_t>(end - begin)};
  function.body.push_back(result);
  advance();
}

}  // namespace vgpu::ptx
