// SPDX-License-Identifier: Apache-2.0
// Where a program goes from each of its instructions, whatever they are instructions of.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace ladder::analyse {

// Ways out of one instruction, as indices into the program.
struct Ways {
  std::ptrdiff_t jump = -1;  // where it may jump to; -1: nowhere that is in the program
  bool next = true;          // whether it may go on to the instruction behind it
};

// Whether a way leads from the first instruction to `to` that does not pass `without`. Where none
// does, `without` dominates `to`, and a jump from `to` back to it closes a loop (Hecht and Ullman,
// 1974).
bool reachable(std::span<const Ways> program, std::size_t to, std::size_t without);

// A jump back and what it repeats: instructions [first, last].
struct Loop {
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first + 1; }
  bool inside(const Loop& outer) const {
    return first >= outer.first && last <= outer.last && size() < outer.size();
  }
};

// The loops of a program, by their jumps. A jump back into the middle of what lies before it, from
// code that was moved out of the way (a wait's slow path), repeats nothing, nor does one to itself
// (the padding behind a program).
std::vector<Loop> loops_of(std::span<const Ways> program);

}  // namespace ladder::analyse
