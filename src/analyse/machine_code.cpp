// SPDX-License-Identifier: Apache-2.0
#include "analyse/machine_code.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "sass/decode/control_code.hpp"
#include "sass/decode/decode.hpp"

namespace ladder::analyse {
namespace {

constexpr std::uint8_t kNoRegister = 255;
constexpr std::uint16_t kLoadMatrix = 0x83b;
// Per lane of an ldmatrix.x4, the form that the rungs use: four matrices of 8 rows of 16 bytes.
constexpr std::uint8_t kLoadMatrixBytes = 16;

struct Word : vgpu::sass::Word {
  std::uint64_t bits(unsigned at, unsigned count) const {
    std::uint64_t value = at >= 64 ? high >> (at - 64) : low >> at;
    if (at < 64 && at + count > 64) value |= high << (64 - at);
    return value & ((std::uint64_t{1} << count) - 1);
  }
};

struct KindRow {
  Kind kind;
  std::string_view name;
  std::vector<std::uint16_t> opcodes;   // of all bits
  std::vector<std::uint16_t> any_form;  // without the form bits 9 to 11
};

const std::vector<KindRow>& kinds() {
  static const std::vector<KindRow> kRows = {
      {Kind::kFfma, "FFMA", {}, {0x023}},
      {Kind::kFloat, "other float", {}, {0x020, 0x021, 0x008, 0x009, 0x00b}},
      {Kind::kImad, "IMAD", {}, {0x024, 0x025, 0x026, 0x027}},
      {Kind::kInteger,
       "integer",
       {},
       {0x02, 0x07, 0x0c, 0x10, 0x11, 0x12, 0x16, 0x17, 0x19, 0x1c, 0x36, 0x35, 0x48}},
      {Kind::kLoadShared, "LDS", {kLoadMatrix, 0x984}, {}},
      {Kind::kStoreShared, "STS", {0x388, 0x988}, {}},
      {Kind::kLoadGlobal, "LDG", {0x981}, {}},
      {Kind::kStoreGlobal, "STG", {0x385, 0x386, 0x985, 0x986}, {}},
      {Kind::kAsyncCopy, "LDGSTS", {0xfae}, {}},
      {Kind::kCommitCopies, "LDGDEPBAR", {0x9af}, {}},
      {Kind::kWaitCopies, "DEPBAR", {0x91a}, {}},
      {Kind::kLocal, "local", {0x983, 0x387, 0x987}, {}},
      {Kind::kTensor, "HMMA", {}, {0x3c}},
      {Kind::kWarpgroup, "HGMMA", {}, {0x1f0}},
      {Kind::kMbarrier, "SYNCS", {0x3a7, 0x5a7, 0x9a7, 0x5b2}, {}},
      {Kind::kBarrier, "BAR", {0xb1d, 0x31d}, {}},
      {Kind::kBranch, "BRA", {0x947}, {}},
      {Kind::kExit, "EXIT", {0x94d}, {}},
  };
  return kRows;
}

Kind kind_of(std::uint16_t opcode) {
  for (const KindRow& row : kinds())
    if (std::ranges::count(row.opcodes, opcode) != 0) return row.kind;
  for (const KindRow& row : kinds())
    if (std::ranges::count(row.any_form, opcode & 0x1ff) != 0) return row.kind;
  return Kind::kOther;
}

// Access width of a memory instruction: bits 73 to 75.
std::uint8_t width_of(const Word& word) {
  constexpr std::array<std::uint8_t, 8> kBytes{1, 1, 2, 2, 4, 8, 16, 16};
  return kBytes[word.bits(73, 3)];
}

bool is_memory(Kind kind) {
  return kind == Kind::kLoadShared || kind == Kind::kStoreShared || kind == Kind::kLoadGlobal ||
         kind == Kind::kStoreGlobal || kind == Kind::kAsyncCopy || kind == Kind::kLocal;
}

// Branch distance in units of 4 bytes: bits 34 to 81 are the high part, bits 16 to 23 the low part.
std::int64_t branch_target(const Word& word, std::uint32_t offset) {
  constexpr unsigned kHighBits = 48;
  auto high = static_cast<std::int64_t>(word.bits(34, kHighBits));
  if ((high >> (kHighBits - 1)) != 0) high -= std::int64_t{1} << kHighBits;
  const std::int64_t distance = high * 256 + static_cast<std::int64_t>(word.bits(16, 8));
  return std::int64_t{offset} + static_cast<std::int64_t>(kInstruction) + distance * 4;
}

}  // namespace

std::vector<MachineInstruction> decode(std::span<const std::byte> code) {
  std::vector<MachineInstruction> list;
  for (std::size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    Word word{};
    std::memcpy(&word.low, code.data() + at, sizeof word.low);
    std::memcpy(&word.high, code.data() + at + sizeof word.low, sizeof word.high);
    MachineInstruction i;
    i.opcode = static_cast<std::uint16_t>(word.bits(0, 12));
    i.kind = kind_of(i.opcode);
    i.offset = static_cast<std::uint32_t>(at);
    static_cast<vgpu::ir::ControlCode&>(i) = vgpu::sass::control_code(word);
    if (is_memory(i.kind)) i.bytes = i.opcode == kLoadMatrix ? kLoadMatrixBytes : width_of(word);
    if (i.kind == Kind::kBranch) i.target = branch_target(word, i.offset);
    constexpr std::uint64_t kTrue = 7;  // predicate PT, not negated
    i.always = (i.kind == Kind::kExit || (i.kind == Kind::kBranch && word.bits(87, 4) == kTrue)) &&
               word.bits(12, 4) == kTrue;
    if (i.kind == Kind::kWaitCopies) i.copies_left = static_cast<int>(word.bits(38, 6));
    if (i.kind == Kind::kFfma) {
      // No immediate or constant in place of a register.
      const bool both = (i.opcode & 0xe00) == 0x200;
      i.sources = {static_cast<std::uint8_t>(word.bits(24, 8)),
                   both ? static_cast<std::uint8_t>(word.bits(32, 8)) : kNoRegister,
                   static_cast<std::uint8_t>(word.bits(64, 8))};
    }
    list.push_back(i);
  }
  return list;
}

std::string name_of(const MachineInstruction& i) {
  if (i.opcode == kLoadMatrix) return "LDSM";
  for (const KindRow& row : kinds()) {
    if (row.kind == i.kind)
      return std::string(row.name) + (i.bytes == 16 ? ".128" : i.bytes == 8 ? ".64" : "");
  }
  return "other";
}

std::string mnemonic_of(const MachineInstruction& i) {
  static const auto kNames = [] {
    std::map<std::uint16_t, std::string_view> names;
    for (const vgpu::sass::Mnemonic& row : vgpu::sass::mnemonics()) {
      for (const std::uint16_t opcode : row.opcodes) names.emplace(opcode, row.text);
    }
    return names;
  }();
  const bool is_group = i.kind == Kind::kOther || i.kind == Kind::kInteger ||
                        i.kind == Kind::kFloat || i.kind == Kind::kLocal;
  const auto found = is_group ? kNames.find(i.opcode) : kNames.end();
  return found == kNames.end() ? name_of(i) : std::string(found->second);
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
