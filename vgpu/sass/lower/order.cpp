// SPDX-License-Identifier: Apache-2.0
// Finds what values that depend on the order of warps decide: a forward data-flow analysis of the
// registers and predicates of machine code. What is not known counts as decided.
#include <algorithm>
#include <bitset>
#include <initializer_list>

#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

constexpr std::uint32_t kInstructionBytes = 16;
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

bool is_predicate(const Operand& o) {
  return o.kind == Kind::kPredicate || o.kind == Kind::kUniformPredicate;
}

bool sets_predicates(Op op) {
  return is_one_of(op, {Op::kFsetp, Op::kDsetp, Op::kHsetp2, Op::kIsetp, Op::kPlop3,
                        Op::kPlop3Signs, Op::kFchk});
}

bool jumps(Op op) {
  return is_one_of(op, {Op::kBra, Op::kBrx, Op::kCall, Op::kCallAbsolute, Op::kRet, Op::kExit,
                        Op::kBreak, Op::kWarpsync});
}

bool has_no_result(Op op) {
  return jumps(op) ||
         is_one_of(op, {Op::kStg, Op::kSts, Op::kStl, Op::kSt, Op::kRed, Op::kLdgsts, Op::kStsm,
                        Op::kBar, Op::kMembar, Op::kR2p, Op::kBssy, Op::kBsync, Op::kBmov});
}

// Registers of the result, and of each operand that is not an address.
unsigned width_of(const Instruction& i) {
  const Op op = i.op;
  if (i.bytes != 0) return std::max(i.bytes / 4u, 1u);
  if ((op >= Op::kDadd && op <= Op::kDsetp) || (op >= Op::kI2f && op <= Op::kI2i) ||
      is_one_of(op, {Op::kIadd64, Op::kIadd3Wide, Op::kImadWide, Op::kImadHi, Op::kSel64,
                     Op::kMov64, Op::kCs2r, Op::kMatch, Op::kLepc}))
    return 2;
  if (op == Op::kGmma) return 256;
  const bool vector = (op >= Op::kHmma && op <= Op::kDmma) || op == Op::kLdsm ||
                      (op >= Op::kTex && op <= Op::kSured);
  return vector ? 8 : 1;
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

  static bool has(const Values& values, const Operand& o, unsigned width) {
    const auto any = [&](const std::bitset<256>& set, unsigned first, unsigned count) {
      for (unsigned k = first; k < std::min(first + count, 255u); ++k)
        if (set.test(k)) return true;
      return false;
    };
    const unsigned registers = o.pair ? std::max(width, 2u) : width;
    switch (o.kind) {
      case Kind::kRegister: return any(values.general, o.index, registers);
      case Kind::kUniform: return any(values.uniform, o.index, registers);
      case Kind::kPredicate: return o.index != kTrue && values.predicates.test(o.index);
      case Kind::kUniformPredicate:
        return o.index != kTrue && values.uniform_predicates.test(o.index);
      case Kind::kConstant:
      case Kind::kAddress:
        return any(values.general, o.index, 2) || any(values.uniform, o.uniform, 2) ||
               (o.kind == Kind::kConstant && any(values.uniform, o.index, 1));
      default: return false;
    }
  }

  // The operand that holds the result; behind predicates that are results, too.
  static std::size_t result_of(const Instruction& i) {
    std::size_t k = 0;
    while (k < i.count && is_predicate(i[k])) ++k;
    const bool is_register =
        k < i.count && (i[k].kind == Kind::kRegister || i[k].kind == Kind::kUniform);
    return is_register && !has_no_result(i.op) && !sets_predicates(i.op) ? k : i.count;
  }

  // The results of `i` depend on the order, or they do not.
  static void write(Values& values, const Instruction& i, bool depends) {
    if (has_no_result(i.op)) return;
    const bool overwrites = is_true(i.guard);
    const auto set = [&](auto& set_of_kind, unsigned index, bool certain) {
      if (depends || (overwrites && certain)) set_of_kind.set(index, depends);
    };
    const std::size_t result = result_of(i);
    // Predicates behind the result may be carries.
    for (std::size_t k = 0; k < i.count && (is_predicate(i[k]) || k == result); ++k) {
      const Operand& o = i[k];
      if (k == result) {
        for (unsigned r = o.index; r < std::min<unsigned>(o.index + width_of(i), kZeroRegister);
             ++r)
          set(o.kind == Kind::kRegister ? values.general : values.uniform, r, width_of(i) <= 4);
      } else if (o.index != kTrue && (k < 2 || !sets_predicates(i.op))) {
        set(o.kind == Kind::kPredicate ? values.predicates : values.uniform_predicates, o.index,
            k < result);
      }
    }
  }

  void pass(std::size_t n) {
    const Instruction& i = code_[n];
    Values values = before_[n];
    const std::size_t result = result_of(i);
    const bool guarded = has(values, i.guard, 1);
    bool reads = guarded;
    for (std::size_t k = result == i.count ? 0 : result + 1; k < i.count; ++k) {
      if ((sets_predicates(i.op) && k < 2) || !has(values, i[k], width_of(i))) continue;
      reads = true;
      decided_.addresses |= i[k].kind == Kind::kAddress;
    }
    decided_.branches |= guarded || (reads && jumps(i.op));
    decided_.arithmetic |= reads && is_one_of(i.op, {Op::kFadd, Op::kFmul, Op::kFfma, Op::kDadd,
                                                     Op::kDmul, Op::kDfma});
    const bool generic = i.op == Op::kLd || i.op == Op::kSt;
    const bool shared = is_one_of(i.op, {Op::kSts, Op::kStsm, Op::kAtoms, Op::kLds, Op::kLdsm});
    const bool local = i.op == Op::kStl || i.op == Op::kLdl;
    if (has_no_result(i.op) || i.op == Op::kAtoms) {
      values.shared |= reads && (generic || shared);
      values.local |= reads && (generic || local);
    }
    reads |= values.shared && (generic || shared);
    reads |= values.local && (generic || local);
    if (i.op == Op::kR2p && reads) values.predicates.set();
    write(values, i, reads);
    go_on(n, i, values);
  }

  void go_on(std::size_t n, const Instruction& i, const Values& values) {
    const bool all_lanes =
        is_true(i.guard) && (i.count == 0 || !is_predicate(i[0]) || is_true(i[0]));
    switch (i.op) {
      case Op::kBra:
        reach(i.target / kInstructionBytes, values);
        if (all_lanes && i.mode == 0) return;
        break;
      case Op::kCall: reach(i.target / kInstructionBytes, values); break;
      case Op::kRet:
        for (const std::size_t to : returns_) reach(to, values);
        break;
      case Op::kBrx:
        if (!(values == Values())) decided_ = {true, true, true};
        break;
      case Op::kExit:
        if (all_lanes) return;
        break;
      default: break;
    }
    reach(n + 1, values);
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
