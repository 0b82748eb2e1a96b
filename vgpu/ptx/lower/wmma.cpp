// SPDX-License-Identifier: Apache-2.0
// wmma. PTX ISA, "Matrix multiply-accumulate operation using wmma instructions".
#include <fmt/format.h>

#include <algorithm>

#include "ir/modifiers.hpp"
#include "ptx/lower/lowering.hpp"
#include "ptx/lower/matrix_shape.hpp"

namespace vgpu::ptx {
namespace {

constexpr std::string_view kKnownWmma =
    "known are .f16, .bf16, .s8 and .u8 with k16, m16n16k8 of .tf32, m8n8k4 of .f64, m8n8k32 of "
    ".s4 and .u4, m8n8k128 of .b1";

std::string unpack_half(u32 half) { return fmt::format("unpack.32.16.{}", half); }

struct WmmaTiles {
  u32 down = 0, across = 0;
};

}  // namespace

void FunctionLowering::wmma() {
  const auto parts = opcode().parts;
  if (parts.size() < 2) refuse();
  if (parts[1] == "mma")
    wmma_product();
  else if (parts[1] == "load" || parts[1] == "store")
    wmma_move(parts[1] == "store");
  else
    refuse();
}

// wmma.mma{.OP.popc}.sync.aligned.ALAYOUT.BLAYOUT.SHAPE{.rn}.D.C or .D.A.B.C{.satfinite}
// d, a, b, c;
// The layouts describe the matrices in memory, not the fragments.
void FunctionLowering::wmma_product() {
  const auto all = opcode().parts;
  const bool bits = all.size() > 3 && all[3] == "popc";
  std::vector<std::string_view> parts(all.begin(), all.end());
  if (bits) parts.erase(parts.begin() + 2, parts.begin() + 4);
  const bool saturates = parts.back() == "satfinite";
  if (saturates) parts.pop_back();
  // Where .rn stands differs between the manual and the compiler.
  if (parts.back() == "rn") parts.pop_back();
  if (parts.size() > 7 && parts[7] == "rn") parts.erase(parts.begin() + 7);
  Dimensions size;
  if (parts.size() < 9 || parts[2] != "sync" || parts[3] != "aligned" || !parse(parts[6], size)) {
    refuse(std::string(kKnownWmma));
  }
  const bool half = parts.size() == 9;
  const std::string_view of_d = parts[7], of_c = parts.back(), of_a = half ? "f16" : parts[8];
  if (!half && parts.size() != 11) refuse(std::string(kKnownWmma));
  if (of_d == "s32" || of_d == "f64") {
    if (of_c != of_d || (saturates && (bits || of_d == "f64"))) refuse(std::string(kKnownWmma));
    wmma_by_mma(bits            ? fmt::format("b1.{}.s32", all[2])
                : of_d == "f64" ? std::string("f64.f64")
                                : fmt::format("{}.{}.s32", of_a, parts[9]),
                saturates);
    return;
  }
  // Sums are as wide as the wider one of C and D.
  const bool mixed = of_c != of_d;
  const std::string name = fmt::format("wmma.{}.{}.{}", parts[6], of_a, mixed ? "f32" : of_d);
  if (saturates || bits || (mixed && !half) || (!half && parts[9] != of_a) ||
      !find_operation(name)) {
    refuse(std::string(kKnownWmma));
  }
  const auto factor = [&](u32 elements) { return half ? 8 : registers_of(elements, of_a); };
  const std::size_t counts[] = {registers_of(size.m * size.n, of_d), factor(size.m * size.k),
                                factor(size.k * size.n), registers_of(size.m * size.n, of_c)};
  if (!mixed) return void(matrix_product(name, counts, RegisterClass::k32));
  need_registers(counts);
  std::vector<Value> results, sources;
  for (std::size_t o = 1; o < 3; ++o) {
    for (const Operand& e : operand(o).elements) sources.push_back(source(e, RegisterClass::k32));
  }
  for (const Operand& e : operand(3).elements) {
    const Value of = source(e, RegisterClass::k32);
    if (of_c == "f32") {
      sources.push_back(of);
      continue;
    }
    for (u32 part = 0; part < 2; ++part) {
      const Value narrow = computed(unpack_half(part), {of}, RegisterClass::k16);
      sources.push_back(computed("cvt.f32.f16", {narrow}, RegisterClass::k32));
    }
  }
  const std::size_t sums = size.m * size.n / kLanes;
  for (std::size_t i = 0; i < sums; ++i) {
    const Operand* const to = of_d == "f32" ? &operand(0).elements[i] : nullptr;
    results.push_back(to != nullptr && !is_sink(*to) ? named(*to) : temporary(RegisterClass::k32));
  }
  list_values(emit(name), results, sources);
  if (of_d == "f32") return;
  for (std::size_t r = 0; r < operand(0).elements.size(); ++r) {
    Value halves[2];
    for (u32 part = 0; part < 2; ++part)
      halves[part] = computed("cvt.rn.f16.f32", {results[2 * r + part]}, RegisterClass::k16);
    destination(emit("pack.16x2", {halves[0], halves[1]}, true), operand(0).elements[r],
                RegisterClass::k32);
  }
}

// Products whose fragments are those of mma, one for each tile of 16 (or 8) rows and 8 columns.
// `types`: what follows the shape in the operation's name.
void FunctionLowering::wmma_by_mma(const std::string& types, bool saturates) {
  const std::size_t at_shape = opcode().parts[3] == "popc" ? 8 : 6;
  Dimensions size;
  parse(opcode().parts[at_shape], size);
  const u32 rows = std::min(size.m, 16u);
  const std::string name = fmt::format("mma.m{}n8k{}.{}", rows, size.k, types);
  const WmmaTiles tiles{size.m / rows, size.n / 8};
  const bool known = size.k == 16 ? size.m * size.n == 256 : size.m == 8 && size.n == 8;
  if (!known || !find_operation(name)) refuse(std::string(kKnownWmma));
  const u32 of_a = rows / 8, of_c = rows / 4;  // registers of a tile
  const std::size_t counts[] = {of_c * tiles.down * tiles.across, of_a * tiles.down, tiles.across,
                                of_c * tiles.down * tiles.across};
  need_registers(counts);
  const RegisterClass type = types == "f64.f64" ? RegisterClass::k64 : RegisterClass::k32;
  // All sources before the first result: D may be C, and any register of A.
  std::vector<Value> values[4];
  for (std::size_t o = 1; o < 4; ++o) {
    for (const Operand& e : operand(o).elements) values[o].push_back(source(e, type));
  }
  std::vector<Value> sums;
  for (u32 tile = 0; tile < tiles.down * tiles.across; ++tile) {
    const u32 down = tiles.down > 1 ? tile : 0, across = tiles.down > 1 ? 0 : tile;
    std::vector<Value> results, sources;
    for (u32 i = 0; i < of_a; ++i) sources.push_back(values[1][of_a * down + i]);
    sources.push_back(values[2][across]);
    for (u32 i = 0; i < of_c; ++i) sources.push_back(values[3][of_c * tile + i]);
    for (u32 i = 0; i < of_c; ++i) results.push_back(temporary(type));
    const u32 pc = emit(name, tile != 0);
    list_values(pc, results, sources);
    at(pc).sub = saturates ? 1 : 0;
    sums.insert(sums.end(), results.begin(), results.end());
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    destination(emit(move_of(type), {sums[i]}, true), operand(0).elements[i], type);
  }
}

// Where wmma.load and .store find a fragment's elements.
struct FunctionLowering::WmmaForm {
  Dimensions size;
  u32 rows = 0, columns = 0;  // of the matrix in memory, in units
  u32 bytes = 0;              // of a unit: an element, or a word of narrower ones
  u32 per_register = 1;       // units
  u32 stride_shift = 0;       // elements per unit of the leading dimension, as a power of 2
  WmmaFragment fragment = WmmaFragment::kOwn;
  RegisterClass type = RegisterClass::k32;
  std::size_t registers = 0;
};

FunctionLowering::WmmaForm FunctionLowering::wmma_form() const {
  const auto parts = opcode().parts;
  WmmaForm f;
  if (!parse(parts[6], f.size)) refuse(std::string(kKnownWmma));
  const std::string_view matrix = parts[2], type = parts.back();
  const bool factor = matrix == "a" || matrix == "b", by_column = parts[5] == "col";
  const Dimensions& size = f.size;
  f.rows = matrix == "b" ? size.k : size.m;
  f.columns = matrix == "a" ? size.k : size.n;
  f.bytes = std::max(bits_of(type) / 8, 1u);
  const bool square = size.m == 16 && size.n == 16, small = size.m == 8 && size.n == 8;
  const bool wide = size.k == 16 && (square || size.m * size.n == 256) &&
                    is_any_of(parts[6], {"m16n16k16", "m32n8k16", "m8n32k16"});
  const u32 elements = f.rows * f.columns;
  bool known = false;
  if (factor && is_any_of(type, {"s8", "u8"})) {
    known = wide;
    f.per_register = 4;
    f.registers = elements / kLanes / 4;
  } else if (factor && (is_any_of(type, {"s4", "u4"}) || type == "b1")) {
    // Rows of A and columns of B are words in memory.
    f.stride_shift = type == "b1" ? 5 : 3;
    known = small && size.k == 4u << f.stride_shift && by_column == (matrix == "b");
    f.bytes = 4;
    (matrix == "a" ? f.columns : f.rows) >>= f.stride_shift;
    f.registers = 1;
  } else if (type == "f64") {
    known = small && size.k == 4;
    f.type = RegisterClass::k64;
    f.registers = elements / kLanes;
  } else if (!factor && type == "s32") {
    known = wide || (small && (size.k == 32 || size.k == 128));
    f.registers = elements / kLanes;
  } else if (factor ? is_any_of(type, {"f16", "bf16", "tf32"}) : is_any_of(type, {"f16", "f32"})) {
    known =
        type == "tf32" ? square && size.k == 8 : wide || (type == "f32" && square && size.k == 8);
    f.per_register = f.bytes == 2 ? 2 : 1;
    f.registers = factor && type == "f16" ? 8 : registers_of(elements, type);
  }
  if (!known || (!factor && matrix != (parts[1] == "store" ? "d" : "c")))
    refuse(std::string(kKnownWmma));
  if (is_any_of(type, {"s8", "u8", "s4", "u4", "b1", "f64", "s32"})) {
    f.fragment = matrix == "a"   ? WmmaFragment::kA
                 : matrix == "b" ? WmmaFragment::kB
                                 : WmmaFragment::kC;
  }
  return f;
}

// wmma.load.a|b|c.sync.aligned.LAYOUT.SHAPE{.space}.TYPE r, [p]{, stride};
// wmma.store.d.sync.aligned.LAYOUT.SHAPE{.space}.TYPE [p], r{, stride};
// One load or store an element, at addresses computed for each.
void FunctionLowering::wmma_move(bool stores) {
  const auto parts = opcode().parts;
  if (parts.size() < 8 || parts[3] != "sync" || parts[4] != "aligned") {
    refuse(std::string(kKnownWmma));
  }
  const WmmaForm form = wmma_form();
  std::string space = "generic";
  for (std::size_t i = 7; i + 1 < parts.size(); ++i) {
    if (parts[i] == "global")
      space = "global";
    else if (is_any_of(parts[i], {"shared", "shared::cta"}))
      space = "shared";
    else
      refuse(fmt::format("modifier .{}", parts[i]));
  }
  const bool by_column = parts[5] == "col";
  const Operand& where = operand(stores ? 0 : 1);
  const Operand& what = operand(stores ? 1 : 0);
  if (what.kind != Kind::kVector || what.elements.size() != form.registers)
    refuse("another number of registers");
  const Operand& base = base_of(where);
  const Value from = base.kind == Kind::kRegister ? named(base) : source(base, RegisterClass::k64);
  Value line = operand_count() > 2
                   ? source(operand(2), RegisterClass::k32)
                   : constant((by_column ? form.rows : form.columns) << form.stride_shift,
                              RegisterClass::k32);
  emit("warp.whole");
  if (form.stride_shift != 0) {
    line = computed("shr.u32", {line, constant(form.stride_shift, RegisterClass::k32)},
                    RegisterClass::k32);
  }
  for (std::size_t r = 0; r < form.registers; ++r) {
    const Value whole = stores                      ? source(what.elements[r], form.type)
                        : is_sink(what.elements[r]) ? temporary(form.type)
                                                    : named(what.elements[r]);
    if (whole.type != form.type) refuse("its registers have another size");
    Value pieces[4] = {whole, whole, whole, whole};
    for (u32 e = 0; e < form.per_register; ++e) {
      const u64 i = r * form.per_register + e;
      const u32 address =
          emit(from.type == RegisterClass::k32 ? "wmma.address32" : "wmma.address", true);
      const Value there = temporary(RegisterClass::k64);
      at(address).imm = static_cast<i64>(i | form.columns << 8 | form.rows << 16 |
                                         u64{form.bytes} << 24 | u64{by_column} << 32);
      at(address).sub = static_cast<u8>(form.fragment);
      read(address, Field::kS0, from);
      read(address, Field::kS1, line);
      write(address, Field::kD, there);
      if (form.per_register > 1) {
        pieces[e] = temporary(form.bytes == 2 ? RegisterClass::k16 : RegisterClass::k32);
        if (stores) convert(unpack_half(e), {whole}, pieces[e]);
      }
      const u32 width = register_bytes(pieces[e].type);
      const std::string bits =
          width == form.bytes ? std::to_string(form.bytes) + "x1" : std::string("any");
      const u32 pc =
          emit(fmt::format("{}.{}.{}", stores ? "st" : "ld", space, bits), {there}, true);
      at(pc).site = program_.sites++;
      at(pc).bytes = static_cast<u8>(form.bytes);
      at(pc).width = static_cast<u8>(width);
      at(pc).imm = where.offset;
      if (stores) at(pc).flags |= kFlagStore;
      if (stores)
        read(pc, Field::kD, pieces[e]);
      else
        write(pc, Field::kD, pieces[e]);
    }
    if (stores || form.per_register == 1) continue;
    if (form.per_register == 4) {
      gather_bytes(pieces, whole);
      continue;
    }
    convert("pack.16x2", {pieces[0], pieces[1]}, whole);
  }
}

// The four bytes that registers hold in one.
void FunctionLowering::gather_bytes(std::span<const Value, 4> bytes, const Value& to) {
  const Value two = constant(0x0040, RegisterClass::k32),
              four = constant(0x5410, RegisterClass::k32);
  const Value low = computed("prmt.b32", {bytes[0], bytes[1], two}, RegisterClass::k32);
  const Value high = computed("prmt.b32", {bytes[2], bytes[3], two}, RegisterClass::k32);
  convert("prmt.b32", {low, high, four}, to);
}

}  // namespace vgpu::ptx
