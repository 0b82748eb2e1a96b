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

// Opcodes that are identified by all bits, including the form bits 9 to 11.
std::optional<Kind> whole_opcode(std::uint16_t opcode) {
  switch (opcode) {
    case 0x83b:  // LDSM
    case 0x984:
      return Kind::kLoadShared;
    case 0x388:
    case 0x988:
      return Kind::kStoreShared;
    case 0x981:
      return Kind::kLoadGlobal;
    case 0x385:
    case 0x386:
    case 0x985:
    case 0x986:
      return Kind::kStoreGlobal;
    case 0xfae:
      return Kind::kAsyncCopy;
    case 0x9af:
      return Kind::kCommitCopies;
    case 0x91a:
      return Kind::kWaitCopies;
    case 0x983:
    case 0x387:
    case 0x987:
      return Kind::kLocal;
    case 0xb1d:
    case 0x31d:
      return Kind::kBarrier;
    case 0x3a7:
    case 0x5a7:
    case 0x9a7:
    case 0x5b2:
      return Kind::kMbarrier;
    case 0x947:
      return Kind::kBranch;
    case 0x94d:
      return Kind::kExit;
    default:
      return std::nullopt;
  }
}

Kind kind_of(std::uint16_t opcode) {
  if (const auto whole = whole_opcode(opcode)) return *whole;
  switch (opcode & 0x1ff) {
    case 0x023:
      return Kind::kFfma;
    case 0x020:
    case 0x021:
    case 0x008:
    case 0x009:
    case 0x00b:
      return Kind::kFloat;
    case 0x024:
    case 0x025:
    case 0x026:
    case 0x027:
      return Kind::kImad;
    case 0x02:
    case 0x07:
    case 0x0c:
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x16:
    case 0x17:
    case 0x19:
    case 0x1c:
    case 0x36:
    case 0x35:
    case 0x48:
      return Kind::kInteger;
    case 0x3c:
      return Kind::kTensor;
    case 0x1f0:
      return Kind::kWarpgroup;
    default:
      return Kind::kOther;
  }
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
  const std::string width = i.bytes == 16 ? ".128" : i.bytes == 8 ? ".64" : "";
  switch (i.kind) {
    case Kind::kFfma:
      return "FFMA";
    case Kind::kFloat:
      return "other float";
    case Kind::kImad:
      return "IMAD";
    case Kind::kInteger:
      return "integer";
    case Kind::kLoadShared:
      return i.opcode == kLoadMatrix ? "LDSM" : "LDS" + width;
    case Kind::kStoreShared:
      return "STS" + width;
    case Kind::kLoadGlobal:
      return "LDG" + width;
    case Kind::kStoreGlobal:
      return "STG" + width;
    case Kind::kAsyncCopy:
      return "LDGSTS" + width;
    case Kind::kCommitCopies:
      return "LDGDEPBAR";
    case Kind::kWaitCopies:
      return "DEPBAR";
    case Kind::kLocal:
      return "local" + width;
    case Kind::kTensor:
      return "HMMA";
    case Kind::kWarpgroup:
      return "HGMMA";
    case Kind::kMbarrier:
      return "SYNCS";
    case Kind::kBarrier:
      return "BAR";
    case Kind::kBranch:
      return "BRA";
    case Kind::kExit:
      return "EXIT";
    case Kind::kOther:
      break;
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
