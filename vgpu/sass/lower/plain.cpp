// SPDX-License-Identifier: Apache-2.0
// Instructions whose modifiers, carries and zeros leave a simpler operation become that operation,
// which reads no modifiers when it is executed.
#include <algorithm>

#include <fmt/format.h>

#include "ir/modifiers.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

// Compare's names in PTX, by the bits for less, equal, greater and unordered.
constexpr std::string_view kTests[] = {"",     "lt.",  "eq.",  "le.",  "gt.",  "ne.",
                                       "ge.",  "num.", "nan.", "ltu.", "equ.", "leu.",
                                       "gtu.", "neu.", "geu.", ""};

void become(Insn& insn, std::string_view name, std::initializer_list<u32> sources) {
  insn.op = *find_operation(name);
  std::ranges::copy(sources, insn.s);
}

std::string_view number_type(Modifiers m) { return has(m, kSigned) ? "s32" : "u32"; }

}  // namespace

// a + b + c, of which some are subtracted, without the zeros.
void Lowering::plain_sum(Insn& insn) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (insn.list != kNone || insn.target != kNone) {
    const bool adds_two = insn.s[2] == zero_ && !has(m, kExtended | kNegateA | kNegateB | kNegateC);
    if (adds_two && insn.list != kNone && insn.target == kNone)
      become(insn, "sass.iadd3.carry", {insn.s[0], insn.s[1]});
    return;
  }
  if (has(m, kExtended)) {
    const bool one_carry = static_cast<u32>(m >> kSlotAt) == 4 * kTrue && has(m, kNegateQ);
    if (one_carry && !has(m, kNegateA | kNegateB | kNegateC | kNegateP))
      become(insn, "sass.iadd3.extended", {insn.s[0], insn.s[1], insn.s[2]});
    return;
  }
  u32 terms[3], plus = 0, minus = 0;
  for (const u32 n : {0u, 1u, 2u})
    if (insn.s[n] != zero_ && !has(m, kNegateA << n)) terms[plus++] = insn.s[n];
  for (const u32 n : {0u, 1u, 2u})
    if (insn.s[n] != zero_ && has(m, kNegateA << n)) terms[plus + minus++] = insn.s[n];
  if (minus == 0) {
    switch (plus) {
      case 0: return become(insn, "mov.b32", {zero_});
      case 1: return become(insn, "mov.b32", {terms[0]});
      case 2: return become(insn, "add.u32", {terms[0], terms[1]});
      default: return become(insn, "sass.iadd3.plain", {terms[0], terms[1], terms[2]});
    }
  }
  if (minus > 1) return;
  switch (plus) {
    case 0: return become(insn, "neg.s32", {terms[0]});
    case 1: return become(insn, "sub.u32", {terms[0], terms[1]});
    default: return become(insn, "sass.iadd3.less", {terms[0], terms[1], terms[2]});
  }
}

// a * b + c.
void Lowering::plain_product(Insn& insn) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (has(m, kExtended | kNegateB)) return;
  const u32 a = insn.s[0], b = insn.s[1], c = insn.s[2];
  const auto one = known_constants_.find(1);
  if (a == zero_ || b == zero_) {
    become(insn, has(m, kNegateC) ? "neg.s32" : "mov.b32", {c});
  } else if (one != known_constants_.end() && b == one->second) {
    become(insn, has(m, kNegateC) ? "sub.u32" : "add.u32", {a, c});
  } else if (c == zero_) {
    become(insn, "mul.lo.u32", {a, b});
  } else if (!has(m, kNegateC)) {
    become(insn, "mad.lo.u32", {a, b, c});
  }
}

// (a << shift) + b, and the upper word of (c:a) << shift, plus b. Two of them make an address, with
// a carry between them.
void Lowering::plain_shifted_sum(Insn& insn) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (has(m, kNegateA | kNegateB)) return;
  if (!has(m, kHigh | kExtended))
    insn.op = *find_operation(insn.list == kNone ? "sass.lea.low" : "sass.lea.carry");
  else if (has(m, kHigh) && insn.list == kNone && bits_of(m, kShiftAt, 5) != 0)
    insn.op = *find_operation(has(m, kExtended) ? "sass.lea.extended" : "sass.lea.high");
}

void Lowering::plain_bits(Insn& insn) {
  if (insn.list != kNone) return;
  const unsigned table = bits_of(static_cast<Modifiers>(insn.imm), kTableAt, 8);
  switch (table) {
    case 0x0f: return become(insn, "not.b32", {insn.s[0]});
    case 0x33: return become(insn, "not.b32", {insn.s[1]});
    case 0xc0: return become(insn, "and.b32", {insn.s[0], insn.s[1]});
    case 0xfc: return become(insn, "or.b32", {insn.s[0], insn.s[1]});
    case 0x3c: return become(insn, "xor.b32", {insn.s[0], insn.s[1]});
    default: break;
  }
  if (const auto op = find_operation(fmt::format("sass.lop3.{:02x}", table))) insn.op = *op;
}

