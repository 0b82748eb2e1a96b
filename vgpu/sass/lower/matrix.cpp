// SPDX-License-Identifier: Apache-2.0
// Lowering of matrix instructions to PTX's, whose fragments have the same layout.
#include <fmt/format.h>

#include "sass/lower/lower.hpp"

namespace vgpu::sass {

// Appends the slots of values in consecutive registers, `each` per value, to Program::lists. RZ
// becomes a zero row if it is read
// and kNone if it is written.
void Lowering::list(const Operand& first, u32 values, bool writes, u32 each) {
  const bool none = first.index == kZeroRegister;
  if (!none && first.index + values * each > kZeroRegister) refuse("registers that do not exist");
  for (u32 n = 0; n < values; ++n) {
    program_.lists.push_back(none ? (writes ? kNone : zero_) : row(first.index + n * each));
  }
}

u32 Lowering::emit_product(std::string_view operation, const Instruction& i,
                           const std::array<u32, 4>& values, u32 each) {
  const u32 pc = emit(operation);
  at(pc).list = static_cast<u32>(program_.lists.size());
  for (u32 n = 0; n < 4; ++n) list(i[n], values[n], n == 0, each);
  return pc;
}

// The metadata and the selector of a sparse product.
void Lowering::metadata(u32 pc, const Instruction& i, const SparseLayout& layout) {
  const Operand& selector = i[5];
  if (selector.value >= layout.selectors()) refuse("a sparsity selector that its shape lacks");
  const u32 words = source(i[4]);
  at(pc).s[0] = words;
  at(pc).imm = selector.value;
}

void Lowering::lower_matrix(const Instruction& i) {
  const char* const sparse = i.wrap ? "sp." : "";
  switch (i.op) {
    case Op::kHmma: {
      const bool single = i.type == 2;
      const u32 depth = i.shift, pairs = i.source_type == 5 ? 1 : 2;  // elements per register
      const std::string name = fmt::format("mma.{}m16n8k{}.{}.{}", sparse, depth,
                                           i.source_type == 5   ? "tf32"
                                           : i.source_type == 4 ? "bf16"
                                                                : "f16",
                                           single ? "f32" : "f16");
      if (!find_operation(name)) refuse("a shape that these types do not have");
      const u32 sums = single ? 4 : 2, of_b = depth / 4 / pairs, of_a = i.wrap ? of_b : 2 * of_b;
      const u32 pc = emit_product(name, i, {sums, of_a, of_b, sums});
      if (i.wrap) metadata(pc, i, {depth / (2 * pairs), false});
      return;
    }
    case Op::kQmma: {
      const auto named = [](u8 type) { return type == kE5m2 ? "e5m2" : "e4m3"; };
      const u32 words = i.shift / 4u, sums = i.high ? 4 : 2;  // words: registers along k
      const std::string name =
          fmt::format("mma.{}m16n8k{}.{}.{}.{}", sparse, u32{i.shift}, named(i.type),
                      named(i.source_type), i.high ? "f32" : "f16");
      if (!find_operation(name)) refuse("a shape that these types do not have");
      const u32 pc = emit_product(name, i, {sums, words / (i.wrap ? 4 : 2), words / 4, sums});
      if (i.wrap) metadata(pc, i, {words, true});
      return;
    }
    case Op::kImma:
    case Op::kBmma: {
      const bool bits = i.op == Op::kBmma;
      const u32 rows = i.mode, words = i.shift / (bits ? 32u : 32u / i.type);  // registers along k
      const bool halves = !bits && i.wrap;
      const std::string name = fmt::format("mma.{}m{}n8k{}.", halves ? sparse : "", rows, i.shift);
      const u32 pc = emit_product(
          bits ? name + (i.wrap ? "b1.xor.s32" : "b1.and.s32")
               : fmt::format("{}{}{}.{}{}.s32", name, i.is_signed ? 's' : 'u', i.type,
                             i.high ? 's' : 'u', i.type),
          i, {rows / 4, rows * words / kLanes / (halves ? 2 : 1), words / 4, rows / 4});
      at(pc).sub = i.saturate ? 1 : 0;
      if (halves) metadata(pc, i, {words, true});
      return;
    }
    case Op::kDmma: {
      const u32 rows = i.mode, depth = i.shift;
      emit_product(fmt::format("sass.mma.m{}n8k{}.f64", rows, depth), i,
                   {rows / 4, rows * depth / kLanes, depth / 4, rows / 4}, 2);
      return;
    }
    case Op::kMovm: emit_alu("movmatrix", destination(i[0]), {source(i[1])}); return;
    default: {
      const bool stores = i.op == Op::kStsm;
      const u32 pc = emit(stores ? "stmatrix" : "ldmatrix");
      Insn& insn = at(pc);
      insn.site = program_.sites++;
      insn.vector = i.mode;
      insn.bytes = 16;
      insn.sub = i.high ? 1 : 0;
      if (stores) insn.flags |= kFlagStore;
      address(pc, i[stores ? 0 : 1], false);
      at(pc).list = static_cast<u32>(program_.lists.size());
      if (!stores && i[0].index == kZeroRegister) refuse("no result");
      list(i[stores ? 1 : 0], i.mode, !stores);
    }
  }
}

}  // namespace vgpu::sass
