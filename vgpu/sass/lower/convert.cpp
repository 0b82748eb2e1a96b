// SPDX-License-Identifier: Apache-2.0
// Lowering of conversions to PTX's cvt, with scratch rows for 64-bit and 16-bit values.
#include <algorithm>

#include <fmt/format.h>

#include "ir/modifiers.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

const char* float_name(u8 type) {
  static constexpr const char* kNames[] = {nullptr, "f16", "f32", "f64", "bf16", "tf32"};
  return kNames[type];
}
bool is_narrow(u8 type) { return type == 1 || type == 4; }
u64 signs(const Operand& o) { return (o.negated ? kNegateA : 0) | (o.absolute ? kAbsoluteA : 0); }

// The lowest bit of an integer that is a part of its register.
u32 lowest_bit(Half part) {
  switch (part) {
    case Half::kByte1: return 8;
    case Half::kUpper:
    case Half::kByte2: return 16;
    case Half::kByte3: return 24;
    default: return 0;
  }
}

constexpr const char* kToFloat[] = {"rn", "rm", "rp", "rz"};
constexpr const char* kToInteger[] = {"rni", "rmi", "rpi", "rzi"};

}  // namespace

// The slot of an FP32 operand. If it has a negation or absolute-value modifier, the modified value
// is written to the row `to`.
u32 Lowering::signed_single(const Operand& o, u32 to) {
  const u32 from = source(o);
  if (!o.negated && !o.absolute) return from;
  return helper("sass.fsel", to, {from, from, zero_, 4 * kTrue}, signs(o));
}

// One number of 16 bits, with zeros above it.
void Lowering::lower_join(const Instruction& i) {
  const std::string name =
      fmt::format("cvt.{}{}{}.{}.f32", kToFloat[i.rounding], i.high ? ".relu" : "",
                  i.saturate ? ".satfinite" : "", float_name(i.type));
  if (!find_operation(name)) refuse(fmt::format("there is no conversion {}", name));
  emit_alu(name, wide_scratch(1), {source(i[1])});
  emit_uncounted("cvt.u32.u16", destination(i[0]), {wide_scratch(1)});
}

// I2IP.
void Lowering::lower_integer_packing(const Instruction& i) {
  const std::string name = fmt::format("cvt.pack.sat.{}{}.s32{}", i.is_signed ? 's' : 'u', i.type,
                                       i.type == 16 ? "" : ".b32");
  const bool two = i.type == 16;
  if (two && (i[3].kind != Kind::kRegister || i[3].index != kZeroRegister))
    refuse("a third operand");
  emit_row(name, i, two ? 2 : 3);
}

void Lowering::lower_packing(const Instruction& i) {
  static constexpr const char* kPairs[] = {nullptr,  "f16x2", "f32",    nullptr,
                                           "bf16x2", "tf32",  "e5m2x2", "e4m3x2"};
  const bool joins = i.count == 3 && i[2].kind == Kind::kRegister && i[2].index == kZeroRegister &&
                     i.source_type == kF32 && is_narrow(i.type);
  if (joins) return lower_join(i);
  const bool to_bytes = i.type >= kE5m2, from_bytes = i.source_type >= kE5m2;
  const std::string name =
      fmt::format("cvt.{}{}{}.{}.{}", kToFloat[i.rounding], i.high ? ".relu" : "",
                  i.saturate ? ".satfinite" : "", kPairs[i.type], kPairs[i.source_type]);
  const auto operation = find_operation(name);
  if (!operation) refuse(fmt::format("there is no conversion {}", name));
  const bool two = operations()[*operation].shape.sources[1] != Arg::kAbsent;
  const u32 operands = two ? 2 : 1, merged = i.count == operands + 2u ? i.count - 1u : 0;
  if (i.count < operands + 1u || to_bytes != (merged != 0)) refuse("another number of operands");
  // 16 bits of a register, in the layout of PTX values of this size.
  const auto half = [&](const Operand& o, u32 to) {
    return helper(o.half == Half::kUpper ? "unpack.32.16.1" : "unpack.32.16.0", to, {source(o)});
  };
  const u32 kept = to_bytes ? half(i[merged], wide_scratch(2)) : 0;
  const u32 first = from_bytes ? half(i[1], wide_scratch(0)) : source(i[1]);
  const u32 d = to_bytes ? wide_scratch(1) : destination(i[0]);
  if (two)
    emit_alu(name, d, {first, source(i[2])});
  else
    emit_alu(name, d, {first});
  if (!to_bytes) return;
  emit_uncounted("pack.16x2", destination(i[0]), {d, kept});
}

