// SPDX-License-Identifier: Apache-2.0
// Operands of a lowered instruction: registers, constants of the window, addresses of symbols,
// special registers.
#include <cstring>

#include <fmt/format.h>

#include "ir/address.hpp"
#include "ir/operations.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {

RegisterClass FunctionLowering::class_of(ptx::Type type) {
  if (type == ptx::Type::kPred) return RegisterClass::kPredicate;
  const u32 bytes = ptx::size_of(type);
  if (bytes == 0 || bytes > 8)
    throw LoweringError(fmt::format("unsupported: registers of type .{}", ptx::to_string(type)));
  return class_of(bytes);
}

RegisterClass FunctionLowering::class_of(u32 bytes) {
  return bytes <= 2 ? RegisterClass::k16 : bytes <= 4 ? RegisterClass::k32 : RegisterClass::k64;
}

const FunctionLowering::Operand& FunctionLowering::base_of(const Operand& address) const {
  if (address.kind != Kind::kAddress || address.elements.empty())
    refuse("its operand is no address");
  return address.elements[0];
}

RegisterClass FunctionLowering::class_of(Arg arg) {
  switch (arg) {
    case Arg::kPred: return RegisterClass::kPredicate;
    case Arg::kInt16: return RegisterClass::k16;
    case Arg::kInt64:
    case Arg::kFloat64: return RegisterClass::k64;
    default: return RegisterClass::k32;
  }
}

const char* FunctionLowering::move_of(RegisterClass type) const {
  switch (type) {
    case RegisterClass::kPredicate: return "mov.pred";
    case RegisterClass::k16: return "mov.b16";
    case RegisterClass::k32: return "mov.b32";
    default: return "mov.b64";
  }
}

FunctionLowering::Value FunctionLowering::constant(u64 bits, RegisterClass type) {
  const u32 bytes = register_bytes(type);
  if (bytes == 0) return predicate_constant(bits != 0);
  if (bytes < 8) bits &= (u64{1} << 8 * bytes) - 1;
  const auto [known, added] =
      constants_.try_emplace({bits, type}, static_cast<u32>(constant_bytes_.size()));
  if (added) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const auto* const raw = reinterpret_cast<const std::byte*>(&bits);
      constant_bytes_.insert(constant_bytes_.end(), raw, raw + bytes);
    }
  }
  return {false, known->second, type};
}

FunctionLowering::Value FunctionLowering::predicate_constant(bool value) {
  Value mask = constant(value ? kAllLanes : 0, RegisterClass::k32);
  mask.type = RegisterClass::kPredicate;
  return mask;
}

FunctionLowering::Value FunctionLowering::temporary(RegisterClass type) {
  classes_.push_back(type);
  return {true, static_cast<u32>(classes_.size()) - 1, type};
}

FunctionLowering::Value FunctionLowering::named(const Operand& operand) const {
  if (operand.kind != Kind::kRegister || !operand.selector.empty())
    refuse("an operand is no register");
  return {true, operand.reg, classes_[operand.reg]};
}

u64 FunctionLowering::immediate(const Operand& operand, RegisterClass type) const {
  switch (operand.kind) {
    case Kind::kInteger: return operand.bits;
    case Kind::kFloat32: {
      if (type != RegisterClass::k64) return operand.bits;
      float single;
      const u32 bits = static_cast<u32>(operand.bits);
      std::memcpy(&single, &bits, sizeof(single));
      const double value = single;
      u64 wide;
      std::memcpy(&wide, &value, sizeof(wide));
      return wide;
    }
    case Kind::kFloat64: {
      if (type == RegisterClass::k64) return operand.bits;
      if (type != RegisterClass::k32) refuse("a floating-point constant of 16 bits");
      double value;
      std::memcpy(&value, &operand.bits, sizeof(value));
      const float single = static_cast<float>(value);
      u32 bits;
      std::memcpy(&bits, &single, sizeof(bits));
      return bits;
    }
    default: refuse("an operand is neither register nor constant");
  }
}

FunctionLowering::Value FunctionLowering::source(const Operand& operand, RegisterClass type) {
  if (operand.negated) refuse("a negated operand");
  switch (operand.kind) {
    case Kind::kRegister: {
      const Value value = named(operand);
      if (value.type != type) refuse(fmt::format("operand {} has another size", operand.name));
      return value;
    }
    case Kind::kSymbol: return address_of(operand, type);
    case Kind::kSpecial: return special(operand, type);
    default: return constant(immediate(operand, type), type);
  }
}

