// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

using ir::Counted;
using ir::Space;

constexpr unsigned kAcqbulk = 0x82e, kVoteUniform = 0x886;
constexpr unsigned kTryAlloc = 2;  // USETMAXREG

// HFMA2.MMA.
bool is_matrix_pipe(const Instruction& i) { return (i.opcode & 0x1ff) == 0x35; }

// Instruction::mode of a read of a special register that differs between lanes: thread index, lane,
// masks of lanes.
bool is_of_lane(const Instruction& i) {
  return i.mode == 0 || (i.mode >= 0x20 && i.mode <= 0x23) || (i.mode >= 0x38 && i.mode <= 0x3c);
}

ir::Class tensor_class(const Instruction& i) {
  constexpr Counted kByFamily[] = {Counted::kTensorWarpgroup, Counted::kTensorWarpgroupInteger,
                                   Counted::kOther, Counted::kTensorWarpgroupByte};
  return {kByFamily[i.opcode & 3]};
}

constexpr ir::Class listed_class(Counted what, Space space, unsigned pipes) {
  return {what, space, 0, static_cast<ir::Pipes>(pipes)};
}
constexpr ir::Class listed_class(Counted what, Space space) {
  return listed_class(what, space, ir::pipes_of(what, space));
}

// UBLKCP, UBLKRED.
ir::Class bulk_class(const Instruction& i) {
  enum { kToGlobal = 2, kToBlock };  // Instruction::type
  const Counted to_global = i.op == Op::kUblkReduce ? Counted::kBulkReduce : Counted::kBulkStore;
  const Counted what = i.type == kToGlobal  ? to_global
                       : i.type == kToBlock ? Counted::kBulkSend
                                            : Counted::kBulkLoad;
  return {what, Space::kGlobal, 0, ir::kPipeTma};
}

}  // namespace

ir::Class class_of(Op op, bool uniform) {
  using namespace ir;
  static constexpr Class kClasses[] = {
#define OPERATION(name, lowering, what, space, result, sources, ...) \
  listed_class(Counted::what, Space::space __VA_OPT__(, ) __VA_ARGS__),
#include "sass/opcodes.def"
  };
  // Instructions of the uniform datapath have no class, except reads of special registers (S2UR).
  if (!uniform || op == Op::kS2r) return kClasses[static_cast<std::size_t>(op)];
  return listed_class(Counted::kOther, Space::kNone, op == Op::kMov ? kNoPipe : kPipeUniform);
}

ir::Class class_of(const Instruction& i) {
  if (i.op == Op::kHfma2 && is_matrix_pipe(i)) return {Counted::kHalfTensor};
  if (i.op == Op::kNop && i.opcode == kAcqbulk) return {Counted::kGridWait};
  if (i.op == Op::kLdc && i[0].kind == Kind::kUniform) return {};  // ULDC
  if (i.op == Op::kGmma) return tensor_class(i);
  if (i.op == Op::kUblkcp || i.op == Op::kUblkReduce) return bulk_class(i);
  ir::Class what = class_of(i.op, i.uniform);
  if (what.space != Space::kNone) what.bytes = i.bytes;
  if (i.op == Op::kS2r && !i.uniform && is_of_lane(i)) what.pipes = ir::kPipeLsu;
  if (i.op == Op::kVote && i.opcode == kVoteUniform) what.pipes = ir::kNoPipe;
  if (i.op == Op::kHadd2 && i.high) what.pipes = ir::kPipeFma | ir::kPipeFmaHeavy;  // HADD2.F32
  return what;
}

ir::u32 traits_of(const Instruction& i) {
  unsigned traits = 0;
  if ((i.op == Op::kLdg || i.op == Op::kLd) && i.strong) traits |= ir::kPollsMemory;
  if (i.op == Op::kSyncsTest || i.op == Op::kNanosleep ||
      (i.op == Op::kSetmaxreg && i.mode == kTryAlloc))
    traits |= ir::kWaits;
  if (i.op == Op::kUblkPrefetch || i.op == Op::kUtmaReduce || i.op == Op::kUtmaPrefetch ||
      i.op == Op::kRedas || i.op == Op::kFswzadd || class_of(i.op, false).pipes == ir::kPipeTex)
    traits |= ir::kNotMeasured;
  if (i.uniform && (i.op == Op::kFlo || i.op == Op::kBrev || i.op == Op::kPlop3 ||
                    i.op == Op::kSgxt || i.op == Op::kP2r || i.op == Op::kR2p))
    traits |= ir::kPipeNotMeasured;
  if (i.op == Op::kCall || i.op == Op::kCallAbsolute) traits |= ir::kCalls;
  if (i.op == Op::kRet) traits |= ir::kReturns;
  return traits;
}

}  // namespace vgpu::sass
