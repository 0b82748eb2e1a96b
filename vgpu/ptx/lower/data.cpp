// SPDX-License-Identifier: Apache-2.0
// Moves, conversions, comparisons, and arithmetic with a carry.
#include <fmt/format.h>

#include <algorithm>

#include "ir/address.hpp"
#include "ir/modifiers.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {

void FunctionLowering::mov() {
  const Operand& to = operand(0);
  const Operand& from = operand(1);
  if (to.kind == Kind::kVector) return unpack();
  if (from.kind == Kind::kVector) return pack();
  if (is_sink(to)) return nothing();
  if (!find_operation(opcode().text)) refuse();
  const Value target = named(to);
  if (from.kind == Kind::kSpecial) return read_special(from, target, false);
  const Value value = source(from, target.type);
  write(emit(move_of(target.type), {value}), Field::kD, target);
}

void FunctionLowering::unpack() {
  const Value from = source(
      operand(1), operand(1).kind == Kind::kRegister ? named(operand(1)).type : RegisterClass::k64);
  const auto parts = operand(0).elements;
  const u32 width = 8 * register_bytes(from.type);
  bool helper = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_sink(parts[i])) continue;
    const Value to = named(parts[i]);
    // Parts of 8 bits are in registers of 16.
    const std::size_t part = width / parts.size(), most = 8 * register_bytes(to.type);
    const std::string name = fmt::format("unpack.{}.{}.{}", width, part, i);
    if ((part != most && (part != 8 || most != 16)) || !find_operation(name))
      refuse("the parts do not fill the whole");
    const u32 pc = emit(name, helper);
    helper = true;
    read(pc, Field::kS0, from);
    write(pc, Field::kD, to);
  }
  if (!helper) nothing();
}

void FunctionLowering::pack() {
  const Value to = named(operand(0));
  const auto parts = operand(1).elements;
  const u32 width = 8 * register_bytes(to.type) / static_cast<u32>(parts.size());
  const RegisterClass type = width == 32 ? RegisterClass::k32 : RegisterClass::k16;
  const std::string name = fmt::format("pack.{}x{}", width, parts.size());
  if (!find_operation(name)) refuse();
  Value values[4];
  for (std::size_t i = 0; i < parts.size(); ++i) values[i] = source(parts[i], type);
  write(emit(name, std::span(values).first(parts.size())), Field::kD, to);
}

// Conversion between addresses of a state space and generic ones. Global, constant and parameter
// addresses are generic already.
void FunctionLowering::cvta() {
  const bool to_space = opcode().has("to");
  u64 window = 0;
  for (std::string_view part : opcode().parts) {
    if (part == "shared" || part == "shared::cta" || part == "shared::cluster")
      window = windows().shared;
    if (part == "local") window = windows().local;
  }
  const Value to = named(operand(0));
  if (to.type != RegisterClass::k64) refuse("32-bit addresses");
  const Value from = source(operand(1), to.type);
  const u32 pc = emit(window == 0 ? "mov.b64" : to_space ? "sub.u64" : "add.u64", {from});
  if (window != 0) read(pc, Field::kS1, constant(window, to.type));
  write(pc, Field::kD, to);
}

void FunctionLowering::isspacep() {
  const std::string_view space = opcode().parts.back();
  AddressSpace asked = AddressSpace::kGlobal;
  if (space == "shared" || space == "shared::cta" || space == "shared::cluster")
    asked = AddressSpace::kShared;
  else if (space == "local")
    asked = AddressSpace::kLocal;
  else if (space == "param" || space == "param::entry")
    asked = AddressSpace::kParam;
  else if (space != "global")
    refuse();
  const Value from = source(operand(1), RegisterClass::k64);
  const u32 pc = emit("isspacep", {from});
  at(pc).sub = static_cast<u8>(asked);
  write(pc, Field::kD, named(operand(0)));
}

