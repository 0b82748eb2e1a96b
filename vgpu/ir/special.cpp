// SPDX-License-Identifier: Apache-2.0
#include "ir/special.hpp"

#include <unordered_map>

namespace vgpu::ir {

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
