// SPDX-License-Identifier: Apache-2.0
// wgmma. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ir/wgmma.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {
namespace {

constexpr std::string_view kKnown =
    "known are m64nNk16 of .f16 and .bf16, m64nNk8 of .tf32, m64nNk32 of .e4m3, .e5m2, .s8 and "
    ".u8, and with .sp twice the k";

std::optional<WgmmaType> type_of(std::string_view name) {
  constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2",
                                         "s8",  "u8",   "f32",  "s32"};
  const auto found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<WgmmaType>(found - std::begin(kNames));
}

bool is_narrow(WgmmaType t) { return t == WgmmaType::kE4m3 || t == WgmmaType::kE5m2; }
bool is_integer(WgmmaType t) { return t == WgmmaType::kS8 || t == WgmmaType::kU8; }

bool types_fit(WgmmaType d, WgmmaType a, WgmmaType b) {
  if (is_integer(a)) return is_integer(b) && d == WgmmaType::kS32;
  if (is_narrow(a)) return is_narrow(b) && (d == WgmmaType::kF32 || d == WgmmaType::kF16);
  if (a != b || a > WgmmaType::kTf32) return false;
  return d == WgmmaType::kF32 || (d == WgmmaType::kF16 && a == WgmmaType::kF16);
}

// N of m64nNkK if K equals `depth`, else 0.
u32 columns_of(std::string_view shape, u32 depth) {
  constexpr std::string_view kBegin = "m64n";
  if (!shape.starts_with(kBegin)) return 0;
  u32 n = 0;
  const char* const end = shape.data() + shape.size();
  const auto [rest, error] = std::from_chars(shape.data() + kBegin.size(), end, n);
  const bool fits =
      error == std::errc() &&
      std::string_view(rest, static_cast<std::size_t>(end - rest)) == fmt::format("k{}", depth);
  return fits && n % 8 == 0 && n <= 256 ? n : 0;
}

}  // namespace

void FunctionLowering::wgmma() {
  const auto parts = opcode().parts;
  if (!function_.is_entry) refuse("in a function that is not inlined into its kernel");
  const bool sparse = parts.size() > 2 && parts[2] == "sp";
  const std::size_t at_sync = sparse ? 3 : 2;
  if (parts.size() < at_sync + 2 || parts[at_sync] != "sync" || parts[at_sync + 1] != "aligned" ||
      (sparse && parts[1] != "mma_async"))
    refuse(std::string(kKnown));
  program_.warpgroups = true;
  if (parts[1] == "mma_async") {
    wgmma_product();
  } else if (parts[1] == "fence" || parts[1] == "commit_group") {
    emit(parts[1] == "fence" ? "wgmma.fence" : "wgmma.commit_group");
  } else if (parts[1] == "wait_group") {
    emit_wait("wgmma.wait_group");
  } else {
    refuse();
  }
}