// The operations that an instruction without one of its name consists of; none if it is not known.
static std::vector<std::string> steps_of_conversion(const std::string& name, std::string_view to,
                                                    std::string_view from) {
  const auto without = [&](std::string_view part) {
    std::string rest = name;
    const std::size_t at = rest.find(part);
    return at == rest.npos ? std::string() : rest.erase(at, part.size() - 1);  // keeps one dot
  };
  if (find_operation(name)) return {name};
  std::vector<std::string> steps;
  const auto found = [&] {
    return std::ranges::all_of(
        steps, [](const std::string& step) { return find_operation(step).has_value(); });
  };
  // A saturated number is rounded first.
  if (std::string plain = without(".sat."); !plain.empty()) {
    steps = {plain, fmt::format("cvt.sat.{0}.{0}", to)};
    if (found()) return steps;
  }
  // A wider type needs no rounding; a narrower one is rounded to the nearest.
  for (const std::string_view mode : {".rn.", ".rz.", ".rm.", ".rp."}) {
    steps = {without(mode)};
    if (!steps[0].empty() && found()) return steps;
  }
  steps = {fmt::format("cvt.rn.{}.{}", to, from)};
  if (name == fmt::format("cvt.{}.{}", to, from) && found()) return steps;
  return {};
}

// cvt's types may be narrower than its registers. The value is then truncated before the conversion
// and extended after it.
void FunctionLowering::cvt() {
  // The two modifiers may be in either order.
  std::string name(opcode().text);
  constexpr std::string_view kOther = ".satfinite.relu.";
  if (const std::size_t at = name.find(kOther); at != name.npos)
    name.replace(at, kOther.size(), ".relu.satfinite.");
  const auto parts = opcode().parts;
  if (parts.size() < 3) refuse();
  const std::string_view type = parts[parts.size() - 2];
  const std::vector<std::string> steps = steps_of_conversion(name, type, parts.back());
  if (steps.empty()) refuse();
  const auto shape = [](const std::string& step) -> const Shape& {
    return operations()[*find_operation(step)].shape;
  };
  if (operand_count() != 2 || shape(steps[0]).sources[1] != Arg::kAbsent) {
    return void(emit_shaped(name));
  }
  static constexpr const char* kUnsigned[] = {"", "u16", "u32", "u64"};
  static constexpr const char* kSigned[] = {"", "s16", "s32", "s64"};
  const auto resize = [&](const Value& value, const Value& into, bool is_signed) {
    const char* const* const names = is_signed ? kSigned : kUnsigned;
    convert(fmt::format("cvt.{}.{}", names[static_cast<int>(into.type)],
                        names[static_cast<int>(value.type)]),
            {value}, into);
  };
  const RegisterClass source_type = class_of(shape(steps[0]).sources[0]);
  Value value;
  if (operand(1).kind == Kind::kRegister && named(operand(1)).type != source_type) {
    value = temporary(source_type);
    resize(named(operand(1)), value, false);
  } else {
    value = source(operand(1), source_type);
  }
  const Value to = named(operand(0));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const RegisterClass result_type = class_of(shape(steps[i]).dest);
    const bool last = i + 1 == steps.size() && to.type == result_type;
    const Value result = last ? to : temporary(result_type);
    write(emit(steps[i], {value}, i != 0), Field::kD, result);
    value = result;
  }
  if (to.type != value.type) resize(value, to, type.front() == 's');
}

// setp.lt.and.ftz.f32 -> the operation "setp.lt.ftz.f32" and how its result is combined.
void FunctionLowering::setp_parts(std::string& key, u8& combination) const {
  combination = kCombineNone;
  key = "setp";
  for (std::size_t i = 1; i < opcode().parts.size(); ++i) {
    const std::string_view part = opcode().parts[i];
    if (part == "and")
      combination = kCombineAnd;
    else if (part == "or")
      combination = kCombineOr;
    else if (part == "xor")
      combination = kCombineXor;
    else
      key.append(".").append(part);
  }
}

void FunctionLowering::read_predicate(u32 pc, Operand predicate) {
  if (predicate.negated) at(pc).flags |= kFlagNegate;
  predicate.negated = false;
  read(pc, Field::kS2, source(predicate, RegisterClass::kPredicate));
}

