// SPDX-License-Identifier: Apache-2.0
// Where a program goes from each of its instructions, whatever they are instructions of.
#pragma once
#include <cstddef>
#include <span>

namespace ladder::analyse {

// Ways out of one instruction, as indices into the program.
struct Ways {
  std::ptrdiff_t jump = -1;  // where it may jump to; -1: nowhere that is in the program
  bool next = true;          // whether it may go on to the instruction behind it
};

// Whether a way leads from the first instruction to `to` that does not pass `without`. Where none does, `without` dominates
// `to`, and a jump from `to` back to it closes a loop (Hecht and Ullman, 1974).
bool reachable(std::span<const Ways> program, std::size_t to, std::size_t without);

}  // namespace ladder::analyse
