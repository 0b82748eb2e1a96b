// SPDX-License-Identifier: Apache-2.0
// Lowering of Hopper's asynchronous units to the operations of PTX's wgmma, cp.async.bulk, st.async
// and barrier.cluster. Copies take their addresses from consecutive uniform registers, and a warp
// executes them once.
#include <optional>

#include "ir/wgmma.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {

namespace {

WgmmaType factor_type(const Instruction& i, u8 code) {
  switch (i.opcode & 3) {
    case 0: {
      constexpr WgmmaType kTypes[] = {WgmmaType::kF16, WgmmaType::kBf16, WgmmaType::kTf32};
      return kTypes[code];
    }
    case 1: return code == 1 ? WgmmaType::kS8 : WgmmaType::kU8;
    default: return code == 1 ? WgmmaType::kE5m2 : WgmmaType::kE4m3;
  }
}

TensorType reduced_type(u8 code) {
  constexpr TensorType kTypes[] = {
      TensorType::kUint32,  TensorType::kInt32,   TensorType::kUint64,
      TensorType::kInt64,   TensorType::kFloat16, TensorType::kFloat32,
      TensorType::kFloat32, TensorType::kFloat64, TensorType::kBfloat16};
  return kTypes[code];
}

}  // namespace

u32 Lowering::uniform_pair(u32 first, u32 to) {
  const u32 low = row(uniforms_ + first);
  return helper("pack.32x2", wide_scratch(to), {low, low + 128});
}
u32 Lowering::uniform_wide(u32 index, u32 to) {
  return helper("cvt.u64.u32", wide_scratch(to), {row(uniforms_ + index)});
}

void Lowering::lower_gmma(const Instruction& i) {
  const Operand &d = i[0], &a = i[1], &b = i[2], &c = i[3], &adds = i[4];
  const bool integer = (i.opcode & 3) == 1, registers = a.kind == Kind::kRegister;
  const WgmmaType type_a = factor_type(i, i.source_type),
                  type_b = factor_type(i, (i.opcode & 3) == 0 ? i.source_type : i.type),
                  type_d = integer       ? WgmmaType::kS32
                           : i.mode == 1 ? WgmmaType::kF32
                                         : WgmmaType::kF16;
  if (c.index != kZeroRegister && c.index != d.index) refuse("sums in other registers");
  const u32 count = wgmma_registers_of_d(type_d, i.target);
  if (d.index + count > kZeroRegister || (registers && a.index + 4u > kZeroRegister))
    refuse("registers that do not exist");
  u32 scale = predicate(adds);
  if (c.index == kZeroRegister || (adds.index == kTrue && adds.negated))
    scale = kFalsePredicate;
  else if (adds.negated)
    scale = helper("not.pred", kNegatedPredicate, {scale});
  const u32 of_a = registers ? kNone : uniform_pair(a.index, 0),
            of_b = uniform_pair(b.index + 2u, 1);
  const u32 pc = emit("wgmma.mma_async");
  Insn& insn = at(pc);
  insn.imm = i.target;
  insn.bytes = static_cast<u8>(type_a);
  insn.width = static_cast<u8>(type_b);
  insn.vector = static_cast<u8>(type_d);
  insn.sub = static_cast<u8>((registers ? kWgmmaRegisters : 0) | (i.high ? kWgmmaTransposeA : 0) |
                             (i.right ? kWgmmaTransposeB : 0) | (a.negated ? kWgmmaNegateA : 0) |
                             (b.negated ? kWgmmaNegateB : 0) | (i.saturate ? kWgmmaSaturate : 0) |
                             (i.extended ? kWgmmaSparse : 0));
  insn.s[0] = of_a;
  insn.s[1] = of_b;
  insn.s[2] = scale;
  insn.list = static_cast<u32>(program_.lists.size());
  for (u32 n = 0; n < count; ++n) program_.lists.push_back(row(d.index + n));
  for (u32 n = 0; registers && n < 4; ++n) program_.lists.push_back(row(a.index + n));
  if (i.extended) {
    const u32 selector = i[6].value;
    if (selector >= wgmma_metadata(type_a).selectors())
      refuse("a sparsity selector that its shape lacks");
    if (selector == 1) at(pc).sub |= kWgmmaSecondPair;
    program_.lists.push_back(source(i[5]));
  }
  program_.warpgroups = true;
  if (i.wrap) emit("wgmma.commit_group", true);
}

void Lowering::lower_warpgroup(const Instruction& i) {
  enum { kArrive, kWait, kDepbar };
  if (i.mode == kWait) refuse("it is not implemented");
  program_.warpgroups = true;
  const u32 pc = emit(i.mode == kArrive ? "wgmma.fence" : "wgmma.wait_group");
  at(pc).imm = i.shift;
}

// Emits a copy whose operands are set by the caller: slots by BulkOperand.
u32 Lowering::emit_bulk(BulkKind kind, u32 dimensions,
                        const std::array<u32, kBulkOperands>& operands) {
  program_.copies = true;
  const u32 pc = emit("bulk");
  Insn& insn = at(pc);
  insn.site = program_.sites++;
  insn.sub = static_cast<u8>(kind);
  insn.vector = static_cast<u8>(dimensions);
  if (kind != BulkKind::kSendWords) insn.flags |= kFlagMachine;  // once per warp
  insn.list = static_cast<u32>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), operands.begin(), operands.end());
  return pc;
}

