// SPDX-License-Identifier: Apache-2.0
#include "ptx/lower/classify.hpp"

#include <algorithm>
#include <initializer_list>

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

Counted memory_operation(const Opcode& opcode) {
  const std::string_view base = opcode.base();
  if (base == "ld" || base == "ldu") return kLoad;
  if (base == "st" && !opcode.has("async")) return kStore;
  if (base == "atom") return kAtomic;
  if (base == "red" && !opcode.has("async")) return kReduction;
  if (base == "ldmatrix") return kMatrixLoad;
  if (base == "stmatrix") return kMatrixStore;
  if (base != "cp" || !opcode.has("async")) return kOther;
  if (opcode.has("commit_group")) return opcode.has("bulk") ? kOther : kAsyncGroup;
  if (opcode.has("wait_group") || opcode.has("wait_all"))
    return opcode.has("bulk") ? kOther : kMisc;
  if (opcode.has("mbarrier")) return kOther;
  if (!opcode.has("bulk")) return kAsyncCopy;
  // cp.async.bulk.DESTINATION.SOURCE
  const auto at = std::find_if(opcode.parts.begin(), opcode.parts.end(), [](std::string_view part) {
    return part.starts_with("shared") || part == "global";
  });
  return at != opcode.parts.end() && at->starts_with("shared") ? kBulkLoad : kBulkStore;
}

// f32 and f64 operations that have their own metric.
Counted floating(std::string_view base, bool wide) {
  if (base == "add" || base == "sub") return wide ? kDadd : kFadd;
  if (base == "mul") return wide ? kDmul : kFmul;
  if (base == "fma" || base == "mad") return wide ? kDfma : kFfma;
  return wide ? kDouble : kFloat;
}

Counted operation_of(const Opcode& opcode) {
  const std::string_view base = opcode.base(), type = opcode.parts.back();
  if (const Counted memory = memory_operation(opcode); memory != kOther) return memory;
  if (is_one_of(base, {"bra", "brx", "call", "ret", "exit"})) return kBranch;
  if (base == "bar" || base == "barrier") return opcode.has("warp") ? kControl : kBarrier;
  if (base == "mbarrier") return kMbarrier;
  if (base == "wgmma") return opcode.has("mma_async") ? kTensorWarpgroup : kOther;
  if (base == "mma" || (base == "wmma" && opcode.has("mma"))) {
    if (type == "f64") return kTensorDouble;
    return is_one_of(type, {"s32"}) ? kTensorInteger : kTensorFloat;
  }
  if (is_one_of(base, {"shfl", "vote", "match", "redux", "activemask"})) return kExchange;
  if (is_one_of(base, {"cvt", "cvta"})) return base == "cvt" ? kConversion : kOther;
  if (base == "mov") return kMisc;
  if (is_one_of(base, {"nop", "isspacep", "membar", "fence"})) return kOther;
  if (type == "f32" || type == "f64") return floating(base, type == "f64");
  if (type.starts_with("f16") || type.starts_with("bf16")) return kHalf;
  // The hardware counts logic, shifts and bit counts as integer instructions.
  if (is_one_of(base, {"prmt", "selp", "brev", "bmsk", "szext"}) || type == "pred") return kBit;
  if (is_one_of(base, {"and", "or", "xor", "not", "lop3", "shl", "shr", "shf", "bfe", "bfi", "popc",
                       "clz", "bfind", "fns"})) {
    return kInteger;
  }
  const bool integer =
      type.size() > 1 && (type[0] == 's' || type[0] == 'u') && type[1] >= '0' && type[1] <= '9';
  return integer ? kInteger : kOther;
}

}  // namespace

Class class_of(const Opcode& opcode, const ir::Insn& insn) {
  Class what;
  what.operation = operation_of(opcode);
  const bool memory = insn.site != ir::kNone;
  what.space = memory ? space_of(opcode) : ir::Space::kNone;
  what.bytes = memory ? static_cast<std::uint8_t>(insn.bytes * insn.vector) : 0;
  return what;
}

u16 traits_of(const Opcode& opcode) {
  const std::string_view base = opcode.base(), type = opcode.parts.back();
  const bool atomic = base == "atom" || base == "red";
  u32 traits = 0;
  if (base == "ld" && !opcode.has("shared") &&
      (opcode.has("acquire") || opcode.has("relaxed") || opcode.has("volatile")))
    traits |= kPollsMemory;
  if (atomic && is_one_of(type, {"f16", "bf16", "b16"})) traits |= kPollsMemory;
  if (base == "wmma" && (opcode.has("load") || opcode.has("store"))) traits |= kMovesFragment;
  if (type != "f32" && type != "f64") return static_cast<u16>(traits);
  if (base == "selp") traits |= kSelects;
  const u32 wide = type == "f64" ? 1 : 0;
  const bool rounded = opcode.has("rn") || opcode.has("rz") || opcode.has("rm") || opcode.has("rp");
  if (!rounded && is_one_of(base, {"add", "sub"})) traits |= kLooseSum << wide;
  if (!rounded && base == "mul") traits |= kLooseProduct << wide;
  // Shared memory has no floating-point atomics: a loop adds.
  if ((atomic && !opcode.has("global")) ||
      is_one_of(base, {"div", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"}))
    traits |= kExpands << wide;
  return static_cast<u16>(traits);
}

}  // namespace vgpu::ptx
