// SPDX-License-Identifier: Apache-2.0
// ld, st, atom, red, and the parameters of kernels and calls.
#include <algorithm>

#include <fmt/format.h>

#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {
namespace {

// Modifiers without effect here: cache hints and scopes of memory ordering.
bool is_hint(std::string_view part) {
  static constexpr std::string_view kHints[] = {"ca",      "cg",  "cs",  "lu",     "cv",
                                                "wb",      "wt",  "nc",  "weak",   "cta",
                                                "cluster", "gpu", "sys", "unified"};
  return std::ranges::find(kHints, part) != std::end(kHints) || part.starts_with("L1::") ||
         part.starts_with("L2::");
}

bool is_strong(std::string_view part) {
  return part == "volatile" || part == "relaxed" || part == "acquire" || part == "release" ||
         part == "acq_rel" || part == "mmio";
}

// The state space that a modifier names; "" if none.
std::string_view space_named(std::string_view part) {
  if (part == "shared::cta" || part == "shared::cluster") return "shared";
  if (part == "param::entry" || part == "param::func") return "param";
  if (part.starts_with("const[")) return "const";
  for (std::string_view space : {"global", "shared", "local", "const", "param"}) {
    if (part == space) return space;
  }
  return "";
}

}  // namespace

FunctionLowering::Access FunctionLowering::access() const {
  Access result;
  result.space = "generic";
  const auto parts = opcode().parts;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "shared::cluster")
      result.space = "cluster";
    else if (const std::string_view space = space_named(part); !space.empty())
      result.space = space;
    else if (is_strong(part)) {
      result.strong = true;
      result.ordering = part == "acquire" || part == "release";
    } else if (part == "v2")
      result.vector = 2;
    else if (part == "v4")
      result.vector = 4;
    else if (!is_hint(part))
      refuse(fmt::format("modifier .{}", part));
  }
  const auto type = ptx::type_from(parts.back());
  if (!type || ptx::size_of(*type) == 0 || ptx::size_of(*type) > 8) refuse();
  result.type = *type;
  return result;
}

void FunctionLowering::ld() { memory(access(), operand(1), operand(0), false); }
void FunctionLowering::st() {
  if (opcode().has("async"))
    send_words();
  else
    memory(access(), operand(0), operand(1), true);
}

// The width of the registers that are loaded or stored.
u32 FunctionLowering::width_of(const Operand& what, u32 bytes) const {
  u32 width = 0;
  for (const Operand& e : elements_of(what)) {
    if (e.kind == Kind::kRegister) width = register_bytes(named(e).type);
  }
  return width == 0 ? std::max(bytes, 2u) : width;
}

std::vector<FunctionLowering::Value> FunctionLowering::stored(const Operand& what, u32 width) {
  std::vector<Value> values;
  for (const Operand& e : elements_of(what)) values.push_back(source(e, class_of(width)));
  return values;
}

