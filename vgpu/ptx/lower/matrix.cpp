// SPDX-License-Identifier: Apache-2.0
// mma, mma.sp, ldmatrix, stmatrix, movmatrix. PTX ISA, "Warp Level Matrix Multiply-Accumulate
// Instructions".
#include <fmt/format.h>

#include "ir/sparse.hpp"
#include "ptx/lower/lowering.hpp"
#include "ptx/lower/matrix_shape.hpp"

namespace vgpu::ptx {
namespace {

constexpr std::string_view kKnownMma =
    "known are m16n8k4 and m16n8k8 of .tf32, m8n8k4 of .f16, m16n8k8 and m16n8k16 of .f16 and "
    ".bf16, m8n8k4, m16n8k4, m16n8k8 and m16n8k16 of .f64, m16n8k16 and m16n8k32 of .e4m3 and "
    ".e5m2, m8n8k16, m16n8k16 and m16n8k32 of .s8 and "
    ".u8, of .s4 and .u4 with k twice as large, of .b1 with k eight times as large";
constexpr std::string_view kKnownSparse =
    "known are m16n8k8 and m16n8k16 of .tf32, m16n8k16 and m16n8k32 of .f16 and .bf16, m16n8k64 of "
    ".e4m3 and .e5m2 with .f32, m16n8k32 and m16n8k64 of .s8 and .u8, of .s4 and .u4 with k twice "
    "as large";

}  // namespace

// Appends the registers of `operands` to Program::lists. The first operand is written.
void FunctionLowering::fragments(u32 pc, std::span<const Operand* const> operands,
                                 RegisterClass type, bool writes_first) {
  std::vector<Value> results, sources;
  for (std::size_t o = writes_first ? 1 : 0; o < operands.size(); ++o) {
    for (const Operand& e : operands[o]->elements) sources.push_back(source(e, type));
  }
  if (writes_first) {
    for (const Operand& e : operands[0]->elements) {
      results.push_back(is_sink(e) ? temporary(type) : named(e));
      if (results.back().type != type) refuse("its destination has another size");
    }
  }
  list_values(pc, results, sources);
}

void FunctionLowering::list_values(u32 pc, std::span<const Value> results,
                                   std::span<const Value> sources) {
  const u32 first = begin_list(pc, results.size() + sources.size());
  u32 next = first + static_cast<u32>(results.size());
  for (const Value& value : sources) read(pc, Field::kLists, value, next++);
  next = first;
  for (const Value& value : results) write(pc, Field::kLists, value, next++);
}

// mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C{.and.popc} d, a, b, c;
void FunctionLowering::mma() {
  const auto parts = opcode().parts;
  if (parts.size() > 1 && parts[1].starts_with("sp")) return sparse_mma();
  Dimensions size;
  const bool saturates = parts.size() > 6 && parts[6] == "satfinite";
  const bool nearest = parts.size() > 7 && parts[6] == "rn" && parts[7] == "f64";
  const std::size_t at_d = saturates || nearest ? 7 : 6;
  if (parts.size() == 10 && parts[3] == "m8n8k4" && parts[7] == "f16") return quad_products();
  if (parts.size() < at_d + 4 || parts[1] != "sync" || parts[2] != "aligned" ||
      !parse(parts[3], size) || parts[4] != "row" || parts[5] != "col")
    refuse(std::string(kKnownMma));
  const std::string_view of_d = parts[at_d], of_a = parts[at_d + 1], of_b = parts[at_d + 2];
  const bool bits = of_a == "b1", integers = of_d == "s32" && !bits;
  const bool bytes = is_any_of(of_a, {"e4m3", "e5m2"}) && is_any_of(of_b, {"e4m3", "e5m2"});
  if (parts[at_d + 3] != of_d || parts.size() != at_d + (bits ? 6 : 4) ||
      (bits && parts.back() != "popc") || (saturates && !integers) ||
      (!integers && !bytes && of_b != of_a))
    refuse(std::string(kKnownMma));
  const std::size_t counts[] = {
      registers_of(size.m * size.n, of_d), registers_of(size.m * size.k, of_a),
      registers_of(size.k * size.n, of_b), registers_of(size.m * size.n, of_d)};
  if (bytes) return product_of_bytes(fmt::format("mma.m16n8k{}.f16.{}", size.k / 2, of_d), counts);
  const std::string name = bits       ? fmt::format("mma.{}.b1.{}.s32", parts[3], parts[at_d + 4])
                           : integers ? fmt::format("mma.{}.{}.{}.s32", parts[3], of_a, of_b)
                                      : fmt::format("mma.{}.{}.{}", parts[3], of_a, of_d);
  if (!find_operation(name)) refuse(std::string(kKnownMma));
  const u32 pc =
      matrix_product(name, counts, of_d == "f64" ? RegisterClass::k64 : RegisterClass::k32);
  at(pc).sub = saturates ? 1 : 0;
}

// mma.sync.aligned.m8n8k4.ALAYOUT.BLAYOUT.D.f16.f16.C d, a, b, c; each eight threads have a
// product.
void FunctionLowering::quad_products() {
  const auto parts = opcode().parts;
  const std::string_view of_d = parts[6];
  const std::string name = fmt::format("mma.m8n8k4.f16.{}", of_d);
  for (const std::size_t layout : {4, 5}) {
    if (!is_any_of(parts[layout], {"row", "col"})) refuse(std::string(kKnownMma));
  }
  if (parts[8] != "f16" || parts[9] != of_d || !find_operation(name))
    refuse(std::string(kKnownMma));
  const std::size_t sums = of_d == "f16" ? 4 : 8, counts[] = {sums, 2, 2, sums};
  const u32 pc = matrix_product(name, counts, RegisterClass::k32);
  at(pc).sub = static_cast<u8>((parts[4] == "col" ? 1 : 0) | (parts[5] == "col" ? 2 : 0));
}

// mma.sp{::ordered_metadata}.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C d, a, b, c, e, f; e:
// metadata, f: which threads have them.
void FunctionLowering::sparse_mma() {
  const auto parts = opcode().parts;
  const bool ordered = parts[1] == "sp::ordered_metadata";
  const bool saturates = parts.size() > 7 && parts[7] == "satfinite";
  const std::size_t at_d = saturates ? 8 : 7;
  Dimensions size;
  if ((!ordered && parts[1] != "sp") || parts.size() != at_d + 4 || parts[2] != "sync" ||
      parts[3] != "aligned" || !parse(parts[4], size) || parts[5] != "row" || parts[6] != "col")
    refuse(std::string(kKnownSparse));
  const std::string_view of_d = parts[at_d], of_a = parts[at_d + 1], of_b = parts[at_d + 2];
  const bool alike = bits_of(of_a) > 8;  // A and B have one type, which is named once
  const std::string name = alike ? fmt::format("mma.sp.{}.{}.{}", parts[4], of_a, of_d)
                                 : fmt::format("mma.sp.{}.{}.{}.{}", parts[4], of_a, of_b, of_d);
  if (parts[at_d + 3] != of_d || (saturates && of_d != "s32") || (alike && of_b != of_a) ||
      !find_operation(name))
    refuse(std::string(kKnownSparse));
  const std::size_t counts[] = {
      registers_of(size.m * size.n, of_d), registers_of(size.m * size.k / 2, of_a),
      registers_of(size.k * size.n, of_b), registers_of(size.m * size.n, of_d)};
  const u32 width = of_a == "tf32" ? 2 : bits_of(of_a) == 4 ? 8 : 4;  // elements per chunk
  const SparseLayout layout{size.k / width, bits_of(of_a) <= 8};
  const Operand& selector = operand(5);
  if (selector.kind != Kind::kInteger || selector.integer() < 0 ||
      selector.integer() >= layout.selectors())
    refuse(
        fmt::format("its sparsity selector must be a number from 0 to {}", layout.selectors() - 1));
  const Value metadata = source(operand(4), RegisterClass::k32);
  const u32 pc = matrix_product(name, counts, RegisterClass::k32);
  at(pc).sub = static_cast<u8>((saturates ? kSparseSaturate : 0) | (ordered ? kSparseOrdered : 0));
  at(pc).imm = selector.integer();
  read(pc, Field::kS0, metadata);
}

void FunctionLowering::need_registers(std::span<const std::size_t> counts) const {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (operand(i).kind != Kind::kVector || operand(i).elements.size() != counts[i])
      refuse("another number of registers");
  }
}

