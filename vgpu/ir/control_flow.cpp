// SPDX-License-Identifier: Apache-2.0
#include "ir/control_flow.hpp"

namespace vgpu::ir {

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

std::vector<Loop> loops_of(std::span<const Ways> program) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const std::ptrdiff_t head = program[i].jump;
    if (head < 0 || head >= static_cast<std::ptrdiff_t>(i)) continue;
    const Loop loop{static_cast<std::size_t>(head), i};
    if (!reachable(program, loop.last, loop.first)) loops.push_back(loop);
  }
  return loops;
}

}  // namespace vgpu::ir