void FunctionLowering::memory(const Access& access, const Operand& where, const Operand& what,
                              bool is_store) {
  const u32 bytes = ptx::size_of(access.type);
  if (bytes * access.vector > 16) refuse("more than 16 bytes per thread");
  const Operand& base = base_of(where);
  if (elements_of(what).size() != access.vector) refuse("another number of elements");
  if (access.space == "param") return parameter(access, where, what, is_store);
  if (access.space == "const" && is_store) refuse();
  const u32 width = width_of(what, bytes);
  // nvcc joins loads of neighbours, and fills gaps between and behind them.
  const bool joined =
      !is_store && access.space == "shared" && access.vector > 1 && !access.strong &&
      std::ranges::any_of(elements_of(what), [&](const Operand& e) { return is_unread(e); });
  std::string name = is_store ? "st." : "ld.";
  if (joined) {
    name += "shared.part";
  } else if (access.space == "local" || access.space == "cluster") {
    name += access.space;
  } else if (width == bytes) {
    name += fmt::format("{}.{}x{}", access.space, bytes, access.vector);
    if (!find_operation(name)) refuse();
  } else {
    name += access.space + ".any";
  }
  std::vector<Value> sources;
  if (is_store) sources = stored(what, width);
  Value local_base;
  const bool local_symbol = base.kind == Kind::kSymbol &&
                            base.symbol.kind == ptx::Symbol::Kind::kBody &&
                            function_.variables[base.symbol.index].space == ptx::Space::kLocal;
  if (local_symbol) local_base = address_of(base, RegisterClass::k64);
  if (is_store && access.ordering) emit("fence", true);
  const u32 pc = emit(name);
  at(pc).site = program_.sites++;
  at(pc).bytes = static_cast<u8>(bytes);
  at(pc).vector = static_cast<u8>(access.vector);
  at(pc).width = static_cast<u8>(width);
  if (is_store) at(pc).flags |= kFlagStore;
  if (access.strong) at(pc).flags |= kFlagStrong;
  if (ptx::to_string(access.type).front() == 's') at(pc).flags |= kFlagSigned;
  if (!is_store && access.strong && access.space != "shared" && access.space != "local" &&
      access.space != "cluster")
    program_.ordered = true;
  if (local_symbol) {
    read(pc, Field::kS0, local_base);
    at(pc).imm = where.offset;
  } else {
    address(pc, where);
  }
  data(pc, what, width, is_store, sources, joined);
  if (!is_store && access.ordering) emit("fence", true);
}

// Writes the address operand of an emitted instruction.
void FunctionLowering::address(u32 pc, const Operand& where) {
  const Operand& base = base_of(where);
  at(pc).imm = where.offset;
  switch (base.kind) {
    case Kind::kRegister: {
      const Value value = named(base);
      if (value.type == RegisterClass::k32)
        at(pc).flags |= kFlagAddress32;
      else if (value.type != RegisterClass::k64)
        refuse("an address of another size");
      read(pc, Field::kS0, value);
      return;
    }
    case Kind::kSymbol: read(pc, Field::kS0, address_of(base, RegisterClass::k64)); return;
    case Kind::kInteger: read(pc, Field::kS0, constant(base.bits, RegisterClass::k64)); return;
    default: refuse("its operand is no address");
  }
}

// The registers to load or store: one in Insn::d, several in Program::lists. `joined`: those that
// nothing reads are not loaded.
void FunctionLowering::data(u32 pc, const Operand& what, u32 width, bool is_store,
                            std::span<const Value> sources, bool joined) {
  const auto place = [&](Field field, const Operand& e, u32 element) {
    if (is_store) {
      read(pc, field, sources[what.kind == Kind::kVector ? element - at(pc).list : 0], element);
      return;
    }
    if (is_sink(e) || (field == Field::kLists && joined && is_unread(e))) {
      if (field == Field::kLists)
        program_.lists[element] = kNone;
      else
        write(pc, field, temporary(class_of(width)), element);
      return;
    }
    const Value to = named(e);
    if (register_bytes(to.type) != width) refuse("registers of different sizes");
    write(pc, field, to, element);
  };
  if (what.kind != Kind::kVector) return place(Field::kD, what, 0);
  begin_list(pc, what.elements.size());
  for (u32 i = 0; i < what.elements.size(); ++i) {
    // A vector of one element is handled like a single register.
    if (at(pc).vector == 1)
      place(Field::kD, what.elements[i], at(pc).list);
    else
      place(Field::kLists, what.elements[i], at(pc).list + i);
  }
}

// At a function's entry: copies parameters whose address is taken to local memory.
void FunctionLowering::copy_params() {
  for (u32 i = 0; i < member_.param_copies.size(); ++i) {
    if (member_.param_copies[i] == kNone) continue;
    Operand symbol;
    symbol.symbol = {ptx::Symbol::Kind::kParam, i};
    const u32 place = place_of(symbol);
    for (u32 offset = 0; offset < places_[place].bytes;) {
      const u32 bytes = places_[place].bytes - offset >= 4 ? 4 : 1;
      const Value to = local_address(member_.param_copies[i] + offset, RegisterClass::k64);
      const Value value = temporary(RegisterClass::k32);
      const u32 load = emit("ld.frame", true);
      at(load).imm = offset;
      at(load).target = places_[place].bytes;
      fixups_.push_back({load, Field::kPlace, 0, place});
      write(load, Field::kD, value);
      const u32 store = emit("st.local", {to}, true);
      at(store).flags |= kFlagStore;
      at(store).site = program_.sites++;
      read(store, Field::kD, value);
      for (u32 pc : {load, store}) {
        at(pc).bytes = static_cast<u8>(bytes);
        at(pc).width = 4;
      }
      offset += bytes;
    }
  }
}