// d, a, b, c with `counts` registers each.
u32 FunctionLowering::matrix_product(const std::string& name, std::span<const std::size_t> counts,
                                     RegisterClass type) {
  need_registers(counts);
  const Operand* const operands[] = {&operand(0), &operand(1), &operand(2), &operand(3)};
  const u32 pc = emit(name);
  fragments(pc, operands, type, true);
  return pc;
}

// Products of 8-bit numbers, as ptxas makes them for sm_90: the lower pairs of bytes of each
// register become f16 and are multiplied, then the upper ones; the sum is added to C. `name`: a
// product of f16 that is half as deep.
void FunctionLowering::product_of_bytes(const std::string& name,
                                        std::span<const std::size_t> counts) {
  if (opcode().parts[3] != "m16n8k16" && opcode().parts[3] != "m16n8k32")
    refuse(std::string(kKnownMma));
  need_registers(counts);
  const bool single = opcode().parts[6] == "f32";
  if (!single && opcode().parts[6] != "f16") refuse(std::string(kKnownMma));
  std::vector<Value> sums(counts[0], constant(0, RegisterClass::k32));
  for (u32 half = 0; half < 2; ++half) {
    std::vector<Value> sources;
    for (std::size_t o = 1; o < 3; ++o) {
      for (const Operand& e : operand(o).elements) {
        const Value pair = computed(fmt::format("unpack.32.16.{}", half),
                                    {source(e, RegisterClass::k32)}, RegisterClass::k16);
        sources.push_back(computed(fmt::format("cvt.rn.f16x2.{}x2", opcode().parts[6 + o]), {pair},
                                   RegisterClass::k32));
      }
    }
    sources.insert(sources.end(), sums.begin(), sums.end());
    for (Value& sum : sums) sum = temporary(RegisterClass::k32);
    list_values(emit(name, half != 0), sums, sources);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Value addend = source(operand(3).elements[i], RegisterClass::k32);
    destination(emit(single ? "add.rn.f32" : "add.rn.f16x2", {addend, sums[i]}, true),
                operand(0).elements[i], RegisterClass::k32);
  }
}

