// SPDX-License-Identifier: Apache-2.0
// Control flow of a program in any instruction set, described by each instruction's successors.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace vgpu::ir {

// Successors of one instruction, as indices into the program.
struct Ways {
  std::ptrdiff_t jump = -1;  // target of a possible jump; -1: none inside the program
  bool next = true;          // whether execution can fall through to the following instruction
};

// Whether a path leads from the first instruction to `to` without passing `without`. If there is
// none, `without` dominates `to`, and a jump from `to` back to `without` closes a natural loop
// (Hecht and Ullman, 1974).
bool reachable(std::span<const Ways> program, std::size_t to, std::size_t without);

// A loop: a backward jump at `last` to `first`; it repeats instructions [first, last].
struct Loop {
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first + 1; }
  bool inside(const Loop& outer) const {
    return first >= outer.first && last <= outer.last && size() < outer.size();
  }
};

// The natural loops of a program. A backward jump whose target does not dominate it (out-of-line
// code such as a wait's slow path) is not a loop. Neither is a jump to itself (the padding after a
// program).
std::vector<Loop> loops_of(std::span<const Ways> program);

}  // namespace vgpu::ir
