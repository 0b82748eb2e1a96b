// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/lower.hpp"

#include <algorithm>
#include <set>

namespace vgpu::sass {
namespace {

constexpr std::size_t kMostSteps = 1024;  // per word
constexpr unsigned kMostOfMatrix = 8;     // registers of a fragment

// How many registers each operand that is one stands for, at most. 0: not known.
unsigned width_of(Op op) {
  if (op >= Op::kDadd && op <= Op::kDsetp) return 2;
  if (op >= Op::kFadd && op <= Op::kVhmnmx) return 1;
  if (op == Op::kIadd64 || op == Op::kIadd3Wide || op == Op::kImadWide || op == Op::kImadHi ||
      op == Op::kSel64 || op == Op::kMov64 || op == Op::kCs2r || op == Op::kMatch)
    return 2;
  if (op >= Op::kIadd3 && op <= Op::kB2r) return 1;
  if (op >= Op::kI2f && op <= Op::kI2i) return 2;
  if (op >= Op::kRedux && op <= Op::kElect) return 1;
  if (op >= Op::kHmma && op <= Op::kDmma) return kMostOfMatrix;
  switch (op) {
    case Op::kLdc:
    case Op::kLdg:
    case Op::kLds:
    case Op::kLdl:
    case Op::kLd:
    case Op::kBar:
    case Op::kMembar:
    case Op::kErrbar:
    case Op::kDepbar:
    case Op::kLdgdepbar:
    case Op::kBra:
    case Op::kExit:
    case Op::kBssy:
    case Op::kBsync:
    case Op::kBreak:
    case Op::kWarpsync:
    case Op::kYield:
    case Op::kNop:
    case Op::kPmtrig: return 1;
    case Op::kStg:
    case Op::kSts:
    case Op::kStl:
    case Op::kSt: return 4;
    default: return 0;
  }
}

// Whether the first operand is a register that the instruction only writes.
bool has_result(const Instruction& i) {
  const bool stores = i.op == Op::kStg || i.op == Op::kSts || i.op == Op::kStl || i.op == Op::kSt;
  const bool others = i.op == Op::kR2p || i.op == Op::kBar || i.op == Op::kBreak ||
                      i.op == Op::kWarpsync || i.op == Op::kBssy || i.op == Op::kBsync;
  return i.count != 0 && i[0].kind == Kind::kRegister && !stores && !others;
}

bool in(std::uint8_t index, unsigned reg, unsigned width) {
  return index != kZeroRegister && index <= reg && reg < index + width;
}

bool reads(const Instruction& i, unsigned reg, unsigned width) {
  constexpr unsigned kPair = 2;
  for (std::size_t k = has_result(i) ? 1 : 0; k < i.count; ++k) {
    const Operand& o = i[k];
    const bool address = o.kind == Kind::kAddress || o.kind == Kind::kConstant;
    if (address && in(o.index, reg, kPair)) return true;
    const bool stored = width == 4 && i.bytes != 0;
    const unsigned registers = stored ? std::max(i.bytes / 4u, 1u) : o.pair ? kPair : width;
    if (o.kind == Kind::kRegister && in(o.index, reg, registers)) return true;
  }
  return false;
}

bool always(const Instruction& i) { return is_true(i.guard); }

bool overwrites(const Instruction& i, unsigned reg) {
  if (!always(i) || !has_result(i)) return false;
  const bool loads = i.op == Op::kLdg || i.op == Op::kLds || i.op == Op::kLdl || i.op == Op::kLd;
  return in(i[0].index, reg, loads ? std::max(i.bytes / 4u, 1u) : 1);
}

// Whether anything may read the register after instruction `from`.
bool is_read(const std::vector<Instruction>& code, std::size_t from, unsigned reg) {
  constexpr std::uint32_t kBytes = 16;
  std::set<std::size_t> seen;
  std::vector<std::size_t> open{from + 1};
  while (!open.empty()) {
    std::size_t n = open.back();
    open.pop_back();
    for (;; ++n) {
      if (n >= code.size() || seen.size() == kMostSteps) return true;
      if (!seen.insert(n).second) break;
      const Instruction& i = code[n];
      const unsigned width = width_of(i.op);
      if (width == 0 || reads(i, reg, width)) return true;
      const bool all_lanes = always(i) && (i.count == 0 || is_true(i[0]));
      if (overwrites(i, reg) || (i.op == Op::kExit && all_lanes)) break;
      if (i.op != Op::kBra) continue;
      open.push_back(i.target / kBytes);
      if (i.mode == 0 && all_lanes) break;
    }
  }
  return false;
}

}  // namespace

void mark_dead_words(std::vector<Instruction>& code) {
  for (std::size_t n = 0; n < code.size(); ++n) {
    Instruction& i = code[n];
    const unsigned words = i.bytes / 4u;
    if (i.op != Op::kLds || words < 2 || i.strong || i.compared || i[0].index == kZeroRegister)
      continue;
    for (unsigned w = 0; w < words; ++w) {
      if (!is_read(code, n, i[0].index + w)) i.dead |= static_cast<std::uint8_t>(1u << w);
    }
  }
}

}  // namespace vgpu::sass