std::vector<FunctionLowering::Value> FunctionLowering::sources(std::size_t first, std::size_t count,
                                                               RegisterClass type) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(source(operand(first + i), type));
  return values;
}

FunctionLowering::Value FunctionLowering::special(const Operand& operand, RegisterClass type) {
  const Value value = temporary(type);
  read_special(operand, value, true);
  return value;
}

void FunctionLowering::read_special(const Operand& operand, const Value& into, bool helper) {
  const auto found = find_special(operand.name);
  if (!found) refuse(fmt::format("special register {}", operand.name));
  if (into.type == RegisterClass::kPredicate) {
    const Value word = special(operand, RegisterClass::k32);
    write(emit("setp.ne.b32", {word, constant(0, RegisterClass::k32)}, helper), Field::kD, into);
    return;
  }
  const char* const operation = into.type == RegisterClass::k64   ? "special.64"
                                : into.type == RegisterClass::k32 ? "special.32"
                                                                  : "special.16";
  const u32 pc = emit(operation, helper);
  at(pc).sub = static_cast<u8>(found->special);
  write(pc, Field::kD, into);
}

// The address of a symbol in its own state space. For the global and constant spaces it is the
// generic address.
FunctionLowering::Value FunctionLowering::address_of(const Operand& operand, RegisterClass type) {
  if (type != RegisterClass::k32 && type != RegisterClass::k64)
    refuse("an address of another size");
  const u64 offset = static_cast<u64>(operand.offset);
  const u32 index = operand.symbol.index;
  switch (operand.symbol.kind) {
    case ptx::Symbol::Kind::kModule: {
      const ptx::Variable& variable = module_.variables[index];
      if (variable.space == ptx::Space::kShared) {
        const u64 generic = operand.is_generic ? windows().shared : 0;
        return constant(generic + layout_.shared.at(index) + offset, type);
      }
      if (placement_.addresses[index] == 0) refuse(fmt::format("the address of {}", operand.name));
      return constant(placement_.addresses[index] + offset, type);
    }
    case ptx::Symbol::Kind::kBody: {
      const ptx::Variable& variable = function_.variables[index];
      const u32 address = member_.addresses[index];
      if (variable.space == ptx::Space::kShared) return constant(address + offset, type);
      if (variable.space != ptx::Space::kLocal)
        refuse(fmt::format("the address of {}", operand.name));
      return local_address(address + offset, type);
    }
    case ptx::Symbol::Kind::kParam:
      if (!function_.is_entry) return local_address(member_.param_copies[index] + offset, type);
      return constant(windows().param + function_.params[index].offset + offset, type);
    case ptx::Symbol::Kind::kFunction: {
      const u32 function = resolve_alias(module_, index);
      if (module_.functions[function].is_declaration)
        refuse(fmt::format("the address of {}", operand.name));
      return constant(function_address(function), type);
    }
    default: refuse(fmt::format("the address of {}", operand.name));
  }
}

// A kernel's local memory begins at 0, a device function's at the end of its caller's.
FunctionLowering::Value FunctionLowering::local_address(u64 offset, RegisterClass type) {
  if (function_.is_entry) return constant(offset, type);
  const u32 pc = emit(type == RegisterClass::k64 ? "local.address" : "local.address32", true);
  at(pc).imm = static_cast<i64>(offset);
  const Value value = temporary(type);
  write(pc, Field::kD, value);
  return value;
}

u32 FunctionLowering::place_of(const Operand& symbol) {
  const u64 key = u64{static_cast<u8>(symbol.symbol.kind)} << 32 | symbol.symbol.index;
  const auto [known, added] = place_index_.try_emplace(key, static_cast<u32>(places_.size()));
  if (added) {
    u64 bytes = 0;
    switch (symbol.symbol.kind) {
      case ptx::Symbol::Kind::kParam: bytes = function_.params[symbol.symbol.index].size; break;
      case ptx::Symbol::Kind::kReturn: bytes = function_.returns[symbol.symbol.index].size; break;
      default: bytes = function_.variables[symbol.symbol.index].size;
    }
    places_.push_back({places_bytes_, static_cast<u32>(bytes)});
    places_bytes_ += (static_cast<u32>(bytes) * kLanes + 63) / 64 * 64;
  }
  return known->second;
}

}  // namespace vgpu::ptx
