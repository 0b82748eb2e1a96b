// SPDX-License-Identifier: Apache-2.0
#include "ptx/lower/lower.hpp"

#include <algorithm>
#include <unordered_map>

namespace vgpu::ptx {
namespace {

using enum ir::Counted;

ir::Space space_of(const Opcode& opcode) {
  for (const std::string_view part : opcode.parts) {
    // Machine code reaches other blocks' shared memory by generic addresses.
    if (part == "shared::cluster") return ir::Space::kGeneric;
    const std::string_view name = part.substr(0, part.find(':'));
    if (name == "global") return ir::Space::kGlobal;
    if (name == "shared") return ir::Space::kShared;
    if (name == "local") return ir::Space::kLocal;
    if (name == "const" || name == "param") return ir::Space::kConstant;
  }
  return ir::Space::kGeneric;
}

// Rules of opcodes.def.
namespace rule {

using Function = Counted (*)(const Opcode& opcode);

template <Counted kClass>
Counted always(const Opcode&) {
  return kClass;
}

template <Counted kSingle, Counted kDoublePrecision, Counted kElse>
Counted arithmetic(const Opcode& opcode) {
  std::string_view type = opcode.parts.back();
  if (type == "relu") type = opcode.parts[opcode.parts.size() - 2];
  if (type == "f32") return kSingle;
  if (type == "f64") return kDoublePrecision;
  if (type.starts_with("f16") || type.starts_with("bf16")) return kHalf;
  if (kElse == kBit || type == "pred") return kBit;
  const bool integer =
      type.size() > 1 && (type[0] == 's' || type[0] == 'u') && type[1] >= '0' && type[1] <= '9';
  return integer ? kInteger : kElse;
}
constexpr Function typed = arithmetic<kFloat, kDouble, kOther>;
constexpr Function sum = arithmetic<kFadd, kDadd, kOther>;
constexpr Function times = arithmetic<kFmul, kDmul, kOther>;
constexpr Function fused = arithmetic<kFfma, kDfma, kOther>;
// The hardware counts logic, shifts and bit counts as integer instructions.
constexpr Function logic = arithmetic<kFloat, kDouble, kInteger>;
constexpr Function bits = arithmetic<kFloat, kDouble, kBit>;

template <Counted kClass>
Counted unless_async(const Opcode& opcode) {
  return opcode.has("async") ? kAsyncStore : kClass;
}

Counted barrier(const Opcode& opcode) { return opcode.has("warp") ? kControl : kBarrier; }

Counted warpgroup(const Opcode& opcode) {
  if (!opcode.has("mma_async")) return opcode.has("commit_group") ? kOther : kExchange;
  const std::string_view type = opcode.parts.back();
  if (type == "s8" || type == "u8") return kTensorWarpgroupInteger;
  return type == "e4m3" || type == "e5m2" ? kTensorWarpgroupByte : kTensorWarpgroup;
}

Counted mbarrier(const Opcode& opcode) {
  return opcode.has("test_wait") || opcode.has("try_wait") ? kMbarrierWait : kMbarrier;
}

// mma, wmma.
Counted product(const Opcode& opcode) {
  const std::string_view type = opcode.parts.back();
  if (!opcode.has("mma")) return typed(opcode);
  if (type == "s32") return kTensorInteger;
  if (type == "popc") return kTensorBit;
  return type == "f64" ? kTensorDouble : kTensorFloat;
}

Counted copy(const Opcode& opcode) {
  const bool bulk = opcode.has("bulk");
  if (opcode.has("commit_group")) return bulk ? kOther : kAsyncGroup;
  if (opcode.has("wait_group") || opcode.has("wait_all")) return bulk ? kOther : kMisc;
  if (opcode.has("mbarrier")) return kOther;
  if (!bulk) return kAsyncCopy;
  // cp.async.bulk.DESTINATION.SOURCE
  const auto at = std::ranges::find_if(opcode.parts, [](std::string_view part) {
    return part.starts_with("shared") || part == "global";
  });
  if (at == opcode.parts.end()) return kBulkStore;
  if (*at == "global") return opcode.has("reduce") ? kBulkReduce : kBulkStore;
  return at + 1 != opcode.parts.end() && at[1].starts_with("shared") ? kBulkSend : kBulkLoad;
}

}  // namespace rule

Counted operation_of(const Opcode& opcode) {
  static const auto* const kRules = new std::unordered_map<std::string_view, rule::Function>{
#define PTX(name, lowering, what) {name, rule::what},
#include "ptx/opcodes.def"
  };
  const auto rule = kRules->find(opcode.base());
  return rule == kRules->end() ? kOther : rule->second(opcode);
}

}  // namespace

std::vector<std::string_view> instruction_names() {
  return {
#define PTX(name, lowering, what) name,
#include "ptx/opcodes.def"
  };
}

Class class_of(const Opcode& opcode, const ir::Insn& insn) {
  Class what;
  what.operation = operation_of(opcode);
  const bool texture = ir::pipes_of(what.operation, ir::Space::kNone) == ir::kPipeTex;
  const bool memory = insn.site != ir::kNone && !texture;
  what.space = memory ? space_of(opcode) : ir::Space::kNone;
  what.bytes = memory ? static_cast<std::uint8_t>(insn.bytes * insn.vector) : 0;
  what.pipes = pipes_of(what.operation, what.space);
  return what;
}

u32 traits_of(const Opcode& opcode) {
  const std::string_view base = opcode.base(), type = opcode.parts.back();
  const bool atomic = base == "atom" || base == "red";
  u32 traits = 0;
  if (base == "ld" && !opcode.has("shared") &&
      (opcode.has("acquire") || opcode.has("relaxed") || opcode.has("volatile")))
    traits |= kPollsMemory;
  if (atomic && is_any_of(type, {"f16", "bf16", "b16"})) traits |= kPollsMemory;
  // ptxas loads the elements of a vector apart, and only those that are used.
  if (base == "ld" && opcode.has("shared::cluster")) traits |= kLooseLoad;
  // Products of 8-bit numbers end in a sum.
  if (base == "mma" && type == "f32" && (opcode.has("e4m3") || opcode.has("e5m2")))
    traits |= kExpands;
  if (base == "wmma" && (opcode.has("load") || opcode.has("store"))) traits |= kMovesFragment;
  if (type != "f32" && type != "f64") return traits;
  if (base == "selp") traits |= kSelects;
  const u32 wide = type == "f64" ? 1 : 0;
  const bool rounded = opcode.has("rn") || opcode.has("rz") || opcode.has("rm") || opcode.has("rp");
  if (!rounded && is_any_of(base, {"add", "sub"})) traits |= kLooseSum << wide;
  if (!rounded && base == "mul") traits |= kLooseProduct << wide;
  // Shared memory has no floating-point atomics: a loop adds.
  if ((atomic && !opcode.has("global")) ||
      is_any_of(base, {"abs", "div", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"}))
    traits |= kExpands << wide;
  return traits;
}

}  // namespace vgpu::ptx
