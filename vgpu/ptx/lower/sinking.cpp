// SPDX-License-Identifier: Apache-2.0
#include "ptx/lower/passes.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "ir/operations.hpp"
#include "ptx/lower/bit_set.hpp"

namespace vgpu::ptx {
namespace {

using enum Counted;

// Measured with ptxas of CUDA 13.0: it predicates a block of up to 8 simple instructions instead of
// branching around it. Half of that, because it adds some of its own for addresses.
constexpr u32 kPredicated = 4;

// Whether an instruction has a result and does not access memory.
bool is_pure(Counted operation) { return operation <= kConversion || operation == kMisc; }

class Sinking {
 public:
  Sinking(const Program& program, u32 begin, std::span<const RegisterClass> classes,
          std::span<const RegisterUse> uses, std::span<const Flow> flow)
      : program_(program),
        begin_(begin),
        classes_(classes),
        uses_(uses),
        flow_(flow),
        used_(classes.size()) {
    first_use_.resize(program.code.size() - begin + 1);
    std::size_t use = 0;
    for (u32 pc = begin; pc <= program.code.size(); ++pc) {
      while (use < uses.size() && uses[use].pc < pc) ++use;
      first_use_[pc - begin] = use;
    }
    find_predicated();
    find_movable();
    used_at_.assign(flow.size(), BitSet(classes.size(), true));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t run = flow.size(); run-- > 0;) changed |= pass(run);
    }
  }

  void add_all(std::vector<Sinkable>& found) {
    for (std::size_t run = 0; run < flow_.size(); ++run) {
      used_ = used_after(run);
      for (u32 pc = flow_[run].last + 1; pc-- > flow_[run].first;) {
        if (step(pc) || !counts(pc)) continue;
        Sinkable& item = found.emplace_back();
        item.pc = pc;
        seen_.clear();
        follow(run, pc, !is_load(pc), item.places);
        if (is_load(pc) && item.places.empty()) found.pop_back();
      }
    }
  }

 private:
  const Insn& at(u32 pc) const { return program_.code[pc]; }
  Counted operation(u32 pc) const { return program_.origin[pc].what.operation; }
  std::span<const RegisterUse> uses(u32 pc) const {
    const std::size_t first = first_use_[pc - begin_];
    return uses_.subspan(first, first_use_[pc - begin_ + 1] - first);
  }
  bool is_load(u32 pc) const { return operation(pc) == kLoad; }
  bool is_guarded(u32 pc) const { return at(pc).guard_site != kNone && operation(pc) != kBranch; }

  bool counts(u32 pc) const {
    if (program_.origin[pc].helper) return false;
    return is_load(pc) || (operation(pc) >= kFadd && operation(pc) <= kFfma) ||
           (operation(pc) >= kDadd && operation(pc) <= kDfma);
  }

  // Whether an instruction has an effect that a load must not be moved across.
  bool orders(u32 pc) const {
    const Counted what = operation(pc);
    if (operations()[at(pc).op].name == "bra" || is_guarded(pc)) return false;
    return operations()[at(pc).op].control || (what >= kStore && what != kBranch);
  }

  bool may_move(u32 pc) const {
    const Insn& insn = at(pc);
    if (insn.guard_site != kNone || operations()[insn.op].control) return false;
    if (!is_load(pc)) return insn.site == kNone && is_pure(operation(pc));
    const bool global = program_.origin[pc].what.space == ir::Space::kGlobal;
    return global && (insn.flags & kFlagStrong) == 0;
  }

  // What several runs leave in one register, a loop's sum or what both sides of a branch compute,
  // is used where its run ends.
  void find_movable() {
    std::vector<u32> writers(classes_.size());
    std::vector<u32> lasting;  // writes that nothing behind them in their run overwrites
    for (const Flow& run : flow_) {
      BitSet overwritten(classes_.size());
      for (u32 pc = run.last + 1; pc-- > run.first;) {
        const std::size_t first = first_use_[pc - begin_];
        const std::size_t end = first_use_[pc - begin_ + 1];
        for (std::size_t i = first; i < end; ++i) {
          if (!uses_[i].writes || overwritten.test(uses_[i].reg)) continue;
          lasting.push_back(static_cast<u32>(i));
          ++writers[uses_[i].reg];
        }
        for (std::size_t i = first; i < end; ++i) {
          if (uses_[i].writes && uses_[i].always) overwritten.set(uses_[i].reg);
        }
      }
    }
    movable_.assign(program_.code.size() - begin_, false);
    for (const RegisterUse& use : uses_) {
      if (use.writes) movable_[use.pc - begin_] = true;
    }
    for (u32 i : lasting) {
      if (writers[uses_[i].reg] > 1) movable_[uses_[i].pc - begin_] = false;
    }
    for (u32 pc = begin_; pc < program_.code.size(); ++pc)
      movable_[pc - begin_] = movable_[pc - begin_] && may_move(pc);
  }