void Lowering::plain_shift(Insn& insn) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (bits_of(m, kTypeAt, 3) < 2) return;  // of 64 bits
  const u32 a = insn.s[0], by = insn.s[1], c = insn.s[2];
  const bool right = has(m, kRight), wraps = has(m, kWrap);
  if (right != has(m, kHigh)) {
    become(insn, fmt::format("shf.{}.{}.b32", right ? "r" : "l", wraps ? "wrap" : "clamp"),
           {a, c, by});
  } else if (!wraps) {
    const bool is_signed = bits_of(m, kTypeAt, 3) == 2;
    become(insn, !right ? "shl.b32" : is_signed ? "shr.s32" : "shr.u32", {right ? c : a, by});
  }
}

// Comparisons of values without signs, combined with a predicate or not.
void Lowering::plain_comparison(Insn& insn, bool of_floats) {
  const auto m = static_cast<Modifiers>(insn.imm);
  const unsigned combination = bits_of(m, kCombineAt, 2);  // and, or, xor
  const bool combined = insn.s[3] != 4 * kTrue || has(m, kNegateP) || combination != 0;
  const unsigned how = bits_of(m, kCompareAt, 4);
  const std::string_view test = of_floats || how < 7 ? kTests[how] : "";
  if (test.empty() || has(m, kExtended | kNegateA | kNegateB | kAbsoluteA | kAbsoluteB)) return;
  const auto type = of_floats ? (has(m, kFlush) ? "ftz.f32" : "f32") : number_type(m);
  become(insn, fmt::format("setp.{}{}", test, type), {insn.s[0], insn.s[1], insn.s[3]});
  insn.sub = static_cast<u8>(combined ? kCombineAnd + combination : 0);
  if (has(m, kNegateP)) insn.flags |= kFlagNegate;
}

void Lowering::plain_extreme(Insn& insn, bool of_floats) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (insn.s[3] != 4 * kTrue || insn.list != kNone || insn.target != kNone ||
      has(m, kNegateA | kNegateB | kNegateC | kAbsoluteA | kAbsoluteB | kHigh | kWrap | kRelu) ||
      (!of_floats && insn.s[2] != zero_))
    return;
  const auto type = of_floats ? (has(m, kFlush) ? "ftz.f32" : "f32") : number_type(m);
  become(insn, fmt::format("{}.{}", has(m, kNegateP) ? "max" : "min", type),
         {insn.s[0], insn.s[1]});
}

void Lowering::plain_choice(Insn& insn) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (has(m, kNegateA | kNegateB | kAbsoluteA | kAbsoluteB)) return;
  const u32 yes = insn.s[0], no = insn.s[1], p = insn.s[3];
  if (has(m, kNegateP))
    become(insn, "selp.b32", {no, yes, p});
  else
    become(insn, "selp.b32", {yes, no, p});
}

// FADD, FMUL, FFMA.
void Lowering::plain_float(Insn& insn, std::string_view name) {
  const auto m = static_cast<Modifiers>(insn.imm);
  if (m == kFlush)
    become(insn, fmt::format("{}.rn.ftz.f32", name), {});
  else if (m == kNegateB && name == "add")
    become(insn, "sub.rn.f32", {});
  else if (m == (kNegateB | kFlush) && name == "add")
    become(insn, "sub.rn.ftz.f32", {});
}

void Lowering::take_plain_operations() {
  using Function = void (*)(Lowering&, Insn&);
  static const std::map<u16, Function> kFunctions = [] {
    const std::pair<std::string_view, Function> rows[] = {
        {"sass.iadd3", [](Lowering& l, Insn& i) { l.plain_sum(i); }},
        {"sass.imad", [](Lowering& l, Insn& i) { l.plain_product(i); }},
        {"sass.lea", [](Lowering& l, Insn& i) { l.plain_shifted_sum(i); }},
        {"sass.lop3", [](Lowering& l, Insn& i) { l.plain_bits(i); }},
        {"sass.shf", [](Lowering& l, Insn& i) { l.plain_shift(i); }},
        {"sass.isetp", [](Lowering& l, Insn& i) { l.plain_comparison(i, false); }},
        {"sass.fsetp", [](Lowering& l, Insn& i) { l.plain_comparison(i, true); }},
        {"sass.vimnmx", [](Lowering& l, Insn& i) { l.plain_extreme(i, false); }},
        {"sass.fmnmx", [](Lowering& l, Insn& i) { l.plain_extreme(i, true); }},
        {"sass.sel", [](Lowering& l, Insn& i) { l.plain_choice(i); }},
        {"sass.fsel", [](Lowering& l, Insn& i) { l.plain_choice(i); }},
        {"sass.ffma", [](Lowering& l, Insn& i) { l.plain_float(i, "fma"); }},
        {"sass.fadd", [](Lowering& l, Insn& i) { l.plain_float(i, "add"); }},
        {"sass.fmul", [](Lowering& l, Insn& i) { l.plain_float(i, "mul"); }},
    };
    std::map<u16, Function> functions;
    for (const auto& [name, function] : rows) functions[*find_operation(name)] = function;
    return functions;
  }();
  for (Insn& insn : program_.code) {
    if (const auto known = kFunctions.find(insn.op); known != kFunctions.end())
      known->second(*this, insn);
  }
}

}  // namespace vgpu::sass
