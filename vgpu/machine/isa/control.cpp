// SPDX-License-Identifier: Apache-2.0
// Control flow, and the loop that runs a warp.
#include "machine/fault.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// The guard of a branch is its condition: `mask` are the lanes that take it.
void branch(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (mask == warp.mask) {
    warp.pc = insn.target;
    return;
  }
  ++warp.block->counters.divergent[static_cast<u32>(&insn - warp.code)];
  split(warp, mask, insn.target);
  ++warp.pc;
  select_group(warp);
}

// s[0]: index into the table. An index beyond its end is undefined behaviour in PTX and traps here.
void branch_indexed(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const BranchTable& table = warp.block->launch.program.branch_tables[insn.target];
  const u32* const index = slot<u32>(window, insn.s[0]);
  const u32 first = index[__builtin_ctz(mask)];
  u32 same = 0;
  for (const u32 i : SetBits(mask)) {
    if (index[i] >= table.targets.size()) {
      fault({warp, insn, i}, FaultKind::kTrap, "brx.idx with an index outside its table");
    }
    same |= static_cast<u32>(index[i] == first) << i;
  }
  const u32 target = table.targets[first];
  if (same == warp.mask) {
    warp.pc = target;
    return;
  }
  ++warp.block->counters.divergent[static_cast<u32>(&insn - warp.code)];
  split(warp, same, target);
  select_group(warp);  // lanes with another index execute this again
}

void call_function(Warp& warp, std::byte*, const Insn& insn, u32) { call(warp, insn); }
void return_function(Warp& warp, std::byte*, const Insn&, u32) { return_lanes(warp); }
void exit_thread(Warp& warp, std::byte*, const Insn&, u32) { exit_lanes(warp); }
void barrier(Warp& warp, std::byte*, const Insn& insn, u32) { barrier_arrive(warp, insn); }

void trap(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  fault({warp, insn, static_cast<u32>(__builtin_ctz(mask))}, FaultKind::kTrap,
        "the kernel executed a trap");
}

void nothing(Warp&, std::byte*, const Insn&, u32) {}

// A sleeping warp waits for others, so it yields.
void sleep(Warp& warp, std::byte*, const Insn&, u32) {
  ++warp.polls;
  warp.budget = 0;
}

// d = address in the local memory of this function activation.
void local_address(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u64 address = warp.frame->local_base + static_cast<u64>(insn.imm);
  write_lanes<u64>(window, insn.d, mask, [&](u32) { return address; });
}
void local_address32(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32 address = warp.frame->local_base + static_cast<u32>(insn.imm);
  write_lanes<u32>(window, insn.d, mask, [&](u32) { return address; });
}

// imm: the first address of the space's range.
void is_space(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u64* const address = slot<u64>(window, insn.s[0]);
  const u64 first = windows().shared;
  u32 result = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    result |= static_cast<u32>(static_cast<u8>(space_of(address[i], first)) == insn.sub) << i;
  }
  set_predicate(window, insn.d, result, mask);
}

[[gnu::always_inline]] inline u32 guarded(const Warp& warp, const std::byte* window,
                                          const Insn& insn, u32 mask) {
  if (insn.guard == kNone) return mask;
  u32 p = *reinterpret_cast<const u32*>(window + insn.guard);
  if (insn.guard_negated) p = ~p;
  mask &= p;
  observer::GuardCount& count = warp.guard_counts[insn.guard_site];
  count.executions += mask != 0;
  count.lanes += static_cast<u32>(__builtin_popcount(mask));
  return mask;
}

// Executes the last instruction of a run, which sets the warp's next instruction.
void control(Warp& warp, const Handler* handlers, const Insn& insn, bool is_branch) {
  const u32 mask = guarded(warp, warp.window, insn, warp.mask);
  if (mask == 0) {
    ++warp.pc;
    return;
  }
  if (mask != warp.mask && !is_branch) split(warp, warp.mask & ~mask, warp.pc + 1);
  handlers[insn.op](warp, warp.window, insn, mask);
}

}  // namespace

void run(Warp& warp, const Handler* handlers);
void run(Warp& warp, const Handler* handlers) {
  while (warp.status == WarpStatus::kReady && warp.budget > 0) {
    if (__builtin_expect(warp.pc >= warp.limit, 0)) {
      select_group(warp);
      if (warp.status != WarpStatus::kReady) return;
    }
    const u32 index = warp.run_at[warp.pc];
    const Run& run = warp.runs[index];
    const u32 mask = warp.mask;
    std::byte* const window = warp.window;
    observer::RunCount& count = warp.run_counts[index];
    ++count.executions;
    count.lanes += static_cast<u32>(__builtin_popcount(mask));
    warp.budget -= run.counted;
    warp.instructions += run.counted;
    const Insn* insn = warp.code + run.first;
    const Insn* const end = warp.code + run.last + (run.control ? 0 : 1);
    for (; insn != end; ++insn) {
      const u32 on = guarded(warp, window, *insn, mask);
      if (on != 0) handlers[insn->op](warp, window, *insn, on);
    }
    warp.pc = run.last + 1;
    if (run.control) {
      warp.pc = run.last;
      control(warp, handlers, *end, run.branch);
    }
  }
}

void define_control(OperationSink& sink) {
  op_special(sink, "bra", &branch, true);
  op_special(sink, "brx.idx", &branch_indexed, true);
  op_special(sink, "call", &call_function, true);
  op_special(sink, "ret", &return_function, true);
  op_special(sink, "exit", &exit_thread, true);
  op_special(sink, "trap", &trap, true);
  op_special(sink, "bar", &barrier, true);
  op_special(sink, "nop", &nothing);
  op_special(sink, "nanosleep", &sleep);
  op_special(sink, "local.address", &local_address);
  op_special(sink, "local.address32", &local_address32);
  op_special(sink, "isspacep", &is_space);
}

}  // namespace vgpu::machine::VGPU_ISA