  // Blocks that ptxas predicates, and those that do nothing but return.
  void find_predicated() {
    predicated_.assign(flow_.size(), kNone);
    returns_.assign(flow_.size(), false);
    std::vector<u32> before(flow_.size());
    for (const Flow& run : flow_) {
      for (u32 next : run.next) ++before[next];
    }
    for (std::size_t run = 0; run < flow_.size(); ++run) {
      const std::string& name = operations()[at(flow_[run].first).op].name;
      returns_[run] = flow_[run].first == flow_[run].last && (name == "ret" || name == "exit") &&
                      at(flow_[run].first).guard_site == kNone;
      if (flow_[run].next.size() != 2) continue;
      for (std::size_t way : {0, 1}) {
        const u32 block = flow_[run].next[way], join = flow_[run].next[1 - way];
        if (before[block] == 1 && before[join] == 2 && flow_[block].next.size() == 1 &&
            flow_[block].next[0] == join && is_simple(block))
          predicated_[run] = block;
      }
    }
  }

  bool is_simple(u32 block) const {
    u32 instructions = 0;
    for (u32 pc = flow_[block].first; pc <= flow_[block].last; ++pc) {
      if (operation(pc) == kBranch) continue;
      if (operations()[at(pc).op].control) return false;
      if (operation(pc) != kStore && operation(pc) != kLoad && !is_pure(operation(pc)))
        return false;
      ++instructions;
    }
    return instructions <= kPredicated;
  }

  // Registers that every way from the end of a run uses before it writes them.
  BitSet used_after(std::size_t run) const {
    const bool branches = flow_[run].next.size() > 1;
    BitSet used(classes_.size(), !flow_[run].next.empty());
    for (u32 next : flow_[run].next) {
      if (!branches || !returns_[next]) used.intersect(used_at_[next]);
    }
    if (predicated_[run] == kNone) return used;
    for (u32 next : flow_[run].next) used.merge(used_at_[next]);
    return used;
  }

  // Takes used_ from behind an instruction to before it. Returns whether the result is used.
  bool step(u32 pc) {
    const auto list = uses(pc);
    bool used = !movable_[pc - begin_];
    for (const RegisterUse& use : list) used |= use.writes && used_.test(use.reg);
    for (const RegisterUse& use : list) {
      if (use.writes && use.always) used_.clear(use.reg);
    }
    const bool guarded = is_guarded(pc);
    for (const RegisterUse& use : list) {
      const bool sure = !guarded || classes_[use.reg] == RegisterClass::kPredicate;
      if (used && sure && !use.writes) used_.set(use.reg);
    }
    return used;
  }

  bool pass(std::size_t run) {
    used_ = used_after(run);
    for (u32 pc = flow_[run].last + 1; pc-- > flow_[run].first;) step(pc);
    return used_at_[run].intersect(used_);
  }

  // Adds an instruction of each run in which the result of `pc` is sure to be used, and the guarded
  // instructions that use it. Unless `far`, only of what follows the run, and up to an instruction
  // that orders().
  void follow(std::size_t run, u32 pc, bool far, std::vector<u32>& places) {
    for (const RegisterUse& use : uses(pc)) {
      if (use.writes) follow_register(run, pc + 1, use.reg, far, places);
    }
  }

  void follow_register(std::size_t run, u32 from, u32 reg, bool far, std::vector<u32>& places) {
    for (u32 pc = from; pc <= flow_[run].last; ++pc) {
      bool reads = false, ends = false;
      for (const RegisterUse& use : uses(pc)) {
        reads |= use.reg == reg && !use.writes;
        ends |= use.reg == reg && use.writes && use.always;
      }
      if (reads && is_guarded(pc)) add(pc, places);
      if (reads) follow(run, pc, far, places);
      if (ends || (!far && orders(pc))) return;
    }
    for (u32 next : flow_[run].next) {
      if (!seen_.emplace(next, reg).second) continue;
      if (used_at_[next].test(reg))
        add(place_of(next), places);
      else if (far)
        follow_register(next, flow_[next].first, reg, true, places);
    }
  }

  static void add(u32 place, std::vector<u32>& places) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }

  // An instruction that all lanes of a run execute.
  u32 place_of(u32 run) const {
    u32 pc = flow_[run].first;
    while (pc < flow_[run].last && is_guarded(pc)) ++pc;
    return pc;
  }

  const Program& program_;
  u32 begin_;
  std::span<const RegisterClass> classes_;
  std::span<const RegisterUse> uses_;
  std::span<const Flow> flow_;
  std::vector<std::size_t> first_use_;  // by instruction
  std::vector<u32> predicated_;         // by run: the block after it that ptxas predicates
  std::vector<bool> returns_;           // by run
  std::vector<bool> movable_;           // by instruction
  std::vector<BitSet> used_at_;         // by run: at its beginning
  BitSet used_;
  std::set<std::pair<u32, u32>> seen_;  // runs and registers
};

}  // namespace

void find_sinkable(Program& program, u32 begin, std::span<const RegisterClass> classes,
                   std::span<const RegisterUse> uses, std::span<const Flow> flow) {
  Sinking(program, begin, classes, uses, flow).add_all(program.sinkable);
}

}  // namespace vgpu::ptx
