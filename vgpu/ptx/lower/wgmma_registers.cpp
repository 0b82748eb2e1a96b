// SPDX-License-Identifier: Apache-2.0
// Registers that wgmma accesses asynchronously. PTX ISA, "wgmma.fence" and "wgmma.mma_async":
// accumulators and registers of A may not be accessed until wgmma.wait_group has waited for the
// product; a wgmma may not use registers written since the last wgmma.fence.
//
// A data-flow analysis over all paths finds the instructions that may violate this, and only those
// are checked at run time: instructions that may access a register in use, and products whose
// registers may have been written after the fence, with all instructions that write these. A
// correct kernel has no run-time cost. Copies of a constant or a register to another register do
// not count as writes: they come from the compiler, and the assembler removes them.
#include <algorithm>
#include <map>

#include "ir/wgmma.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {
namespace {

enum class Event : u8 { kNone, kProduct, kFence, kCommit, kWait };

// One instruction's effect on the tracked registers, which are numbered among themselves.
struct Step {
  u32 pc = 0;
  Event event = Event::kNone;
  u64 pending = 0;  // groups a wait leaves pending
  std::vector<u32> reads, writes;
  std::vector<u32> sums, factors;  // registers of a product
  bool copies = false;             // moves reads[0], or a constant, to writes[0]
};

constexpr u8 kFree = 255, kMostGroups = 254;

// Worst case over all paths to this point. Per register: the number of groups committed since its
// product was issued (fewer means that it completes later), and whether it may have been written
// since the last fence.
struct State {
  std::vector<u8> sum, factor;  // by register
  std::vector<bool> written;
  bool reached = false;

  bool merge(const State& other) {
    bool grown = !reached && other.reached;
    reached |= other.reached;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      grown |=
          other.sum[i] < sum[i] || other.factor[i] < factor[i] || (other.written[i] && !written[i]);
      sum[i] = std::min(sum[i], other.sum[i]);
      factor[i] = std::min(factor[i], other.factor[i]);
      if (other.written[i]) written[i] = true;
    }
    return grown;
  }

  void apply(const Step& step) {
    switch (step.event) {
      case Event::kFence: written.assign(written.size(), false); break;
      case Event::kProduct:
        for (const u32 i : step.sums) sum[i] = 0;
        for (const u32 i : step.factors) factor[i] = 0;
        break;
      case Event::kCommit:
        for (auto* ages : {&sum, &factor}) {
          for (u8& age : *ages) age = age >= kMostGroups ? age : static_cast<u8>(age + 1);
        }
        break;
      case Event::kWait:
        for (auto* ages : {&sum, &factor}) {
          for (u8& age : *ages) age = age != kFree && age > step.pending ? kFree : age;
        }
        break;
      case Event::kNone:
        for (const u32 i : step.writes) {
          written[i] = !step.copies || (!step.reads.empty() && written[step.reads[0]]);
        }
    }
  }
};

bool any(const std::vector<u32>& registers, const auto& predicate) {
  return std::ranges::any_of(registers, predicate);
}

}  // namespace

