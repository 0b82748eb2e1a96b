// SPDX-License-Identifier: Apache-2.0
// Simulates one SM whose resident blocks execute a kernel's hot loop. Warps issue in order and wait
// for scoreboards, barriers and pipes. The result is the time per iteration and the busy time of
// each pipe.
//
// No constant is fitted to a kernel. Rules:
//
// - Each of four schedulers issues one instruction per cycle, from the warp that issued last until
// it stalls, then round-robin. The hardware's policy is not published; of the usual policies this
// one has the smallest error over all rungs (docs/analysis.md).
// - An FFMA occupies its scheduler's FP32 pipe for 32 / (lanes of the pipe) cycles; integer
// arithmetic has 16 lanes per scheduler.
// - A register file has two banks with one read per cycle each. A read may lag one cycle behind its
// instruction. An operand marked for reuse costs no read. Measured on an H200 with patched machine
// code: three balanced reads take 1.50 cycles per FFMA, two reads from one bank 2.00, runs of eight
// such pairs on alternate banks 1.88.
// - L1 and shared memory share one pipe, which serves one wavefront per cycle; global memory needs
// more cycles where that many lines have to be looked up (Cost::l1_cycles()).
// - Latencies and L2 bandwidth per SM are the machine's (machine.hpp).
#pragma once
#include <span>

#include "analyse/machine.hpp"
#include "analyse/machine_code.hpp"

namespace ladder::analyse {

// Per scheduler; CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions": 64
// results per cycle and SM of 32-bit integer additions, comparisons, logic and multiply-adds.
inline constexpr double kIntegerLanes = 16;

// Cost of one execution of a memory instruction; ignored for other instructions.
struct MemoryCost {
  double pipe = 1;     // cycles of the L1 and shared-memory pipe
  double sectors = 0;  // global: sectors fetched on an L1 miss
};

struct SmLoad {
  int warps_per_block = 0;
  int blocks = 0;          // resident
  double l1_hits = 0;      // share of global requests that hit L1
  double from_memory = 0;  // share of L1 misses that also miss L2
  // time for which one warp-level product occupies its scheduler's tensor core
  double tensor_cycles = 0;
};

struct SmRound {
  double cycles = 0;  // SM time per iteration of one block, while other blocks overlap
  // The cycles of an iteration for which each resource is busy: a scheduler's issue slot, its FP32
  // pipe, its tensor core, the L1 and shared-memory pipe, the path to L2.
  double issue = 0, ffma = 0, tensor = 0, l1 = 0, l2 = 0;
};

// Cycles for a scheduler to issue the loop once if register reads are the only stalls.
double issue_cycles(std::span<const MachineInstruction> loop);

// `loop` is the loop body; `costs` has one entry per instruction. Deterministic.
SmRound simulate(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
                 const SmLoad& load, const Machine& machine);

}  // namespace ladder::analyse
