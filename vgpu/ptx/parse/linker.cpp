// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse/linker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "ptx/parse/ast.hpp"
#include "ptx/parse/lexer.hpp"

namespace vgpu::ptx {
namespace {

// A variable or a function at module scope, as a range of tokens.
struct Statement {
  std::size_t begin = 0, end = 0;
  std::string_view name;
  Linkage linkage = Linkage::kInternal;
  bool is_definition = false;
};

// One unit, taken apart.
struct Parts {
  std::vector<Token> tokens;
  std::vector<Statement> statements;
  std::vector<std::string_view> files;  // the text of each .file
  std::string_view version, target;
};

unsigned number_in(std::string_view text) {
  unsigned number = 0;
  const auto at = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

class Splitter {
 public:
  explicit Splitter(const PtxUnit& unit) : text_(unit.text) {
    Lexer lexer(text_);
    do {
      parts_.tokens.push_back(lexer.next());
    } while (parts_.tokens.back().kind != Token::Kind::kEnd);
  }

  Parts split() {
    while (token().kind != Token::Kind::kEnd) {
      if (token().is(';')) {
        ++at_;
      } else if (token().is_directive("version")) {
        parts_.version = tokens()[at_ + 1].text;
        at_ += 2;
      } else if (token().is_directive("address_size")) {
        at_ += 2;
      } else if (token().is_directive("target")) {
        parts_.target = tokens()[at_ + 1].text;
        for (at_ += 2; token().is(','); at_ += 2) continue;
      } else if (token().is_directive("file")) {
        file();
      } else if (token().is_directive("section")) {
        skip_past('}');
      } else if (token().is_directive("pragma")) {
        skip_past(';');
      } else {
        statement();
      }
    }
    return std::move(parts_);
  }

 private:
  std::vector<Token>& tokens() { return parts_.tokens; }
  const Token& token() { return tokens()[std::min(at_, tokens().size() - 1)]; }

  void skip_past(char last) {
    while (token().kind != Token::Kind::kEnd && !token().is(last)) ++at_;
    if (token().kind != Token::Kind::kEnd) ++at_;
  }

  // .file 1 "name", optionally with its time and size
  void file() {
    const std::size_t first = at_;
    at_ += 3;
    while (token().is(',')) at_ += 2;
    const Token& last = tokens()[std::min(at_, tokens().size()) - 1];
    const char* const begin = tokens()[first].text.data() - 1;
    const char* end = last.text.data() + last.text.size();
    if (last.kind == Token::Kind::kString) ++end;
    parts_.files.emplace_back(begin, static_cast<std::size_t>(end - begin));
  }

  void statement() {
    Statement found;
    found.begin = at_;
    bool is_function = false, has_body = false;
    int parentheses = 0, braces = 0;
    for (; token().kind != Token::Kind::kEnd; ++at_) {
      const Token& now = token();
      if (now.is_directive("visible") && braces == 0) found.linkage = Linkage::kVisible;
      if (now.is_directive("extern") && braces == 0) found.linkage = Linkage::kExtern;
      if ((now.is_directive("weak") || now.is_directive("common")) && braces == 0)
        found.linkage = Linkage::kWeak;
      is_function = is_function || now.is_directive("func") || now.is_directive("entry");
      if (now.is_directive("entry") && found.linkage == Linkage::kInternal)
        found.linkage = Linkage::kVisible;  // a kernel is found by its name
      parentheses += now.is('(') ? 1 : now.is(')') ? -1 : 0;
      if (now.is_name() && parentheses == 0 && braces == 0 && found.name.empty())
        found.name = now.text;
      if (now.is('{')) {
        ++braces;
        has_body = has_body || is_function;
      }
      if (now.is('}') && --braces == 0 && is_function) break;
      if (now.is(';') && braces == 0) break;
    }
    ++at_;
    found.end = std::min(at_, tokens().size() - 1);
    found.is_definition =
        is_function ? has_body : found.linkage != Linkage::kExtern && !found.name.empty();
    parts_.statements.push_back(found);
  }

  std::string_view text_;
  Parts parts_;
  std::size_t at_ = 0;
};

// Where a token's text begins and ends in the unit, with the dot or the quotes.
std::tuple<const char*, const char*> place(const Token& token) {
  const int before = token.is_directive() || token.kind == Token::Kind::kString;
  const int after = token.kind == Token::Kind::kString;
  return {token.text.data() - before, token.text.data() + token.text.size() + after};
}

// Appends a statement: names of the unit's own with a suffix, numbers of files moved.
void append(std::string& out, const Parts& parts, const Statement& statement,
            const std::set<std::string_view>& own, std::size_t unit, std::size_t first_file) {
  const auto& tokens = parts.tokens;
  const char* copied = std::get<0>(place(tokens[statement.begin]));
  bool at_file = false;
  for (std::size_t i = statement.begin; i < statement.end; ++i) {
    const auto [begin, end] = place(tokens[i]);
    std::string changed;
    if (tokens[i].is_name() && own.contains(tokens[i].text))
      changed = fmt::format("{}__unit{}", tokens[i].text, unit);
    if (at_file && tokens[i].is_integer()) changed = fmt::format("{}", tokens[i].bits + first_file);
    at_file = tokens[i].is_directive("loc") || tokens[i].is_name("inlined_at");
    if (changed.empty()) continue;
    out.append(copied, begin).append(changed);
    copied = end;
  }
  out.append(copied, std::get<1>(place(tokens[statement.end - 1]))).append("\n");
}

}  // namespace

std::string link_ptx(std::span<const PtxUnit> units) {
  std::vector<Parts> all;
  for (const PtxUnit& unit : units) all.push_back(Splitter(unit).split());
  const auto newest = [&](std::string_view Parts::*field, std::string_view of_none) {
    std::string_view best = all.empty() ? of_none : "";
    for (const Parts& parts : all) {
      if (best.empty() || number_in(parts.*field) > number_in(best)) best = parts.*field;
    }
    return best;
  };
  std::map<std::string_view, std::size_t> strong;  // the unit that defines a name
  std::set<std::string_view> common;               // names with linkage
  std::map<std::string_view, std::set<std::size_t>> units_with;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Statement& s : all[i].statements) {
      units_with[s.name].insert(i);
      if (s.linkage != Linkage::kInternal) common.insert(s.name);
      if (!s.is_definition || s.linkage != Linkage::kVisible) continue;
      const auto [known, is_new] = strong.emplace(s.name, i);
      if (!is_new) {
        throw DefinedTwice(fmt::format("'{}' is defined in {} and in {}", s.name,
                                       units[known->second].name, units[i].name));
      }
    }
  }
  std::string out = fmt::format(".version {}\n.target {}\n.address_size 64\n",
                                newest(&Parts::version, "8.0"), newest(&Parts::target, "sm_80"));
  std::set<std::string_view> weak;  // names whose weak definition was kept
  std::size_t files = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::set<std::string_view> own;
    for (const Statement& s : all[i].statements) {
      const bool meets = units_with[s.name].size() > 1 && (i != 0 || common.contains(s.name));
      if (meets && s.linkage == Linkage::kInternal && !s.name.empty()) own.insert(s.name);
    }
    for (const Statement& s : all[i].statements) {
      const bool repeated = s.is_definition && s.linkage == Linkage::kWeak &&
                            (strong.contains(s.name) || !weak.insert(s.name).second);
      if (!repeated) append(out, all[i], s, own, i, files);
    }
    for (const std::string_view file : all[i].files) {
      const auto number = file.find_first_of("0123456789");
      const auto rest = std::min(file.find_first_not_of("0123456789", number), file.size());
      out += fmt::format(".file {}{}\n", number_in(file) + files, file.substr(rest));
    }
    files += all[i].files.size();
  }
  return out;
}

}  // namespace vgpu::ptx