void FunctionLowering::parameter(const Access& access, const Operand& where, const Operand& what,
                                 bool is_store) {
  const u32 bytes = ptx::size_of(access.type);
  const Operand& base = where.elements[0];
  const u32 width = width_of(what, bytes);
  std::vector<Value> sources;
  if (is_store) sources = stored(what, width);
  const bool symbol = base.kind == Kind::kSymbol;
  const bool of_kernel =
      symbol && base.symbol.kind == ptx::Symbol::Kind::kParam && function_.is_entry;
  const bool of_call = symbol && !of_kernel &&
                       (base.symbol.kind == ptx::Symbol::Kind::kParam ||
                        base.symbol.kind == ptx::Symbol::Kind::kReturn ||
                        base.symbol.kind == ptx::Symbol::Kind::kBody);
  if (symbol && !of_kernel && !of_call) refuse("its operand is no parameter");
  if (!of_call && is_store) refuse("a store to a kernel's parameter");
  const u32 pc = emit(of_call  ? (is_store ? "st.frame" : "ld.frame")
                      : symbol ? "ld.param.fixed"
                               : "ld.param.register");
  at(pc).bytes = static_cast<u8>(bytes);
  at(pc).vector = static_cast<u8>(access.vector);
  at(pc).width = static_cast<u8>(width);
  if (is_store) at(pc).flags |= kFlagStore;
  if (ptx::to_string(access.type).front() == 's') at(pc).flags |= kFlagSigned;
  if (of_call) {
    const u32 place = place_of(base);
    at(pc).imm = base.offset + where.offset;
    at(pc).target = places_[place].bytes;
    if (at(pc).imm < 0 ||
        static_cast<u64>(at(pc).imm) + bytes * access.vector > places_[place].bytes) {
      refuse("outside the parameter");
    }
    fixups_.push_back({pc, Field::kPlace, 0, place});
  } else if (of_kernel) {
    const i64 offset = base.offset + where.offset;
    const ptx::Parameter& parameter = function_.params[base.symbol.index];
    if (offset < 0 || static_cast<u64>(offset) + bytes * access.vector > parameter.size)
      refuse("outside the parameter");
    at(pc).imm = static_cast<i64>(parameter.offset) + offset;
  } else {
    address(pc, where);
  }
  data(pc, what, width, is_store, sources);
}

