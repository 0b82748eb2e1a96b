// SPDX-License-Identifier: Apache-2.0
// Module level: directives and function headers.
#include "ptx/parse/parser.hpp"

#include <charconv>
#include <utility>

namespace vgpu::ptx {

Parser::Parser(std::string_view text)
    : storage_(std::make_shared<Storage>(text)), lexer_(storage_->text()) {
  advance();
}

bool Parser::accept(char punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

void Parser::unexpected(std::string_view wanted) const {
  std::string found = "the end of the text";
  if (token_.kind == Token::Kind::kDirective) {
    found = quoted(std::string_view(token_.text.data() - 1, token_.text.size() + 1));
  } else if (token_.kind != Token::Kind::kEnd) {
    found = quoted(token_.text);
  }
  fail(token_.line, "expected " + std::string(wanted) + ", found " + found);
}

void Parser::expect(char punctuation, std::string_view where) {
  if (!accept(punctuation))
    unexpected("'" + std::string(1, punctuation) + "' " + std::string(where));
}

std::string_view Parser::take_name(std::string_view what) {
  if (!token_.is_name()) unexpected(what);
  if (token_.text.find('.') != std::string_view::npos) {
    fail(token_.line, quoted(token_.text) + " has dots, but should be " + std::string(what));
  }
  const std::string_view name = token_.text;
  advance();
  return name;
}

std::uint32_t Parser::take_number(std::string_view what) {
  if (!token_.is_integer()) unexpected(what);
  if (token_.bits > 0xffffffffu) fail(token_.line, std::string(what) + " does not fit 32 bits");
  const auto number = static_cast<std::uint32_t>(token_.bits);
  advance();
  return number;
}

Module Parser::parse() {
  header();
  while (token_.kind != Token::Kind::kEnd) statement();
  finish();
  module_.storage = storage_;
  return std::move(module_);
}

void Parser::header() {
  if (!token_.is_directive("version")) unexpected("'.version', with which PTX begins");
  version();
}

void Parser::version() {
  advance();
  const std::string_view text = token_.text;
  const std::size_t dot = text.find('.');
  int major = 0, minor = 0;
  const char* end = text.data() + text.size();
  if (token_.kind != Token::Kind::kFloat64 || dot == std::string_view::npos ||
      std::from_chars(text.data(), end, major).ptr != text.data() + dot ||
      std::from_chars(text.data() + dot + 1, end, minor).ptr != end || major > 99 || minor > 9) {
    unexpected("a version such as 8.0");
  }
  advance();
}

void Parser::target() {
  do {
    advance();
    const int line = token_.line;
    const std::string_view name = take_name("a target such as sm_80");
    if (!name.starts_with("sm_")) continue;  // an option: debug, texmode_unified, ...
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 3, end, module_.target);
    if (error != std::errc{} || end - rest > 1)
      fail(line, "no target of this name: " + quoted(name));
  } while (token_.is(','));
}

void Parser::statement() {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"global", Space::kGlobal}, {"const", Space::kConst}, {"shared", Space::kShared},
      {"local", Space::kLocal},   {"tex", Space::kTex},
  };
  static constexpr std::pair<std::string_view, Linkage> kLinkages[] = {
      {"visible", Linkage::kVisible},
      {"extern", Linkage::kExtern},
      {"weak", Linkage::kWeak},
      {"common", Linkage::kCommon},
  };
  if (accept(';')) return;
  Linkage linkage = Linkage::kInternal;
  for (bool more = true; more;) {
    if (!token_.is_directive()) unexpected("a directive");
    more = false;
    for (const auto& [name, value] : kLinkages) {
      if (!token_.is_directive(name)) continue;
      linkage = value;
      more = true;
      advance();
      break;
    }
  }
  for (const auto& [name, space] : kSpaces) {
    if (!token_.is_directive(name)) continue;
    advance();
    return variables(space, linkage, nullptr);
  }
  const std::string_view name = token_.text;
  if (name == "entry" || name == "func") {
    advance();
    return function(linkage, name == "entry");
  }
  if (linkage != Linkage::kInternal) unexpected("a variable or a function after its linkage");
  if (name == "version") return version();
  if (name == "target") return target();
  if (name == "file") return file();
  if (name == "loc") return location();
  if (name == "section") return section();
  if (name == "alias") return alias();
  if (name == "address_size") {
    advance();
    const std::uint32_t size = take_number("the address size");
    if (size != 32 && size != 64) fail(token_.line, ".address_size is 32 or 64");
  } else if (name == "pragma") {
    advance();
    pragma();
  } else {
    unexpected("a directive of a module");
  }
}

void Parser::file() {
  advance();
  File entry;
  entry.number = take_number("a file's number");
  if (token_.kind != Token::Kind::kString) unexpected("a file's name in quotes");
  entry.name = token_.text;
  advance();
  if (accept(',')) {  // time stamp and size
    take_constant("a time stamp");
    if (accept(',')) take_constant("a file's size");
  }
  module_.files.push_back(entry);
}

void Parser::location() {
  advance();
  const auto position = [this] {
    Location l;
    l.file = take_number("a file's number");
    l.line = take_number("a line's number");
    if (token_.is_integer()) take_number("a column");
    return l;
  };
  location_ = static_cast<std::uint32_t>(module_.locations.size());
  module_.locations.push_back(position());
  if (!accept(',')) return;
  // The name of an inlined function, and where it is inlined.
  if (!token_.is_name("function_name")) unexpected("'function_name'");
  advance();
  take_name("a label in .debug_str");
  if (accept('+')) take_number("an offset");
  expect(',', "after function_name");
  if (!token_.is_name("inlined_at")) unexpected("'inlined_at'");
  advance();
  position();
}

