// SPDX-License-Identifier: Apache-2.0
#include "ir/operations.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace vgpu::ir {
namespace {

struct Row {
  std::string_view pattern;
  Shape shape;
  bool control;
};

constexpr Shape shape() { return {}; }
template <class... Args>
constexpr Shape shape(Arg result, Args... operands) {
  return {result, {operands...}};
}

using enum Arg;
constexpr Row kRows[] = {
#define OPERATION(pattern, ...) {pattern, shape(__VA_ARGS__), false},
#define CONTROL(pattern, ...) {pattern, shape(__VA_ARGS__), true},
#include "ir/operations.def"
#undef OPERATION
#undef CONTROL
};

// Calls f with each name that the pattern stands for.
void expand(const std::string& name, std::string_view rest, auto f) {
  const std::size_t open = rest.find('{');
  if (open == std::string_view::npos) {
    f(name + std::string(rest));
    return;
  }
  const std::size_t close = rest.find('}', open);
  for (std::size_t at = open + 1; at <= close;) {
    const std::size_t end = std::min(rest.find(',', at), close);
    std::string next = name + std::string(rest.substr(0, open));
    next += rest.substr(at, end - at);
    expand(next, rest.substr(close + 1), f);
    at = end + 1;
  }
}

struct Table {
  std::vector<Operation> rows;
  std::unordered_map<std::string, u16> by_name;

  Table() {
    for (const Row& row : kRows) {
      expand("", row.pattern, [&](const std::string& name) {
        if (!by_name.emplace(name, static_cast<u16>(rows.size())).second)
          throw std::logic_error("operation defined twice: " + name);
        rows.push_back({name, row.shape, row.control});
      });
    }
  }
};

// Never destroyed, like the engine's other tables: kernels may run while the process ends.
const Table& table() {
  static const auto* const kTable = new Table;
  return *kTable;
}

}  // namespace

const std::vector<Operation>& operations() { return table().rows; }

std::optional<u16> find_operation(std::string_view name) {
  const auto found = table().by_name.find(std::string(name));
  return found == table().by_name.end() ? std::nullopt : std::optional<u16>(found->second);
}

std::optional<SpecialRegister> find_special(std::string_view name) {
  using enum Special;
  static const std::unordered_map<std::string_view, SpecialRegister> kTable = {
#define REGISTER(special, name) {name, {special, false}},
#define WIDE(special, name) {name, {special, true}},
#define UNNAMED(special)
#include "ir/special.def"
  };
  const auto found = kTable.find(name);
  return found == kTable.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace vgpu::ir
