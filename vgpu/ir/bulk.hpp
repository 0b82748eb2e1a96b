// SPDX-License-Identifier: Apache-2.0
// Operands of bulk copies: cp.async.bulk, cp.async.bulk.tensor, their reductions, st.async,
// red.async.
#pragma once
#include <optional>

#include "ir/program.hpp"
#include "ir/reduction.hpp"
#include "ir/tensor_type.hpp"

namespace vgpu::ir {

// Insn::sub of bulk. Its width is a Reduction.
enum class BulkKind : u8 {
  kLoad,   // global memory to the shared memory of one or more blocks
  kStore,  // shared to global memory
  kSend,   // shared memory to shared memory of a block of the cluster
  // registers (Insn::width words of Insn::bytes) to shared memory of a block: st.async and, with a
  // WordReduction in Insn::imm, red.async
  kSendWords,
};
struct WordReduction {
  Reduction what = Reduction::kCopy;
  TensorType type{};
  constexpr i64 packed() const { return static_cast<i64>(what) | static_cast<i64>(type) << 8; }
  static constexpr WordReduction of(i64 packed) {
    return {static_cast<Reduction>(packed & 255), static_cast<TensorType>(packed >> 8)};
  }
};

// Positions of a bulk copy's operands in Program::lists, from Insn::list on. Each entry is a slot,
// or kNone if absent. Addresses are 64-bit slots, the size and the coordinates 32-bit, the block
// mask (multicast) 16-bit.
enum BulkOperand : u32 {
  kBulkShared,  // destination of loads and sends, source of stores
  kBulkOther,   // global memory, a tensor map, or the source of a send
  kBulkBarrier,
  kBulkSize,
  kBulkBlocks,  // multicast
  // Insn::vector coordinates (0 for a copy without tensor map), or the words of kSendWords
  kBulkAt,
  // im2col mode: 16 bits each, or, from machine code, all in the lower half of a register
  kBulkOffsets = kBulkAt + 5,
  kBulkOperands = kBulkOffsets + 3,
};
// Insn::imm of a copy by tensor map.
inline constexpr i64 kBulkTiled = 0, kBulkIm2col = 1;

// Whether a copy to a block's shared memory is a reduction, which is atomic.
bool reduces_shared(const Insn& insn);
// Whether PTX allows this reduction for elements of this type.
bool can_reduce(Reduction what, TensorType type);
// Whether hardware has it for the elements of a tensor map of this type (measured on an H100).
bool can_reduce_tensor(Reduction what, TensorType type);
// Whether the result in global memory may depend on the order of the blocks: sums of floating-point
// numbers, .inc and .dec. No type: it is in a tensor map, so it may be floating-point.
bool depends_on_order(Reduction what, std::optional<TensorType> type);

}  // namespace vgpu::ir
