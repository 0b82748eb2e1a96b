// SPDX-License-Identifier: Apache-2.0
#include "analyse/control_flow.hpp"

#include <vector>

namespace ladder::analyse {

bool reachable(std::span<const Ways> program, std::size_t to, std::size_t without) {
  std::vector<bool> seen(program.size());
  std::vector<std::size_t> open;
  const auto visit = [&](std::size_t at) {
    if (at >= program.size() || at == without || seen[at]) return;
    seen[at] = true;
    open.push_back(at);
  };
  visit(0);
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at == to) return true;
    if (program[at].jump >= 0) visit(static_cast<std::size_t>(program[at].jump));
    if (program[at].next) visit(at + 1);
  }
  return false;
}

}  // namespace ladder::analyse