// Writes a comparison's two values and predicate into an instruction.
void FunctionLowering::place_test(u32 pc, std::size_t first_source, u8 combination) {
  const Shape& shape = operations()[at(pc).op].shape;
  const RegisterClass type = class_of(shape.sources[0]);
  read(pc, Field::kS0, source(operand(first_source), type));
  read(pc, Field::kS1, source(operand(first_source + 1), type));
  at(pc).sub = combination;
  if (combination == kCombineNone) return;
  read_predicate(pc, operand(first_source + 2));
}

void FunctionLowering::setp() {
  std::string key;
  u8 combination;
  setp_parts(key, combination);
  const u32 pc = emit(key);
  at(pc).d = kNone;
  place_test(pc, 1, combination);
  results(pc, operand(0));
}

// A comparison into a temporary predicate, then the conversion to the result's value.
void FunctionLowering::set() {
  if (find_operation(opcode().text)) return void(emit_shaped(opcode().text));
  std::string key;
  u8 combination;
  setp_parts(key, combination);
  const std::string_view type = opcode().parts[opcode().parts.size() - 2];
  const std::size_t position =
      key.rfind("." + std::string(type) + "." + std::string(opcode().parts.back()));
  key.erase(position, type.size() + 1);
  const Value test = temporary(RegisterClass::kPredicate);
  const u32 compare = emit(key, true);
  place_test(compare, 1, combination);
  write(compare, Field::kD, test);
  const std::string expand = fmt::format("expand.{}", type);
  const u32 pc = emit(expand, {test});
  destination(pc, operand(0), class_of(operations()[at(pc).op].shape.dest));
}

// lop3 may also write a predicate: whether its result is non-zero, combined with another predicate.
void FunctionLowering::lop3() {
  if (opcode().text == "lop3.b32") return void(emit_shaped("lop3.b32"));
  const bool combines = opcode().parts.size() == 3 && opcode().parts[2] == "b32" &&
                        (opcode().parts[1] == "and" || opcode().parts[1] == "or");
  if (!combines || operand(0).kind != Kind::kPair || operand_count() != 6) refuse();
  const Operand& value = operand(0).elements[0];
  const Value result = is_sink(value) ? temporary(RegisterClass::k32) : named(value);
  write(emit("lop3.b32", sources(1, 4, RegisterClass::k32)), Field::kD, result);
  if (is_sink(operand(0).elements[1])) return;
  const u32 test = emit("setp.ne.b32", {result, constant(0, RegisterClass::k32)}, true);
  at(test).sub = opcode().parts[1] == "and" ? kCombineAnd : kCombineOr;
  read_predicate(test, operand(5));
  write(test, Field::kD, named(operand(0).elements[1]));
}

// The carry flag is a predicate register of the function.
void FunctionLowering::carry() {
  const std::string_view base = opcode().base(), type = opcode().parts.back();
  const bool wide = type == "u64" || type == "s64";
  const RegisterClass kind = wide ? RegisterClass::k64 : RegisterClass::k32;
  const bool in = base == "addc" || base == "subc" || base == "madc";
  const bool out = opcode().has("cc");
  const bool multiplies = base == "mad" || base == "madc";
  const bool subtracts = base == "sub" || base == "subc";
  if (!multiplies && !subtracts && base != "add" && base != "addc") refuse();
  if (multiplies && !opcode().has("lo") && !opcode().has("hi")) refuse();
  if (carry_ == kNone) carry_ = temporary(RegisterClass::kPredicate).index;
  const std::string name = multiplies ? fmt::format("carry.mad.{}", type)
                           : wide     ? "carry.add64"
                                      : "carry.add32";
  const u32 pc = emit(name, sources(1, multiplies ? 3 : 2, kind));
  at(pc).sub = static_cast<u8>((in ? 1 : 0) | (out ? 2 : 0) | (subtracts ? 4 : 0) |
                               (opcode().has("hi") ? 8 : 0));
  const Value flag{true, carry_, RegisterClass::kPredicate};
  if (in) read(pc, Field::kList, flag);
  if (out) write(pc, Field::kList, flag);
  destination(pc, operand(0), kind);
}

// Cache policies have no effect, because the virtual GPU has no cache; the policy is 0.
void FunctionLowering::cache_policy() {
  write(emit("mov.b64", {constant(0, RegisterClass::k64)}), Field::kD, named(operand(0)));
}

}  // namespace vgpu::ptx
