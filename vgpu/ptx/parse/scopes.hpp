// SPDX-License-Identifier: Apache-2.0
// Names declared in a function body. Scopes nest, and inner declarations hide outer ones.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {

class Scopes {
 public:
  struct Found {
    std::uint32_t reg = kNone;  // a register
    Symbol symbol;              // or a variable
    bool beyond_range = false;  // or neither: `%r7` if only %r<5> is declared
    explicit operator bool() const {
      return reg != kNone || symbol.kind != Symbol::Kind::kUnresolved;
    }
  };

  void clear();
  void open() { begins_.push_back(entries_.size()); }
  void close();
  std::size_t depth() const { return begins_.size(); }

  // Return false if the innermost scope already declares the name.
  bool declare_variable(std::string_view name, Symbol symbol);
  bool declare_register(std::string_view name, std::uint32_t reg);
  bool declare_registers(std::string_view base, std::uint32_t first,
                         std::uint32_t count);  // base0, base1, ...
  Found find(std::string_view name) const;

 private:
  struct Entry {
    std::string_view name;
    Symbol symbol;
    std::uint32_t reg = kNone, count = 0;  // count > 0: a range
    std::size_t depth = 0;
    std::uint32_t hidden = kNone;  // the entry of this name in an outer scope
  };
  using Names = std::unordered_map<std::string_view, std::uint32_t>;
  bool declare(Names& names, Entry entry);

  std::vector<Entry> entries_;
  std::vector<std::size_t> begins_;  // index in entries_ of each open scope's first entry
  Names names_, ranges_;             // index of the innermost entry, kNone if there is none
};

}  // namespace vgpu::ptx
