// SPDX-License-Identifier: Apache-2.0
// Allocation: liveness by data flow over the runs, then a linear scan over the instructions.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "ir/operations.hpp"
#include "ptx/lower/bit_set.hpp"
#include "ptx/lower/passes.hpp"

namespace vgpu::ptx {
namespace {

struct Liveness {
  std::vector<BitSet> in, out;
};

Liveness analyse(std::size_t registers, std::span<const RegisterUse> uses,
                 std::span<const Flow> flow) {
  Liveness live{std::vector<BitSet>(flow.size(), BitSet(registers)),
                std::vector<BitSet>(flow.size(), BitSet(registers))};
  std::vector<BitSet> killed(flow.size(), BitSet(registers));
  std::size_t run = 0;
  for (std::size_t i = 0; i < uses.size();) {
    const u32 pc = uses[i].pc;
    while (flow[run].last < pc) ++run;
    std::size_t end = i;
    for (; end < uses.size() && uses[end].pc == pc; ++end) {
      if (!uses[end].writes && !killed[run].test(uses[end].reg)) live.in[run].set(uses[end].reg);
    }
    for (; i < end; ++i) {
      if (uses[i].writes && uses[i].always) killed[run].set(uses[i].reg);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = flow.size(); r-- > 0;) {
      bool grown = false;
      for (u32 next : flow[r].next) grown |= live.out[r].merge(live.in[next]);
      if (grown) changed |= live.in[r].merge_without(live.out[r], killed[r]);
    }
  }
  return live;
}

struct Interval {
  u32 reg, begin, end;
};

std::vector<Interval> intervals(std::size_t registers, std::span<const RegisterUse> uses,
                                std::span<const Flow> flow, const Liveness& live) {
  std::vector<Interval> all(registers);
  for (std::size_t i = 0; i < registers; ++i) all[i] = {static_cast<u32>(i), kNone, 0};
  const auto extend = [&](std::size_t reg, u32 pc) {
    all[reg].begin = std::min(all[reg].begin, pc);
    all[reg].end = std::max(all[reg].end, pc);
  };
  for (const RegisterUse& use : uses) extend(use.reg, use.pc);
  for (std::size_t r = 0; r < flow.size(); ++r) {
    live.in[r].for_each([&](std::size_t reg) { extend(reg, flow[r].first); });
    live.out[r].for_each([&](std::size_t reg) { extend(reg, flow[r].last); });
  }
  std::erase_if(all, [](const Interval& i) { return i.begin == kNone; });
  std::ranges::sort(all, {}, &Interval::begin);
  return all;
}

const std::string& name_of(const Insn& insn) { return operations()[insn.op].name; }

bool parts(const Insn& insn) {
  const std::string& name = name_of(insn);
  if (name.starts_with("bar") || name.starts_with("call")) return true;
  return (name == "bra" || name == "ret" || name == "exit") && insn.guard == kNone;
}

bool is_load(const Insn& insn) {
  const std::string& name = name_of(insn);
  return name.starts_with("ld.shared") || name.starts_with("ld.generic");
}

void mark_load_of(Program& program, u32 begin, u32 exchange) {
  const Insn& swap = program.code[exchange];
  std::set<u32> compared{swap.s[1]};  // slots
  for (u32 pc = exchange; pc-- > begin && !parts(program.code[pc]);) {
    Insn& insn = program.code[pc];
    if (insn.d == kNone) continue;
    if (insn.d == swap.s[0]) return;
    if (!compared.contains(insn.d)) continue;
    if (is_load(insn) && insn.vector == 1 && insn.bytes == swap.bytes && insn.s[0] == swap.s[0] &&
        insn.imm == swap.imm) {
      insn.flags |= kFlagCompared;
      return;
    }
    if (name_of(insn).starts_with("mov.")) compared.insert(insn.s[0]);
  }
}

}  // namespace

RegisterAllocation allocate(std::span<const RegisterClass> classes,
                            std::span<const RegisterUse> uses, std::span<const Flow> flow) {
  const Liveness live = analyse(classes.size(), uses, flow);
  RegisterAllocation result;
  result.slot.assign(classes.size(), 0);
  using Busy = std::pair<u32, u32>;  // (last instruction, slot)
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy[kRegisterClasses];
  std::priority_queue<u32, std::vector<u32>, std::greater<>> unused[kRegisterClasses];
  for (const Interval& interval : intervals(classes.size(), uses, flow, live)) {
    const int c = static_cast<int>(classes[interval.reg]);
    while (!busy[c].empty() && busy[c].top().first < interval.begin) {
      unused[c].push(busy[c].top().second);
      busy[c].pop();
    }
    u32 slot;
    if (unused[c].empty()) {
      slot = result.counts[c]++;
    } else {
      slot = unused[c].top();
      unused[c].pop();
    }
    result.slot[interval.reg] = slot;
    busy[c].emplace(interval.end, slot);
  }
  if (!flow.empty())
    live.in[0].for_each(
        [&](std::size_t reg) { result.undefined.push_back(static_cast<u32>(reg)); });
  return result;
}

void mark_compared_loads(Program& program, u32 begin) {
  for (u32 pc = begin; pc < program.code.size(); ++pc) {
    if (name_of(program.code[pc]).starts_with("atom.cas")) mark_load_of(program, begin, pc);
  }
}

}  // namespace vgpu::ptx