// ldmatrix.sync.aligned.m8n8.xN{.trans}{.shared}.b16 r, [p]; stmatrix the other way round.
void FunctionLowering::matrix_rows() {
  const auto parts = opcode().parts;
  const bool stores = opcode().base() == "stmatrix";
  bool shared = false, transposed = false;
  u32 count = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (is_any_of(part, {"shared", "shared::cta"}))
      shared = true;
    else if (part == "trans")
      transposed = true;
    else if (is_any_of(part, {"x1", "x2", "x4"}))
      count = static_cast<u32>(part[1] - '0');
    else if (!is_any_of(part, {"sync", "aligned", "m8n8", "b16"}))
      refuse(fmt::format("modifier .{}", part));
  }
  const Operand& where = operand(stores ? 0 : 1);
  const Operand& what = operand(stores ? 1 : 0);
  base_of(where);
  if (count == 0 || what.kind != Kind::kVector || what.elements.size() != count) {
    refuse("another number of registers");
  }
  const u32 pc = emit(stores ? "stmatrix" : "ldmatrix");
  at(pc).site = program_.sites++;
  at(pc).vector = static_cast<u8>(count);
  at(pc).bytes = 16;
  at(pc).sub = transposed ? 1 : 0;
  if (stores) at(pc).flags |= kFlagStore;
  if (!shared) at(pc).flags |= kFlagGeneric;
  address(pc, where);
  const Operand* const operands[] = {&what};
  fragments(pc, operands, RegisterClass::k32, !stores);
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a;
void FunctionLowering::movmatrix() {
  if (opcode().text != "movmatrix.sync.aligned.m8n8.trans.b16") refuse();
  const Value from = source(operand(1), RegisterClass::k32);
  destination(emit("movmatrix", {from}), operand(0), RegisterClass::k32);
}

}  // namespace vgpu::ptx