void FunctionLowering::watch_wgmma(std::span<const Flow> flow) {
  static const u16 kProduct = *find_operation("wgmma.mma_async"),
                   kFence = *find_operation("wgmma.fence"),
                   kCommit = *find_operation("wgmma.commit_group"),
                   kWait = *find_operation("wgmma.wait_group"),
                   kWatched = *find_operation("wgmma.watched");
  // Registers of products, and the registers copied into them.
  std::map<u32, u32> number;
  std::vector<u32> registers;
  const auto follow = [&](u32 reg) {
    if (number.try_emplace(reg, static_cast<u32>(registers.size())).second)
      registers.push_back(reg);
  };
  for (const Fixup& f : fixups_) {
    if (f.field == Field::kLists && at(f.pc).op == kProduct) follow(f.reg);
  }
  const auto is_copy = [&](u32 pc) { return operations()[at(pc).op].name.starts_with("mov."); };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i + 1 < uses_.size(); ++i) {
      const RegisterUse &from = uses_[i], &to = uses_[i + 1];
      if (from.pc != to.pc || from.writes || !to.writes || !is_copy(from.pc)) continue;
      if (!number.contains(to.reg) || number.contains(from.reg)) continue;
      follow(from.reg);
      more = true;
    }
  }

  std::vector<Step> steps;
  std::vector<std::pair<std::size_t, std::size_t>> steps_of;  // by run
  std::size_t use = 0, fixup = 0;
  std::ranges::stable_sort(fixups_, {}, &Fixup::pc);
  for (const Flow& run : flow) {
    const std::size_t first = steps.size();
    for (u32 pc = run.first; pc <= run.last; ++pc) {
      const Insn& insn = at(pc);
      Step step;
      step.pc = pc;
      step.event = insn.op == kProduct  ? Event::kProduct
                   : insn.op == kFence  ? Event::kFence
                   : insn.op == kCommit ? Event::kCommit
                   : insn.op == kWait   ? Event::kWait
                                        : Event::kNone;
      step.pending = static_cast<u64>(insn.imm);
      step.copies = is_copy(pc);
      for (; use < uses_.size() && uses_[use].pc <= pc; ++use) {
        const auto found = number.find(uses_[use].reg);
        if (uses_[use].pc < pc || found == number.end() || step.event == Event::kProduct) continue;
        (uses_[use].writes ? step.writes : step.reads).push_back(found->second);
      }
      const u32 sums = step.event == Event::kProduct
                           ? wgmma_registers_of_d(static_cast<WgmmaType>(insn.vector),
                                                  static_cast<u32>(insn.imm))
                           : 0;
      for (; fixup < fixups_.size() && fixups_[fixup].pc <= pc; ++fixup) {
        const Fixup& f = fixups_[fixup];
        if (f.pc < pc || f.field != Field::kLists || step.event != Event::kProduct) continue;
        (f.element - insn.list < sums ? step.sums : step.factors).push_back(number.at(f.reg));
      }
      if (step.event != Event::kNone || !step.reads.empty() || !step.writes.empty())
        steps.push_back(std::move(step));
    }
    steps_of.emplace_back(first, steps.size());
  }

  State empty;
  empty.sum.assign(registers.size(), kFree);
  empty.factor = empty.sum;
  empty.written.assign(registers.size(), false);
  std::vector<State> before(flow.size(), empty);
  before[0].reached = true;
  before[0].written.assign(registers.size(), true);  // no fence yet
  const auto each_step = [&](std::size_t run, const auto& look) {
    State state = before[run];
    for (std::size_t i = steps_of[run].first; i < steps_of[run].second; ++i) {
      look(steps[i], state);
      state.apply(steps[i]);
    }
    return state;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t run = 0; run < flow.size(); ++run) {
      if (!before[run].reached) continue;
      const State after = each_step(run, [](const Step&, const State&) {});
      for (const u32 next : flow[run].next) changed |= before[next].merge(after);
    }
  }

  bool follows_writes = false;
  std::vector<RegisterUse> kept;
  const auto touches = [&](const Step& step, const State& state) {
    if (step.event == Event::kProduct) {
      return any(step.sums, [&](u32 i) { return state.factor[i] != kFree; }) ||
             any(step.factors, [&](u32 i) { return state.sum[i] != kFree; });
    }
    return any(step.reads, [&](u32 i) { return state.sum[i] != kFree; }) ||
           any(step.writes,
               [&](u32 i) { return state.sum[i] != kFree || state.factor[i] != kFree; });
  };
  std::vector<const Step*> watched;
  for (std::size_t run = 0; run < flow.size(); ++run) {
    if (!before[run].reached) continue;
    each_step(run, [&](const Step& step, const State& state) {
      const auto written = [&](u32 i) { return bool{state.written[i]}; };
      const bool unfenced =
          step.event == Event::kProduct && (any(step.sums, written) || any(step.factors, written));
      follows_writes |= unfenced;
      if (unfenced || touches(step, state)) watched.push_back(&step);
      if (step.event != Event::kWait) return;
      for (u32 i = 0; i < registers.size(); ++i) {  // keeps their slots reserved until here
        if (state.sum[i] != kFree || state.factor[i] != kFree)
          kept.push_back({step.pc, registers[i], false, false});
      }
    });
  }
  if (!watched.empty()) {
    for (const Step& step : steps) {
      const bool needed = step.event == Event::kProduct || (follows_writes && !step.writes.empty());
      if (needed && std::ranges::find(watched, &step) == watched.end()) watched.push_back(&step);
    }
  }
  for (const Step* step : watched) {
    RegisterWatch watch;
    watch.op = at(step->pc).op;
    const bool product = step->event == Event::kProduct;
    watch.follows_writes = follows_writes;
    watch.copies = step->copies;
    watch.reads = product ? step->factors : step->reads;
    watch.writes = product ? step->sums : step->writes;
    for (auto* list : {&watch.reads, &watch.writes}) {
      for (u32& i : *list) i = registers[i];
    }
    if (!product) at(step->pc).op = kWatched;
    program_.watches.emplace(step->pc, std::move(watch));
  }
  uses_.insert(uses_.end(), kept.begin(), kept.end());
}

}  // namespace vgpu::ptx
