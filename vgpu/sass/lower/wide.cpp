// SPDX-License-Identifier: Apache-2.0
// Lowering of integers of 64 bits to operations on the halves.
#include "ir/modifiers.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {

// A half of a 64-bit operand.
u32 Lowering::half_of(const Operand& o, bool upper) {
  if (o.kind == Kind::kImmediate)
    return constant(upper ? (o.value >> 31 != 0 ? ~0u : 0u) : o.value);
  const bool zero = o.index == (o.kind == Kind::kUniform ? kZeroUniform : kZeroRegister);
  return source(o) + (upper && !zero ? 128 : 0);
}

// Instructions of 64 bits in pairs of registers: the lower half, which is not counted, then the
// upper one.
void Lowering::lower_wide_integer(const Instruction& i) {
  if (i.op == Op::kMov64) {
    const u32 from =
        i[1].kind == Kind::kImmediate ? constant_pair(i[1].value, i.target) : source_pair(i[1]);
    emit_alu(twin("sass.mov64"), destination(i[0]), {from});
    return;
  }
  for (const bool upper : {false, true}) {
    const u32 pc = emit(twin(i.op == Op::kSel64 ? "sass.sel" : "sass.iadd3"), !upper);
    const bool absent = i[0].index == (i.uniform ? kZeroUniform : kZeroRegister);
    at(pc).d = destination(i[0]) + (upper && !absent ? 128 : 0);
    at(pc).s[0] = half_of(i[1], upper);
    at(pc).s[1] = half_of(i[2], upper);
    at(pc).s[2] = zero_;
    at(pc).s[3] = zero_;
    if (i.op == Op::kSel64) {
      at(pc).s[3] = predicate(i[3]);
      at(pc).imm = static_cast<i64>(i[3].negated ? kNegateP : 0);
      continue;
    }
    if (i.count > 3) at(pc).s[2] = half_of(i[3], upper);
    u64 m = (i[1].negated ? kNegateA : 0) | (i[2].negated ? kNegateB : 0);
    if (upper) {
      m |= kExtended | u64{kCarryPredicates + 4} << kSlotAt;
      at(pc).s[3] = kCarryPredicates;
    } else {
      at(pc).list = kCarryPredicates;
      at(pc).target = kCarryPredicates + 4;
    }
    at(pc).imm = static_cast<i64>(m);
  }
}

void Lowering::lower_wide_comparison(const Instruction& i) {
  constexpr u32 kYes = 4 * kTrue;
  const u64 compares = u64{static_cast<u8>(i.compare)} << kCompareAt;
  helper(twin("sass.isetp"), kCarryPredicates,
         {half_of(i[2], false), half_of(i[3], false), zero_, kYes}, compares);
  program_.code.back().list = program_.code.back().target = kNone;
  emit_alu(twin("sass.isetp"), {predicate_out(i[0]), predicate_out(i[1])},
           {half_of(i[2], true), half_of(i[3], true), zero_, predicate(i[4])},
           compares | u64{static_cast<u8>(i.combine)} << kCombineAt | (i.is_signed ? kSigned : 0) |
               kExtended | (i[4].negated ? kNegateP : 0))
      .target = kCarryPredicates;
}

}  // namespace vgpu::sass
