// SPDX-License-Identifier: Apache-2.0
// setmaxnreg: the warps of a warpgroup release registers to the block's pool or take some from it.
// PTX ISA, "Miscellaneous Instructions: setmaxnreg". The pool's size is checked only if the launch
// specifies the initial registers per thread. A warp that requires more registers than the pool
// holds waits.
#include <fmt/format.h>

#include "machine/fault.hpp"

namespace vgpu::machine {
namespace {

// All four warps must execute the same sequence of setmaxnreg instructions.
void check_group(const Warp& warp, const Insn& insn) {
  const Lane at{warp, insn, static_cast<u32>(__builtin_ctz(warp.mask))};
  if ((warp.live & ~warp.mask) != 0) {
    fault(at, FaultKind::kRegisters, "not all threads of the warp execute setmaxnreg together", "");
  }
  std::vector<u32>& moves = warp.block->register_moves[warp.id / Block::kWarpsOfGroup];
  if (warp.register_moves == moves.size()) moves.push_back(warp.pc);
  if (const u32 expected = moves[warp.register_moves]; expected != warp.pc) {
    fault(at, FaultKind::kRegisters, "the warps of a warpgroup execute different setmaxnreg",
          "another warp of it executed " + place(warp.block->launch.program, expected));
  }
}

}  // namespace

// imm: registers per thread; sub: 1 to take, 0 to release.
void set_max_registers(Warp& warp, const Insn& insn) {
  Block& block = *warp.block;
  check_group(warp, insn);
  const u32 wanted = static_cast<u32>(insn.imm);
  const bool takes = insn.sub != 0;
  const u32 had = warp.registers;
  if (had != 0 && (takes ? wanted < had : wanted > had)) {
    fault({warp, insn, static_cast<u32>(__builtin_ctz(warp.mask))}, FaultKind::kRegisters,
          fmt::format("setmaxnreg.{} to {} registers from {}", takes ? "inc" : "dec", wanted, had),
          "");
  }
  if (block.launch.config.registers != 0) {
    if (takes && u64{wanted - had} * kLanes > block.free_registers) {  // the warp executes it again
      warp.wants_registers = true;
      count_later(warp);
      ++warp.polls;
      warp.budget = 0;
      return;
    }
    block.free_registers += (u64{had} - wanted) * kLanes;
  }
  warp.wants_registers = false;
  warp.registers = wanted;
  ++warp.register_moves;
  ++warp.progress;
  ++warp.pc;
}

}  // namespace vgpu::machine
