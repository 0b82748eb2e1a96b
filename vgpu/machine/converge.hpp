// SPDX-License-Identifier: Apache-2.0
// Divergence and reconvergence of a warp's lanes in machine code. For PTX, groups of lanes
// (machine/machine.hpp) merge whenever they are at the same instruction. For machine code they
// merge only at its convergence instructions, because counts of divergent threads depend on it.
#pragma once
#include "machine/machine.hpp"

namespace vgpu::machine {

inline u32 lane_count(u32 mask) { return static_cast<u32>(__builtin_popcount(mask)); }

// Moves the lanes in `mask` from the running group to a new ready group at `pc`.
void part(Warp& warp, u32 mask, u32 pc);

// BSYNC: the running group waits for the other lanes of its convergence barrier (row Insn::s[0]).
// If it is the last to arrive, all of them continue as one group.
void reconverge(Warp& warp, const Insn& insn);

// Call when the running group has been chosen among several. A ready group whose next instruction
// is a BSYNC has arrived there from now on, without executing it. When the last group arrives, all
// lanes execute the BSYNC once more. Only counts depend on this. It is how an H100 counts in every
// pattern of tests/golden/micro_divergent.cu without a BREAK; with a BREAK the counts are called
// estimates.
void arrive_early(Warp& warp);

// WARPSYNC: the same for the lanes in the mask `expected`.
void warpsync(Warp& warp, const Insn& insn, u32 expected);

// WARPSYNC.EXCLUSIVE: the same for each of the lanes' masks; the lanes of a mask continue as a
// group of their own.
void meet_apart(Warp& warp, const u32* masks);

// BREAK: the lanes in `mask` leave the convergence barrier at `row` (one mask per lane).
void leave(u32* row, u32 mask);

// Releases groups that waited only for lanes that are gone. left: those lanes have left by BREAK or
// EXIT; otherwise a WARPSYNC.EXCLUSIVE has separated them.
void settle(Warp& warp, bool left = false);

// Call when the running lanes only poll memory: the value may depend on code after a BSYNC at which
// other lanes wait. Releases one group that waits at a BSYNC, as the hardware may do at a YIELD.
// Returns false if there is none.
bool stop_waiting(Warp& warp);

// Call when no group can run. Lanes at a WARPSYNC may be those that others wait for at a BSYNC that
// is not on their way: releases the others, which then reach the WARPSYNC. ptxas leaves a BSYNC out
// where it sees a WARPSYNC ahead. Returns false if there are none.
bool skip_for_warpsync(Warp& warp);

// Group::wait of ready groups that were released together. join_released merges those at the same
// instruction.
inline constexpr u32 kReleased = 0xfffffffe;
void join_released(Warp& warp);

// The ready group that was parked last, which runs next: inner branches complete before outer ones.
// Returns its index in Warp::parked, or kNone.
u32 newest_ready(const Warp& warp);

// The index of the instruction at a code address; faults if the address is not a jump target.
u32 place_of_address(const Warp& warp, const Insn& insn, u32 address);

}  // namespace vgpu::machine
