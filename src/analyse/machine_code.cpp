// SPDX-License-Identifier: Apache-2.0
#include "analyse/machine_code.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "sass/decode/control_code.hpp"
#include "sass/decode/decode.hpp"

namespace ladder::analyse {
namespace {

constexpr std::uint8_t kNoRegister = 255;

struct OfKind {
  Kind kind;
  std::string_view name;
  std::vector<vgpu::sass::Op> operations;
};

// Instructions of the uniform datapath are `kOther`. HFMA2 is among the integers, because the rungs
// have it where ptxas loads a constant by it.
const std::vector<OfKind>& kinds() {
  using enum vgpu::sass::Op;
  static const std::vector<OfKind> kRows = {
      {Kind::kFfma, "FFMA", {kFfma}},
      {Kind::kFloat, "other float", {kFadd, kFmul, kFmnmx, kFsel, kFsetp}},
      {Kind::kImad, "IMAD", {kImad, kImadWide, kImadHi, kIdp}},
      {Kind::kInteger,
       "integer",
       {kMov, kMov64, kSel, kSel64, kIsetp, kIadd3, kIadd64, kLea, kLop3, kPlop3, kPrmt, kShf,
        kViadd, kVimnmx, kHfma2}},
      {Kind::kLoadShared, "LDS", {kLds, kLdsm}},
      {Kind::kStoreShared, "STS", {kSts}},
      {Kind::kLoadGlobal, "LDG", {kLdg}},
      {Kind::kStoreGlobal, "STG", {kStg, kSt}},
      {Kind::kAsyncCopy, "LDGSTS", {kLdgsts}},
      {Kind::kCommitCopies, "LDGDEPBAR", {kLdgdepbar}},
      {Kind::kWaitCopies, "DEPBAR", {kDepbar}},
      {Kind::kLocal, "local", {kLdl, kStl}},
      {Kind::kTensor, "HMMA", {kHmma}},
      {Kind::kWarpgroup, "HGMMA", {kGmma}},
      {Kind::kMbarrier, "SYNCS", {kSyncsInit, kSyncsArrive, kSyncsTest}},
      {Kind::kBarrier, "BAR", {kBar}},
      {Kind::kBranch, "BRA", {kBra}},
      {Kind::kExit, "EXIT", {kExit}},
  };
  return kRows;
}

Kind kind_of(const vgpu::sass::Instruction& from) {
  if (from.uniform) return Kind::kOther;
  for (const OfKind& row : kinds())
    if (std::ranges::count(row.operations, from.op) != 0) return row.kind;
  return Kind::kOther;
}

// Without its guard and its modifiers.
std::string mnemonic_in(const std::string& text) {
  const auto begin = text.starts_with('@') ? text.find(' ') + 1 : 0;
  return text.substr(begin, text.find_first_of(". ", begin) - begin);
}

// In the order of their places in the encoding. If FFMA's addend is no register, the second
// multiplicand is in the addend's place.
std::array<std::uint8_t, 3> sources_of(const vgpu::sass::Instruction& ffma) {
  const auto number = [](const vgpu::sass::Operand& operand) {
    return operand.kind == vgpu::sass::Kind::kRegister ? operand.index : kNoRegister;
  };
  if (ffma[3].kind != vgpu::sass::Kind::kRegister)
    return {number(ffma[1]), kNoRegister, number(ffma[2])};
  return {number(ffma[1]), number(ffma[2]), number(ffma[3])};
}

void describe(const vgpu::sass::Instruction& from, MachineInstruction& i) {
  i.kind = kind_of(from);
  i.mnemonic = mnemonic_in(from.text);
  i.bytes = from.bytes;
  if (i.kind == Kind::kBranch) i.target = from.target;
  const auto is_true = [](const vgpu::sass::Operand& operand) {
    return operand.kind == vgpu::sass::Kind::kPredicate && vgpu::sass::is_true(operand);
  };
  i.always = (i.kind == Kind::kExit || i.kind == Kind::kBranch) && is_true(from.guard) &&
             std::all_of(from.operands.begin(), from.operands.begin() + from.count, is_true);
  if (i.kind == Kind::kWaitCopies) i.copies_left = from.shift;
  if (i.kind == Kind::kFfma) i.sources = sources_of(from);
}

}  // namespace

vgpu::sass::Word word_at(const KernelCode& code, std::size_t offset) {
  vgpu::sass::Word word;
  std::memcpy(&word.low, code.bytes.data() + offset, sizeof word.low);
  std::memcpy(&word.high, code.bytes.data() + offset + sizeof word.low, sizeof word.high);
  return word;
}

std::vector<MachineInstruction> decode(const KernelCode& code) {
  std::vector<MachineInstruction> list;
  for (std::size_t at = 0; at + kInstruction <= code.bytes.size(); at += kInstruction) {
    const vgpu::sass::Word word = word_at(code, at);
    MachineInstruction& i = list.emplace_back();
    i.offset = static_cast<std::uint32_t>(at);
    static_cast<vgpu::ir::ControlCode&>(i) = vgpu::sass::control_code(word);
    try {
      describe(vgpu::sass::decode(word, i.offset, code.architecture), i);
    } catch (const vgpu::sass::UnknownInstruction&) {
      continue;  // stays kOther
    }
  }
  return list;
}

std::string name_of(const MachineInstruction& i) {
  if (i.mnemonic == "LDSM" || (i.kind == Kind::kWarpgroup && !i.mnemonic.empty()))
    return i.mnemonic;
  for (const OfKind& row : kinds()) {
    if (row.kind == i.kind)
      return std::string(row.name) + (i.bytes == 16 ? ".128" : i.bytes == 8 ? ".64" : "");
  }
  return "other";
}

std::string mnemonic_of(const MachineInstruction& i) {
  const bool is_group = i.kind == Kind::kOther || i.kind == Kind::kInteger ||
                        i.kind == Kind::kFloat || i.kind == Kind::kLocal;
  return is_group && !i.mnemonic.empty() ? i.mnemonic : name_of(i);
}

namespace {

std::vector<vgpu::ir::Ways> ways_of(std::span<const MachineInstruction> code) {
  std::vector<vgpu::ir::Ways> ways;
  for (const MachineInstruction& i : code) {
    const bool jumps = i.kind == Kind::kBranch && i.target >= 0;
    ways.push_back(
        {jumps ? static_cast<std::ptrdiff_t>(i.target) / static_cast<std::ptrdiff_t>(kInstruction)
               : -1,
         !i.always});
  }
  return ways;
}

}  // namespace

std::vector<Loop> loops_of(std::span<const MachineInstruction> code) {
  return vgpu::ir::loops_of(ways_of(code));
}

namespace {

// more than the number of instructions of any loop
constexpr std::ptrdiff_t kTensorWeight = 1 << 20;

std::ptrdiff_t products_of(std::span<const MachineInstruction> code, const Loop& loop) {
  std::ptrdiff_t products = 0;
  for (const MachineInstruction& i : code.subspan(loop.first, loop.size())) {
    if (i.kind == Kind::kWarpgroup || i.kind == Kind::kTensor) products += kTensorWeight;
    if (i.kind == Kind::kFfma) ++products;
  }
  return products;
}

}  // namespace

Result<Loop> hot_loop(std::span<const MachineInstruction> code) {
  const std::vector<Loop> loops = loops_of(code);
  std::optional<Loop> best;
  std::ptrdiff_t most = 0;
  for (const Loop& loop : loops) {
    const std::ptrdiff_t products = products_of(code, loop);
    if (products > most || (best && products == most && loop.size() < best->size())) {
      best = loop;
      most = products;
    }
  }
  if (!best || most == 0)
    return Status(Code::kInvalidArgument, "no loop of the machine code multiplies and adds");
  // A persistent block's loop over tiles contains the loop over k. The products outside the inner
  // loop run once per tile; on tensor cores they include peeled iterations, which can outnumber the
  // inner loop's products.
  for (bool inner = true; inner;) {
    inner = false;
    const Loop outer = *best;
    const std::ptrdiff_t least = most >= kTensorWeight ? kTensorWeight : (most + 1) / 2;
    most = 0;
    for (const Loop& loop : loops) {
      const std::ptrdiff_t products = products_of(code, loop);
      if (!loop.inside(outer) || products < least || products <= most) continue;
      best = loop;
      most = products;
      inner = true;
    }
  }
  return *best;
}

std::map<std::string, int> mix_of(std::span<const MachineInstruction> code) {
  std::map<std::string, int> mix;
  for (const MachineInstruction& i : code) ++mix[name_of(i)];
  return mix;
}

}  // namespace ladder::analyse
