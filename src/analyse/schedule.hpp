// SPDX-License-Identifier: Apache-2.0
// What the machine code's control fields state about one iteration of the hot loop, without a
// simulation: issue slots by pipe, the bound by each pipe, stall counts, and scoreboard waits.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyse/machine_code.hpp"
#include "analyse/simulate.hpp"

namespace ladder::analyse {

// A pipe's share of one iteration of one warp. `cycles` is the time for which the pipe is busy: of
// one scheduler's pipe, or of the SM's only one if `per_sm`. A pipe whose rate has no source here
// has cycles 0: its slots are counted, and no bound follows.
struct PipeSlots {
  std::string name;
  int slots = 0;
  double cycles = 0;
  bool per_sm = false;

  // SM time per iteration of a block of `warps` warps that execute the loop.
  double bound(int warps, const Machine& machine) const;
};

using vgpu::ir::ScoreboardWait;

struct LineSchedule {
  std::string file;
  std::uint32_t line = 0;  // 0: unknown
  int slots = 0, stall = 0;
  int waits = 0;                         // instructions that wait for a scoreboard
  std::map<std::string, int> waits_for;  // mnemonic -> instructions of the line that wait for it
};

struct Schedule {
  // The pipe with the largest bound; null if there is none.
  const PipeSlots* binding(int warps, const Machine& machine) const;

  // "issue" first, then "register reads": issue where reads of the registers are the only stalls
  std::vector<PipeSlots> pipes;
  int stall = 0;  // sum of the stall counts: least cycles per iteration of a warp
  int barriers = 0, copy_waits = 0;
  std::vector<ScoreboardWait> waits, chain;  // of a steady iteration (ir/schedule.hpp)
  std::vector<LineSchedule> lines;           // in order of file and line
};

// `costs` has one entry per instruction of `loop`. `places` is empty or has one entry per
// instruction. `tensor_cycles`: for which a product of one warp occupies its scheduler's tensor
// core; 0: unknown.
Schedule schedule_of(std::span<const MachineInstruction> loop, std::span<const MemoryCost> costs,
                     std::span<const SourcePlace> places, const Machine& machine,
                     double tensor_cycles = 0);

}  // namespace ladder::analyse