// wgmma.mma_async{.sp}.sync.aligned.SHAPE.D{.satfinite}.A.B d, a, b-desc{, sp-meta, sp-sel},
// scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}}; a: a descriptor, or four
// registers (then without imm-trans-a). Integers have neither scales of a and b nor transposition.
void FunctionLowering::wgmma_product() {
  const auto parts = opcode().parts;
  const bool sparse = parts[2] == "sp";
  const std::size_t at_shape = sparse ? 5 : 4;
  std::vector<std::string_view> types;  // the assembler takes .satfinite at any place
  for (std::size_t i = at_shape + 1; i < parts.size(); ++i) {
    if (parts[i] != "satfinite") types.push_back(parts[i]);
  }
  const bool saturates = parts.size() != at_shape + 1 + types.size();
  if (types.size() != 3 || parts.size() > at_shape + 5) refuse(std::string(kKnown));
  const auto d = type_of(types[0]), a = type_of(types[1]), b = type_of(types[2]);
  if (!d || !a || !b || !types_fit(*d, *a, *b) || (saturates && !is_integer(*a)))
    refuse(std::string(kKnown));
  const u32 kind = sparse ? kWgmmaSparse : 0;
  const u32 n = columns_of(parts[at_shape], wgmma_depth(*a, kind));
  if (n == 0 || (is_integer(*a) && n > 32 && n % 16 != 0))
    refuse("the shape: " + std::string(kKnown));

  const Operand& sums = operand(0);
  const bool registers = operand(1).kind == Kind::kVector;
  const u32 count = wgmma_registers_of_d(*d, n);
  if (sums.kind != Kind::kVector || sums.elements.size() != count ||
      (registers && operand(1).elements.size() != 4)) {
    refuse("another number of registers");
  }
  const bool sixteen = wgmma_bytes(*a) == 2;
  const std::size_t at_scale = sparse ? 5 : 3;
  const std::size_t operands = at_scale + (is_integer(*a) ? 1 : !sixteen ? 3 : registers ? 4 : 5);
  if (operand_count() != operands) refuse("another number of operands");
  u8 flags =
      static_cast<u8>((registers ? kWgmmaRegisters : 0) | (saturates ? kWgmmaSaturate : 0) | kind);
  if (sparse) {
    const u32 selectors = wgmma_metadata(*a).selectors();
    const Operand& selector = operand(4);
    if (selector.kind != Kind::kInteger || selector.integer() < 0 ||
        selector.integer() >= selectors)
      refuse(fmt::format("its sparsity selector must be a number from 0 to {}", selectors - 1));
    if (selector.integer() == 1) flags |= kWgmmaSecondPair;
  }
  const auto option = [&](std::size_t i, i64 on, i64 off, u8 flag) {
    if (operand(i).kind != Kind::kInteger ||
        (operand(i).integer() != on && operand(i).integer() != off)) {
      refuse(fmt::format("an immediate must be {} or {}", on, off));
    }
    if (operand(i).integer() == on) flags |= flag;
  };
  if (!is_integer(*a)) {
    option(at_scale + 1, -1, 1, kWgmmaNegateA);
    option(at_scale + 2, -1, 1, kWgmmaNegateB);
  }
  if (sixteen && !registers) option(at_scale + 3, 1, 0, kWgmmaTransposeA);
  if (sixteen) option(operands - 1, 1, 0, kWgmmaTransposeB);

  const Value first = registers ? Value{} : source(operand(1), RegisterClass::k64);
  const Value second = source(operand(2), RegisterClass::k64);
  const Value metadata = sparse ? source(operand(3), RegisterClass::k32) : Value{};
  const Value scale = operand(at_scale).kind == Kind::kInteger
                          ? predicate_constant(operand(at_scale).integer() != 0)
                          : source(operand(at_scale), RegisterClass::kPredicate);
  const u32 pc = emit("wgmma.mma_async");
  at(pc).imm = n;
  at(pc).bytes = static_cast<u8>(*a);
  at(pc).width = static_cast<u8>(*b);
  at(pc).vector = static_cast<u8>(*d);
  at(pc).sub = flags;
  if (!registers) read(pc, Field::kS0, first);
  read(pc, Field::kS1, second);
  read(pc, Field::kS2, scale);
  // D is updated in place.
  const u32 of_a = registers ? 4 : 0;
  const u32 list = begin_list(pc, count + of_a + (sparse ? 1 : 0));
  for (u32 i = 0; i < count; ++i) {
    const Value to = named(sums.elements[i]);
    if (to.type != RegisterClass::k32) refuse("its destination has another size");
    uses_.push_back({pc, to.index, false, false});
    write(pc, Field::kLists, to, list + i);
  }
  for (u32 i = 0; registers && i < 4; ++i) {
    read(pc, Field::kLists, source(operand(1).elements[i], RegisterClass::k32), list + count + i);
  }
  if (sparse) read(pc, Field::kLists, metadata, list + count + of_a);
}

}  // namespace vgpu::ptx
