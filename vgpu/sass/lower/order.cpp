// SPDX-License-Identifier: Apache-2.0
// Finds what values that depend on the order of warps decide: a forward data-flow analysis of the
// registers and predicates of machine code. What is not known counts as decided.
#include <algorithm>
#include <bitset>
#include <initializer_list>

#include "sass/lower/lower.hpp"
#include "sass/lower/operands.hpp"

namespace vgpu::sass {
namespace {

constexpr std::size_t kMostVisits = 64;  // of an instruction, on average

// The registers whose values depend on the order.
struct Values {
  std::bitset<256> general, uniform;
  std::bitset<8> predicates, uniform_predicates;
  bool shared = false, local = false;  // some word of that memory

  // Returns whether that adds any.
  bool add(const Values& other) {
    const Values before = *this;
    general |= other.general;
    uniform |= other.uniform;
    predicates |= other.predicates;
    uniform_predicates |= other.uniform_predicates;
    shared |= other.shared;
    local |= other.local;
    return !(*this == before);
  }
  bool operator==(const Values&) const = default;
};

struct Decided {
  bool branches = false, addresses = false, arithmetic = false;
};

bool is_one_of(Op op, std::initializer_list<Op> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool jumps(Op op) {
  return is_one_of(op, {Op::kBra, Op::kBrx, Op::kCall, Op::kCallAbsolute, Op::kRet, Op::kExit,
                        Op::kBreak, Op::kWarpsync});
}

// What the results of the instructions `sources` decide.
class Analysis {
 public:
  Analysis(const std::vector<Instruction>& code, const std::vector<std::size_t>& sources)
      : code_(code), before_(code.size()), is_queued_(code.size()) {
    for (std::size_t n = 0; n < code.size(); ++n) {
      if (is_one_of(code[n].op, {Op::kCall, Op::kCallAbsolute})) returns_.push_back(n + 1);
    }
    for (const std::size_t n : sources) {
      Values result;
      write(result, code[n], true);
      reach(n + 1, result);
    }
  }

  Decided run() {
    for (std::size_t visits = 0; !queue_.empty(); ++visits) {
      if (visits > kMostVisits * code_.size()) return {true, true, true};
      const std::size_t n = queue_.back();
      queue_.pop_back();
      is_queued_[n] = false;
      pass(n);
    }
    return decided_;
  }

 private:
  void reach(std::size_t n, const Values& values) {
    if (n >= code_.size() || !before_[n].add(values) || is_queued_[n]) return;
    is_queued_[n] = true;
    queue_.push_back(n);
  }

  // `registers`: those that the operand begins.
  static bool has(const Values& values, const Operand& o, unsigned registers) {
    const auto any = [&](const std::bitset<256>& set, unsigned first, unsigned count) {
      for (unsigned k = first; k < std::min(first + count, 255u); ++k)
        if (set.test(k)) return true;
      return false;
    };
    switch (o.kind) {
      case Kind::kRegister: return any(values.general, o.index, registers);
      case Kind::kUniform: return any(values.uniform, o.index, registers);
      case Kind::kPredicate: return o.index != kTrue && values.predicates.test(o.index);
      case Kind::kUniformPredicate:
        return o.index != kTrue && values.uniform_predicates.test(o.index);
      case Kind::kConstant:
      case Kind::kAddress:
        return any(values.general, o.index, registers) ||
               any(values.uniform, o.uniform, registers) ||
               (o.kind == Kind::kConstant && any(values.uniform, o.index, 1));
      default: return false;
    }
  }

  // The results of `i` depend on the order, or they do not.
  static void write(Values& values, const Instruction& i, bool depends) {
    const Results results = results_of(i);
    const bool overwrites = is_true(i.guard);
    const auto set = [&](auto& set_of_kind, unsigned index, bool certain) {
      if (depends || (overwrites && certain)) set_of_kind.set(index, depends);
    };
    const auto set_predicate = [&](const Operand& o, bool certain) {
      if (o.index == kTrue) return;
      set(o.kind == Kind::kPredicate ? values.predicates : values.uniform_predicates, o.index,
          certain);
    };
    for (std::size_t k = 0; k < results.predicates; ++k) set_predicate(i[k], true);
    const Extent extent = result_registers(i);
    for (std::size_t k = results.predicates; k < results.end; ++k) {
      auto& registers = i[k].kind == Kind::kRegister ? values.general : values.uniform;
      for (unsigned n = 0; n < extent.most && i[k].index + n < kZeroRegister; ++n)
        set(registers, i[k].index + n, n < extent.least);
    }
    for (std::size_t k = results.end; results.has_register() && k < i.count; ++k) {
      if (!is_predicate(i[k])) break;
      set_predicate(i[k], false);
    }
    if (i.op == Op::kR2p && depends)
      (i.uniform ? values.uniform_predicates : values.predicates).set();
  }

  void pass(std::size_t n) {
    const Instruction& i = code_[n];
    Values values = before_[n];
    const bool guarded = has(values, i.guard, 1);
    bool reads = guarded;
    for (std::size_t k = results_of(i).end; k < i.count; ++k) {
      if (!has(values, i[k], source_registers(i, k))) continue;
      reads = true;
      decided_.addresses |= i[k].kind == Kind::kAddress;
    }
    decided_.branches |= guarded || (reads && jumps(i.op));
    decided_.arithmetic |= reads && is_one_of(i.op, {Op::kFadd, Op::kFmul, Op::kFfma, Op::kDadd,
                                                     Op::kDmul, Op::kDfma});
    const ir::Class what = class_of(i.op, false);
    const bool shared = what.space == ir::Space::kShared || what.space == ir::Space::kGeneric;
    const bool local = what.space == ir::Space::kLocal || what.space == ir::Space::kGeneric;
    const bool stores = columns_of(i.op).result == Registers::kNone;
    if (stores || what.operation == ir::Counted::kAtomic) {
      values.shared |= reads && shared;
      values.local |= reads && local;
    }
    reads |= (values.shared && shared) || (values.local && local);
    write(values, i, reads);
    go_on(n, i, values);
  }

  void go_on(std::size_t n, const Instruction& i, const Values& values) {
    switch (i.op) {
      case Op::kCall: reach(i.target / kInstructionBytes, values); break;
      case Op::kRet:
        for (const std::size_t to : returns_) reach(to, values);
        break;
      case Op::kBrx:
        if (!(values == Values())) decided_ = {true, true, true};
        break;
      default: break;
    }
    const ir::Ways ways = ways_of(i);
    if (ways.jump >= 0) reach(static_cast<std::size_t>(ways.jump), values);
    if (ways.next) reach(n + 1, values);
  }

  const std::vector<Instruction>& code_;
  std::vector<Values> before_;  // by instruction
  std::vector<bool> is_queued_;
  std::vector<std::size_t> returns_, queue_;
  Decided decided_;
};

bool is_atomic(const Instruction& i) {
  return is_one_of(i.op, {Op::kAtom, Op::kAtomGeneric, Op::kAtoms}) && !i.compared;
}
bool is_poll(const Instruction& i) { return is_one_of(i.op, {Op::kLdg, Op::kLd}) && i.strong; }

}  // namespace

ir::u32 OrderTraits::of(const Instruction& i) const {
  return is_atomic(i) ? atomics_ : is_poll(i) ? polls_ : 0;
}

OrderTraits::OrderTraits(const std::vector<Instruction>& code) {
  const auto decided_by = [&](bool (*is_source)(const Instruction&)) {
    std::vector<std::size_t> sources;
    for (std::size_t n = 0; n < code.size(); ++n) {
      if (is_source(code[n])) sources.push_back(n);
    }
    return sources.empty() ? Decided() : Analysis(code, sources).run();
  };
  const Decided atomics = decided_by(is_atomic), polls = decided_by(is_poll);
  if (atomics.branches) atomics_ |= ir::kDecidesBranches;
  if (atomics.addresses) atomics_ |= ir::kDecidesAddresses;
  if (polls.arithmetic) polls_ |= ir::kDecidesArithmetic;
}

}  // namespace vgpu::sass
