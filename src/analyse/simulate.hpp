// SPDX-License-Identifier: Apache-2.0
// One SM with its resident blocks going round a kernel's hot loop: warps issue in order, wait for
// their scoreboards, their barriers and their pipes. What comes out is how long a round takes and
// what the pipes did meanwhile.
//
// Nothing here is fitted to a kernel. Rules and constants: four schedulers issue one instruction a
// cycle each, from the warp that issued last as long as it can, else from the next in turn (how
// hardware chooses is not published; of the usual policies this one comes closest over all rungs,
// see docs/analysis.md). An FFMA takes its scheduler's FP32 pipe for 32 lanes over the pipe's
// width; integer arithmetic has half of 32 lanes. A register file has two banks of one read a
// cycle, a read may lag one cycle behind its instruction, and an operand that the instruction marks
// for reuse costs none (measured on an H200 with patched machine code: three balanced reads take
// 1.50 cycles an FFMA, two on one bank 2.00, runs of eight such pairs on alternate banks 1.88). L1
// and shared memory are one pipe: a wavefront a cycle for shared memory, a 128-byte line a cycle
// for global memory. Latencies are the machine's (machine.hpp). L2 gives an SM its bytes a cycle.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "analyse/machine.hpp"
#include "analyse/machine_code.hpp"

namespace ladder::analyse {

// What one execution of a memory instruction costs; of other instructions nothing is read.
struct MemoryCost {
  double pipe = 1;     // cycles of the L1 and shared-memory pipe
  double sectors = 0;  // global: to be fetched if they miss L1
};

struct SmLoad {
  int warps_per_block = 0;
  int blocks = 0;            // resident
  double l1_hits = 0;        // share of global requests served by L1
  double from_memory = 0;    // share of what misses L1 that comes from device memory, not L2
  double tensor_cycles = 0;  // that a warp's product takes its scheduler's tensor core
};

struct SmRound {
  double cycles =
      0;  // that the SM needs for one round of one block (with the others' rounds beside it)
  // Of those cycles, how many each was busy: a scheduler's issue slot, its FP32 pipe, its tensor
  // core, the pipe of L1 and shared memory, the way to L2.
  double issue = 0, ffma = 0, tensor = 0, l1 = 0, l2 = 0;
};

// Cycles in which a scheduler can issue the loop once if nothing waits but for registers to be
// read.
double issue_cycles(std::span<const MachineInstruction> loop);

// `loop` is the loop's body, `costs` one entry an instruction. Deterministic.
SmRound simulate(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
                 const SmLoad& load, const Machine& machine);

}  // namespace ladder::analyse