void Parser::section() {
  advance();
  if (!token_.is_directive() && !token_.is_name()) unexpected("a section's name");
  const int line = token_.line;
  advance();
  if (!token_.is('{')) unexpected("'{' after a section's name");
  int depth = 0;
  do {
    if (token_.is('{')) ++depth;
    if (token_.is('}')) --depth;
    if (token_.kind == Token::Kind::kEnd)
      fail(line, "the section that begins here has no closing brace");
    advance();
  } while (depth > 0);
}

void Parser::alias() {
  advance();
  const int line = token_.line;
  Alias entry;
  for (std::uint32_t* index : {&entry.name, &entry.of}) {
    const std::string_view name = take_name("a function's name");
    const auto found = globals_.find(name);
    if (found == globals_.end() || found->second.kind != Symbol::Kind::kFunction) {
      fail(line, ".alias of " + quoted(name) + ", which is no function declared before");
    }
    *index = found->second.index;
    if (index == &entry.name) expect(',', "after an alias's name");
  }
  expect(';', "after .alias");
  module_.aliases.push_back(entry);
}

void Parser::attributes() {
  advance();
  expect('(', "after .attribute");
  while (!accept(')')) {
    if (!token_.is_directive()) unexpected("an attribute");
    advance();
    if (accept('(')) {
      while (!accept(')')) {
        take_constant("an attribute's argument");
        if (!token_.is(')')) expect(',', "between an attribute's arguments");
      }
    }
    if (!token_.is(')')) expect(',', "between attributes");
  }
}

void Parser::pragma() {
  do {
    if (token_.is(',')) advance();
    if (token_.kind != Token::Kind::kString) unexpected("a string");
    advance();
  } while (token_.is(','));
  expect(';', "after .pragma");
}

bool Parser::function_attribute() {
  if (token_.is_directive("attribute")) {
    attributes();
  } else if (token_.is_directive("noreturn")) {
    advance();
  } else {
    return false;
  }
  return true;
}

void Parser::function_directives(Function& function) {
  const auto extents = [this] {
    std::array<std::uint32_t, 3> result{1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      result[i] = take_number("a number of threads or blocks");
      if (!accept(',')) break;
    }
    return result;
  };
  while (!token_.is('{') && !token_.is(';')) {
    if (function_attribute()) continue;
    if (!token_.is_directive()) unexpected("a directive, '{' or ';' after a function's parameters");
    const std::string_view name = token_.text;
    const int line = token_.line;
    advance();
    if (name == "maxntid") {
      function.max_threads = extents();
    } else if (name == "reqntid") {
      function.required_threads = extents();
    } else if (name == "reqnctapercluster") {
      function.required_cluster = extents();
    } else if (is_any_of(name, {"minnctapersm", "maxnctapersm", "maxclusterrank"})) {
      take_number("a number of blocks");
    } else if (is_any_of(name, {"maxnreg", "abi_preserve", "abi_preserve_control"})) {
      take_number("a number of registers");
    } else if (name == "pragma") {
      pragma();
    } else if (!is_any_of(name, {"explicitcluster", "blocksareclusters"})) {
      fail(line, "no directive of a function: " + quoted(name));
    }
  }
}

// The index in Module::functions at which to store `function`, whose header has been parsed; kNone
// if it is a repeated declaration.
std::uint32_t Parser::function_slot(Function& function, int line) {
  const auto next = static_cast<std::uint32_t>(module_.functions.size());
  const auto [place, is_new] =
      globals_.try_emplace(function.name, Symbol{Symbol::Kind::kFunction, next});
  if (is_new) {
    module_.functions.emplace_back();
    return next;
  }
  if (place->second.kind != Symbol::Kind::kFunction) {
    fail(line, quoted(function.name) + " is a variable already");
  }
  const Function& earlier = module_.functions[place->second.index];
  if (function.is_declaration) return kNone;
  if (!earlier.is_declaration) fail(line, "a second body for " + quoted(function.name));
  if (function.linkage == Linkage::kInternal && earlier.linkage != Linkage::kExtern) {
    function.linkage = earlier.linkage;
  }
  return place->second.index;
}

void Parser::function(Linkage linkage, bool is_entry) {
  Function function;
  function.linkage = linkage;
  function.is_entry = is_entry;
  function.line = token_.line;
  scopes_.clear();
  scopes_.open();
  location_ = kNone;
  while (function_attribute()) continue;
  if (token_.is('(')) function.returns = parameters(&function, Symbol::Kind::kReturn);
  while (function_attribute()) continue;
  function.name = take_name("a function's name");
  if (token_.is('(')) function.params = parameters(&function, Symbol::Kind::kParam);
  for (const Parameter& p : function.params) function.param_bytes = p.offset + p.size;
  function_directives(function);
  function.is_declaration = token_.is(';');
  const std::uint32_t slot = function_slot(function, function.line);
  if (function.is_declaration) {
    advance();
  } else {
    body(function);
  }
  if (slot != kNone) module_.functions[slot] = std::move(function);
}

void Parser::finish() {
  for (const Pending& p : undeclared_) {
    const auto found = globals_.find(p.name);
    if (found == globals_.end()) fail(p.line, quoted(p.name) + " is not declared");
    p.operand->kind = Operand::Kind::kSymbol;
    p.operand->symbol = found->second;
  }
  resolve_relocations(module_.variables);
  for (Function& f : module_.functions) resolve_relocations(f.variables);
}

Module parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace vgpu::ptx
