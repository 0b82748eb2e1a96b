// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/classify.hpp"

namespace vgpu::sass {
namespace {

using ir::Counted;
using ir::Space;

constexpr unsigned kAcqbulk = 0x82e;
constexpr unsigned kTryAlloc = 2;  // USETMAXREG

// HFMA2.MMA.
bool is_matrix_pipe(const Instruction& i) { return (i.opcode & 0x1ff) == 0x35; }

}  // namespace

ir::Class class_of(Op op, bool uniform) {
  static constexpr ir::Class kClasses[] = {
#define OPERATION(name, lowering, what, space) {Counted::what, Space::space, 0},
#include "sass/opcodes.def"
  };
  // Instructions of the uniform datapath have no class, except reads of special registers (S2UR).
  return uniform && op != Op::kS2r ? ir::Class{} : kClasses[static_cast<std::size_t>(op)];
}

ir::Class class_of(const Instruction& i) {
  if (i.op == Op::kHfma2 && is_matrix_pipe(i)) return {Counted::kHalfTensor};
  if (i.op == Op::kNop && i.opcode == kAcqbulk) return {Counted::kGridWait};
  if (i.op == Op::kLdc && i[0].kind == Kind::kUniform) return {};                           // ULDC
  if (i.op == Op::kGmma && (i.opcode & 3) == 1) return {Counted::kTensorWarpgroupInteger};  // IGMMA
  // Instruction::type of UBLKCP and UBLKRED. Copies to another block's shared memory are stores.
  constexpr unsigned kToShared = 1;
  if (i.op == Op::kUblkcp || i.op == Op::kUblkReduce)
    return {i.type == kToShared ? Counted::kBulkLoad : Counted::kBulkStore, Space::kGlobal, 0};
  const ir::Class what = class_of(i.op, i.uniform);
  return {what.operation, what.space, what.space == Space::kNone ? std::uint8_t{0} : i.bytes};
}

ir::u16 traits_of(const Instruction& i) {
  unsigned traits = 0;
  if ((i.op == Op::kLdg || i.op == Op::kLd) && i.strong) traits |= ir::kPollsMemory;
  // The counts of kernels with a barrier of the cluster differ from an H200's by 0.1%.
  if (i.op == Op::kSyncsTest || i.op == Op::kNanosleep || i.op == Op::kClusterWait ||
      (i.op == Op::kSetmaxreg && i.mode == kTryAlloc))
    traits |= ir::kWaits;
  if (i.op == Op::kI2i || (i.op >= Op::kUblkReduce && i.op <= Op::kWarpgroup))
    traits |= ir::kNotMeasured;
  if (i.op == Op::kCall || i.op == Op::kCallAbsolute) traits |= ir::kCalls;
  if (i.op == Op::kRet) traits |= ir::kReturns;
  return static_cast<ir::u16>(traits);
}

}  // namespace vgpu::sass
