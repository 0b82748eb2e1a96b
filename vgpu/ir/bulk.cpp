// SPDX-License-Identifier: Apache-2.0
#include "ir/bulk.hpp"

#include "ir/operations.hpp"

namespace vgpu::ir {

bool reduces_shared(const Insn& insn) {
  static const auto kBulk = *find_operation("bulk");
  if (insn.op != kBulk) return false;
  const auto kind = static_cast<BulkKind>(insn.sub);
  const Reduction what = kind == BulkKind::kSendWords ? WordReduction::of(insn.imm).what
                         : kind == BulkKind::kSend    ? static_cast<Reduction>(insn.width)
                                                      : Reduction::kCopy;
  return what != Reduction::kCopy;
}

bool can_reduce(Reduction what, TensorType type) {
  using enum Reduction;
  switch (type) {
    case TensorType::kUint32:
    case TensorType::kUint64: return type == TensorType::kUint32 || (what != kInc && what != kDec);
    case TensorType::kInt32:
    case TensorType::kInt64: return what == kAdd || what == kMin || what == kMax;
    case TensorType::kFloat16:
    case TensorType::kBfloat16: return what == kAdd || what == kMin || what == kMax;
    case TensorType::kFloat32:
    case TensorType::kFloat64: return what == kAdd;
    default: return false;
  }
}

bool can_reduce_tensor(Reduction what, TensorType type) {
  using enum Reduction;
  switch (type) {
    case TensorType::kInt32: return what != kInc && what != kDec;
    case TensorType::kInt64: return what == kMin || what == kMax;
    case TensorType::kFloat32Ftz:
    case TensorType::kTfloat32:
    case TensorType::kTfloat32Ftz: return what == kAdd;
    default: return can_reduce(what, type);
  }
}

bool depends_on_order(Reduction what, std::optional<TensorType> type) {
  using enum Reduction;
  return what == kInc || what == kDec || (what == kAdd && (!type || is_floating(*type)));
}

}  // namespace vgpu::ir