// atom and red, in any of their spellings: the operation, the type, and where.
void FunctionLowering::atom() {
  const bool reduction = opcode().base() == "red";
  if (reduction && opcode().has("async")) return send_words();
  u32 vector = 1;
  std::string operation;
  std::string_view noftz;
  AtomicSpace space = AtomicSpace::kGeneric;
  bool acquires = false, releases = false;
  const auto parts = opcode().parts;
  std::string_view of_type;
  for (const std::string_view part : parts.subspan(1)) {
    const std::string_view named_space = space_named(part);
    if (ptx::type_from(part) || is_any_of(part, {"bf16", "bf16x2"}))
      of_type = part;
    else if (part == "shared::cluster")
      space = AtomicSpace::kCluster;
    else if (named_space == "global")
      space = AtomicSpace::kGlobal;
    else if (named_space == "shared")
      space = AtomicSpace::kShared;
    else if (!named_space.empty() || part == "async")
      refuse();
    else if (part == "noftz")
      noftz = ".noftz";
    else if (part == "v2" || part == "v4" || part == "v8")
      vector = static_cast<u32>(part[1] - '0');
    else if (is_strong(part)) {
      acquires |= part == "acquire" || part == "acq_rel";
      releases |= part == "release" || part == "acq_rel";
    } else if (is_hint(part))
      continue;
    else
      operation = std::string(part);
  }
  const std::string name = fmt::format("atom.{}{}.{}", operation, noftz, of_type);
  const auto op = find_operation(name);
  if (!op) refuse();
  const RegisterClass type = class_of(operations()[*op].shape.dest);
  const std::size_t where = reduction ? 0 : 1;
  if (vector != 1) return atom_vector(name, vector, space, where);
  const bool compares = operation == "cas";
  const Value b = source(operand(where + 1), type);
  const Value c = compares ? source(operand(where + 2), type) : b;
  if (releases) emit("fence", true);
  const u32 pc = emit(name);
  at(pc).site = program_.sites++;
  at(pc).sub = static_cast<u8>(space);
  at(pc).bytes = static_cast<u8>(register_bytes(type));
  at(pc).flags |= kFlagStore | kFlagStrong;
  address(pc, operand(where));
  read(pc, Field::kS1, b);
  read(pc, Field::kS2, c);
  // Mark the program if its result may depend on the order of blocks.
  const bool global = space == AtomicSpace::kGlobal || space == AtomicSpace::kGeneric;
  const bool floating =
      of_type.front() == 'f' || of_type.front() == 'b';  // .f32, .bf16; bits are not added
  const bool sums = operation == "add" && floating;
  if (global && (operation == "exch" || compares || operation == "inc" || operation == "dec"))
    program_.ordered = true;
  if (global && sums) {
    at(pc).flags |= kFlagSum;
    program_.sums = true;
  }
  if (!reduction && !is_sink(operand(0))) {
    at(pc).flags |= kFlagHasResult;
    destination(pc, operand(0), type);
    if (global) results_.push_back(pc);
  }
  if (acquires) emit("fence", true);
}

// Elements of a vector are updated one by one, each atomically: "the atomicity is guaranteed for
// each element separately" (PTX ISA, "red").
void FunctionLowering::atom_vector(const std::string& name, u32 count, AtomicSpace space,
                                   std::size_t where) {
  const RegisterClass type = class_of(operations()[*find_operation(name)].shape.dest);
  const u32 bytes = register_bytes(type);
  const Operand& what = operand(where + 1);
  if (space == AtomicSpace::kShared || space == AtomicSpace::kCluster || bytes > 4 ||
      bytes * count > 16)
    refuse();
  if (what.kind != Kind::kVector || what.elements.size() != count)
    refuse("another number of elements");
  if (where == 1 && (operand(0).kind != Kind::kVector || operand(0).elements.size() != count)) {
    refuse("another number of elements");
  }
  base_of(operand(where));
  std::vector<Value> values;
  for (const Operand& e : what.elements) values.push_back(source(e, type));
  const u32 check = emit("check.aligned");
  at(check).bytes = static_cast<u8>(bytes * count);
  at(check).flags |= kFlagStore;
  address(check, operand(where));
  // An element's destination may be the address register, so the address is copied.
  const Value kept = temporary(RegisterClass::k64);
  write(check, Field::kD, kept);
  std::vector<Value> old;
  for (u32 i = 0; i < count; ++i) {
    const u32 pc = emit(name, {kept, values[i], values[i]}, true);
    at(pc).site = program_.sites++;
    at(pc).sub = static_cast<u8>(space);
    at(pc).bytes = static_cast<u8>(bytes);
    at(pc).flags |= kFlagStore | kFlagStrong;
    at(pc).imm = static_cast<i64>(i) * bytes;
    if (where == 0) continue;
    at(pc).flags |= kFlagHasResult;
    old.push_back(temporary(type));
    write(pc, Field::kD, old.back());
  }
  // A result's register may hold the value of a later element.
  for (u32 i = 0; i < old.size(); ++i)
    destination(emit(move_of(type), {old[i]}, true), operand(0).elements[i], type);
  program_.ordered = true;
}

}  // namespace vgpu::ptx
