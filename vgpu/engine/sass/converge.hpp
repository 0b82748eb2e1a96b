// SPDX-License-Identifier: Apache-2.0
// How lanes of a warp part and meet under machine code. Groups of lanes (execute/machine.hpp) are
// never merged because they happen to be at one place, as PTX's are, but where the code says so:
// counts of divergent threads depend on it.
#pragma once
#include "engine/execute/machine.hpp"

namespace vgpu::sass {

using execute::Insn;
using execute::u32;
using execute::Warp;

// These lanes of the running group are at `pc` now, in a group of their own; the others go on.
void part(Warp& warp, u32 mask, u32 pc);

// BSYNC: the running group waits for the lanes of its barrier (Insn::s[0]: its row), or all of them
// go on.
void reconverge(Warp& warp, const Insn& insn);

// WARPSYNC: the same for the lanes of a mask.
void meet(Warp& warp, const Insn& insn, u32 wanted);

// Lanes have exited or left a barrier: lets those go on that wait for nobody else.
void settle(Warp& warp);

// The running lanes only poll memory, and what they wait for may be what lanes at a BSYNC would do
// behind it: these go on without them, as YIELD lets the hardware do. False: no lanes wait so.
bool stop_waiting(Warp& warp);

// Group::wait of ready groups that were released together. join_released makes one of those at one
// place.
inline constexpr u32 kReleased = 0xfffffffe;
void join_released(Warp& warp);

// The group that was parked last runs next: the inner parts of nested branches before the outer
// ones.
u32 newest_ready(const Warp& warp);  // index into parked, kNone if there is none

// The instruction at an address of the code; faults if no jump can lead there.
u32 place_of_address(const Warp& warp, const Insn& insn, u32 address);

}  // namespace vgpu::sass