void Lowering::lower_tensor_copy(const Instruction& i) {
  const u32 first = i[0].uniform, dimensions = i.shift;
  const bool loads = i.op == Op::kUtmaLoad;
  std::array<u32, kBulkOperands> operands;
  operands.fill(kNone);
  u32 next = first;
  operands[kBulkShared] = uniform_wide(next++, 0);
  operands[kBulkOther] = uniform_pair(i[1].uniform, 1);
  if (loads) operands[kBulkBarrier] = uniform_wide(next++, 2);
  if (i.high) operands[kBulkBlocks] = source(i[2]);
  if (loads && i.wrap) operands[kBulkOffsets] = source(i[2]);
  for (u32 n = 0; n < dimensions; ++n) operands[kBulkAt + n] = row(uniforms_ + next++);
  if (next > kZeroUniform) refuse("registers that do not exist");
  const u32 pc = emit_bulk(loads ? BulkKind::kLoad : BulkKind::kStore, dimensions, operands);
  at(pc).imm = i.wrap ? kBulkIm2col : kBulkTiled;
  if (i.op != Op::kUtmaReduce) return;
  const auto reduction = static_cast<Reduction>(1 + i.mode);
  at(pc).width = static_cast<u8>(reduction);
  program_.ordered |= depends_on_order(reduction, std::nullopt);
}

void Lowering::lower_bulk(const Instruction& i) {
  enum { kLoad = 1, kStore, kSend };  // Instruction::type
  const u32 to = i[0].uniform, from = i[1].uniform;
  std::array<u32, kBulkOperands> operands;
  operands.fill(kNone);
  operands[kBulkSize] = source(i[2]);
  if (i.type == kStore) {
    operands[kBulkShared] = uniform_wide(from, 0);
    operands[kBulkOther] = uniform_pair(to, 1);
  } else {
    operands[kBulkShared] = uniform_wide(to, 0);
    operands[kBulkOther] = i.type == kLoad ? uniform_pair(from, 1) : uniform_wide(from, 1);
    operands[kBulkBarrier] = uniform_wide(to + 1, 2);
  }
  if (i.high) operands[kBulkBlocks] = source(i[2]);
  constexpr BulkKind kKinds[] = {BulkKind::kLoad, BulkKind::kStore, BulkKind::kSend};
  const u32 pc = emit_bulk(kKinds[i.type - kLoad], 0, operands);
  if (i.op != Op::kUblkReduce) return;
  const auto reduction = static_cast<Reduction>(1 + i.mode);
  const TensorType type = reduced_type(i.source_type);
  if (!can_reduce(reduction, type)) refuse("that reduction of that type");
  at(pc).width = static_cast<u8>(reduction);
  at(pc).bytes = static_cast<u8>(type);
  program_.ordered |= i.type == kStore && depends_on_order(reduction, type);
}

// Each lane sends its words.
void Lowering::lower_send(const Instruction& i) {
  const u32 address = row(i[0].index), words = i.bytes / 4;
  std::array<u32, kBulkOperands> operands;
  operands.fill(kNone);
  operands[kBulkShared] = helper("cvt.u64.u32", wide_scratch(0), {address});
  operands[kBulkBarrier] = helper("cvt.u64.u32", wide_scratch(1), {address + 128});
  for (u32 n = 0; n < words; ++n) operands[kBulkAt + n] = source(i[1]) + 128 * n;
  const u32 pc = emit_bulk(BulkKind::kSendWords, 0, operands);
  at(pc).bytes = 4;
  at(pc).width = static_cast<u8>(words);
  if (i.op != Op::kRedas) return;
  const WordReduction reduction{static_cast<Reduction>(1 + i.mode), reduced_type(i.source_type)};
  if (!can_reduce(reduction.what, reduction.type)) refuse("that reduction of that type");
  at(pc).imm = reduction.packed();
}

void Lowering::lower_hopper(const Instruction& i) {
  switch (i.op) {
    case Op::kGmma: return lower_gmma(i);
    case Op::kWarpgroup: return lower_warpgroup(i);
    case Op::kUtmaLoad:
    case Op::kUtmaStore:
    case Op::kUtmaReduce: return lower_tensor_copy(i);
    case Op::kUblkcp:
    case Op::kUblkReduce: return lower_bulk(i);
    case Op::kUtmaCommit:
      program_.copies = true;
      emit("bulk.commit_group");
      return;
    case Op::kStas:
    case Op::kRedas: return lower_send(i);
    case Op::kUtmaCache: {
      enum { kForget, kPrefetch };
      if (i.mode == kForget) {
        emit("nop");
        return;
      }
      const u32 map = uniform_pair(i[0].uniform, 0);
      at(emit("prefetch.tensormap")).s[0] = map;
      return;
    }
    case Op::kClusterArrive:
      // fence.mbarrier_init has no instruction; other fences before the barrier have.
      emit("fence.mbarrier_init", true);
      at(emit("barrier.cluster.arrive")).sub = 1;
      return;
    case Op::kClusterWait: emit("barrier.cluster.wait"); return;
    default: emit("nop");  // prefetches of global memory
  }
}

}  // namespace vgpu::sass
