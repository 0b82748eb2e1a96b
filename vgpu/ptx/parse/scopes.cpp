// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse/scopes.hpp"

namespace vgpu::ptx {
namespace {

// Splits "%r12" into its base and number. Returns false if the name does not end in a number
// without leading zeros.
bool split_number(std::string_view name, std::string_view& base, std::uint32_t& number) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  const std::size_t digits = name.size() - begin;
  if (digits == 0 || digits > 9 || (digits > 1 && name[begin] == '0')) return false;
  base = name.substr(0, begin);
  number = 0;
  for (char c : name.substr(begin)) number = number * 10 + static_cast<std::uint32_t>(c - '0');
  return true;
}

}  // namespace

void Scopes::clear() {
  entries_.clear();
  begins_.clear();
  names_.clear();
  ranges_.clear();
}

void Scopes::close() {
  while (entries_.size() > begins_.back()) {
    const Entry& entry = entries_.back();
    (entry.count > 0 ? ranges_ : names_)[entry.name] = entry.hidden;
    entries_.pop_back();
  }
  begins_.pop_back();
}

bool Scopes::declare(Names& names, Entry entry) {
  const auto next = static_cast<std::uint32_t>(entries_.size());
  const auto [place, is_new] = names.try_emplace(entry.name, next);
  if (!is_new && place->second != kNone) {
    if (entries_[place->second].depth == depth()) return false;
    entry.hidden = place->second;
  }
  place->second = next;
  entry.depth = depth();
  entries_.push_back(entry);
  return true;
}

bool Scopes::declare_variable(std::string_view name, Symbol symbol) {
  Entry entry;
  entry.name = name;
  entry.symbol = symbol;
  return declare(names_, entry);
}

bool Scopes::declare_register(std::string_view name, std::uint32_t reg) {
  Entry entry;
  entry.name = name;
  entry.reg = reg;
  return declare(names_, entry);
}

bool Scopes::declare_registers(std::string_view base, std::uint32_t first, std::uint32_t count) {
  Entry entry;
  entry.name = base;
  entry.reg = first;
  entry.count = count;
  return declare(ranges_, entry);
}

Scopes::Found Scopes::find(std::string_view name) const {
  Found found;
  std::size_t range_depth = 0;
  std::string_view base;
  std::uint32_t number = 0;
  if (split_number(name, base, number)) {
    const auto range = ranges_.find(base);
    for (std::uint32_t i = range == ranges_.end() ? kNone : range->second; i != kNone;
         i = entries_[i].hidden) {
      if (number < entries_[i].count) {
        found.reg = entries_[i].reg + number;
        range_depth = entries_[i].depth;
        break;
      }
      found.beyond_range = true;
    }
  }
  const auto single = names_.find(name);
  if (single != names_.end() && single->second != kNone) {
    const Entry& entry = entries_[single->second];
    if (found.reg == kNone || entry.depth > range_depth) {
      found.reg = entry.reg;
      found.symbol = entry.symbol;
    }
  }
  return found;
}

}  // namespace vgpu::ptx
