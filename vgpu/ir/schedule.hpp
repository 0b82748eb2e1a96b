// SPDX-License-Identifier: Apache-2.0
// What machine code states about when a warp's instructions may issue, and which of them wait for
// which, without a simulation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vgpu::ir {

// Control flow of a program in any instruction set, described by each instruction's successors.

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

inline constexpr int kScoreboards = 6;  // of a warp

// An instruction's control code.
struct ControlCode {
  std::uint8_t stall = 1;  // cycles until the warp's next instruction may issue
  // The scoreboards (0 to 5; 7: none) that the instruction releases when its result is written and
  // when its operands are read.
  std::uint8_t sets_result = 7, sets_read = 7;
  std::uint8_t waits = 0;  // mask of the scoreboards that must be free before it issues
  std::uint8_t reuse = 0;  // bit s: source s stays in the operand cache for the next instruction

  int cycles() const { return stall > 1 ? stall : 1; }
};

// Instruction `waiter` waits for `setter` (indices into the code). `for_reads`: until the operands
// of `setter` are read, otherwise until its result is written.
struct ScoreboardWait {
  std::uint32_t setter = 0, waiter = 0;
  std::uint8_t scoreboard = 0;
  bool for_reads = false;
};

// All waits that control flow allows, in order of the waiter. Calls and computed jumps are not
// followed.
std::vector<ScoreboardWait> waits_of(std::span<const ControlCode> code, std::span<const Ways> ways);

// The waits of a steady iteration of a loop without branches inside.
std::vector<ScoreboardWait> waits_of_loop(std::span<const ControlCode> loop);
// Those of them that lie on the longest chain in which each setter issues after the previous wait:
// their latencies add up in a warp.
std::vector<ScoreboardWait> longest_chain(std::span<const ControlCode> loop);

}  // namespace vgpu::ir