// The slot of a conversion's operand, in the layout of PTX values of its type.
u32 Lowering::convertible(const Operand& from, u8 type, bool is_float, bool is_signed) {
  if (type == 3) {  // 64 bits
    const u32 wide = wide_scratch(0), pair = source_pair(from);
    helper("pack.32x2", wide, {pair, pair + 128});
    for (const char* const sign :
         {from.absolute ? "abs.f64" : nullptr, from.negated ? "neg.f64" : nullptr}) {
      if (sign != nullptr) helper(sign, wide, {wide});
    }
    return wide;
  }
  if (is_float && is_narrow(type)) {
    u32 word = source(from);
    for (const char* const sign :
         {from.absolute ? "and.b32" : nullptr, from.negated ? "xor.b32" : nullptr}) {
      if (sign != nullptr)
        word = helper(sign, scratch(), {word, constant(*sign == 'a' ? 0x7fff7fff : 0x80008000)});
    }
    return helper(from.half == Half::kUpper ? "unpack.32.16.1" : "unpack.32.16.0", wide_scratch(0),
                  {word});
  }
  if (is_float) return signed_single(from, scratch());
  u32 word = source(from);
  if (type == 2) return word;
  if (const u32 low = lowest_bit(from.half); low != 0)
    word = helper("shr.u32", scratch(), {word, constant(low)});
  return helper("sass.sgxt", scratch(), {word, constant(type == 0 ? 8 : 16)},
                is_signed ? kSigned : 0);
}

void Lowering::lower_conversion(const Instruction& i) {
  if (i.op == Op::kF2fp) return lower_packing(i);
  const bool from_integer = i.op == Op::kI2f || i.op == Op::kI2fp,
             to_integer = i.op == Op::kF2i || i.op == Op::kF2ip;
  const char* const flush = i.flush ? ".ftz" : "";
  const u8 size = from_integer ? std::max<u8>(i.source_type, 2) : i.type;
  const std::string integer = fmt::format("{}{}", i.is_signed ? 's' : 'u', 8u << size);
  std::string name;
  if (from_integer) {
    name = fmt::format("cvt.{}.{}.{}", kToFloat[i.rounding], float_name(i.type), integer);
  } else if (to_integer) {
    if (i.source_type != 3 && i.mode == 0 && i.type != 3) refuse("a NaN that becomes no zero");
    name = fmt::format("cvt.{}{}.{}.{}", kToInteger[i.rounding], flush, integer,
                       float_name(i.source_type));
  } else if (i.op == Op::kFrnd) {
    name = fmt::format("cvt.{}{}.{}.{}", kToInteger[i.rounding], flush, float_name(i.type),
                       float_name(i.type));
  } else {  // widening needs no rounding
    const bool widens = i.type == 3 || (i.type == 2 && is_narrow(i.source_type));
    name = fmt::format("cvt.{}{}{}.{}", widens ? "" : fmt::format("{}.", kToFloat[i.rounding]),
                       i.flush ? "ftz." : "", float_name(i.type), float_name(i.source_type));
  }
  if (!find_operation(name)) refuse(fmt::format("there is no conversion {}", name));
  const u32 operand = convertible(i[1], i.source_type, !from_integer, i.is_signed);
  const bool narrow_result = to_integer ? i.type < 2 : is_narrow(i.type);
  if (i.type != 3 && !narrow_result) {
    emit_alu(name, destination(i[0]), {operand});
    return;
  }
  emit_alu(name, wide_scratch(1), {operand});
  if (narrow_result) {
    emit_uncounted(to_integer && i.is_signed ? "cvt.s32.s16" : "cvt.u32.u16", destination(i[0]),
                   {wide_scratch(1)});
    return;
  }
  unpack(destination(i[0]), wide_scratch(1));
}

// MUFU of a number of 16 bits.
void Lowering::lower_half_function(const Instruction& i) {
  constexpr unsigned kExp2 = 2, kTanh = 9;
  if (i.mode != kExp2 && i.mode != kTanh) refuse("a function of numbers of 16 bits");
  const u32 operand = convertible(i[1], i.type, true, false);
  emit_alu(fmt::format("{}.approx{}.{}", i.mode == kTanh ? "tanh" : "ex2",
                       i.mode == kExp2 && i.type == kBf16 ? ".ftz" : "", float_name(i.type)),
           wide_scratch(1), {operand});
  emit_uncounted("cvt.u32.u16", destination(i[0]), {wide_scratch(1)});
}

// I2I: to the nearest number of the narrower type.
void Lowering::lower_clamp(const Instruction& i) {
  constexpr std::int32_t kLeast[] = {0, -128, 0, -32768}, kMost[] = {255, 127, 65535, 32767};
  emit_alu("min.s32", scratch(), {source(i[1]), constant(static_cast<u32>(kMost[i.type]))});
  emit_uncounted("max.s32", destination(i[0]),
                 {scratch(), constant(static_cast<u32>(kLeast[i.type]))});
}

}  // namespace vgpu::sass
