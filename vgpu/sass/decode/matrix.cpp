// SPDX-License-Identifier: Apache-2.0
// Warp-level matrix instructions.

#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

// Bits 72 and 73: one, two or four matrices of 8 x 8. Bit 78: transposed.
void matrices(Reader& r) {
  r.suffix(".16");
  r.insn.high = r.named(78, 1, {".M88", ".MT88"}) != 0;
  static constexpr std::uint8_t kCounts[] = {1, 2, 4};
  r.insn.mode = kCounts[r.named(72, 2, {"", ".2", ".4"})];
  r.insn.bytes = 16;  // per row
}

// The metadata of a sparse product and the number of the threads that have it.
void add_metadata(Reader& r) { r.add({r.general_at(40), Reader::immediate(r.field(48, 2))}); }

}  // namespace

// D = A B + C with C of 16 x 8; `shift` is k. `wrap`: A is sparse.
void decode_hmma(Reader& r) {
  const bool sparse = r.bit(73), deeper = r.bit(75), flatter = r.bit(78);
  r.insn.wrap = r.suffix_if(sparse, ".SP");
  const std::uint64_t type = r.field(82, 2);
  if (type == 3) r.refuse("an unknown type");
  const bool deepest = deeper && flatter;
  if (deepest ? !sparse : sparse && (flatter || (!deeper && type != 2)))
    r.refuse("an unknown shape");
  r.insn.shift = deepest ? 32 : deeper ? 16 : flatter ? 4 : 8;
  r.suffix(deepest ? ".16832" : deeper ? ".16816" : flatter ? ".1684" : ".1688");
  r.insn.type = r.named(76, 1, {".F16", ".F32"}) != 0 ? kF32 : kF16;
  static constexpr std::uint8_t kTypes[] = {kF16, kBf16, kTf32};
  r.insn.source_type = kTypes[type];
  r.suffix_if(type == 1, ".BF16");
  r.suffix_if(type == 2, ".TF32");
  r.add({r.general_at(16), r.general_at(24), r.general_at(32), r.general_at(64)});
  if (sparse) add_metadata(r);
}

static void integer_operands(Reader& r) {
  r.expect(73, 1, {0});
  r.expect(74, 1, {1});
  r.add({r.general_at(16), r.general_at(24)});
  r.add_behind(".ROW");
  r.add(r.general_at(32));
  r.add_behind(".COL");
  r.add(r.general_at(64));
}

// D = A B + C of 8-bit floating-point numbers. `shift` is k; `type` and `source_type` are those of
// A and B; `high`: the sums have single precision; `wrap`: A is sparse.
void decode_qmma(Reader& r) {
  const bool sparse = r.insn.wrap = r.suffix_if(r.bit(80), ".SP"), names = r.architecture() < 90;
  r.expect(74, 1, {1});
  r.expect(76, 1, {sparse});
  const bool deep = r.bit(75);
  if (sparse && deep) r.refuse("an unknown shape");
  r.insn.shift = sparse ? 64 : deep ? 32 : 16;
  r.suffix(sparse ? ".16864" : deep ? ".16832" : ".16816");
  r.insn.high = r.named(77, 1, {".F16", ".F32"}) != 0;
  r.insn.type = r.named(78, 1, {".E4M3", ".E5M2"}) != 0 ? kE5m2 : kE4m3;
  r.insn.source_type = r.named(79, 1, {".E4M3", ".E5M2"}) != 0 ? kE5m2 : kE4m3;
  r.add({r.general_at(16), r.general_at(24)});
  if (names) r.add_behind(".ROW");
  r.add(r.general_at(32));
  if (names) r.add_behind(".COL");
  r.add(r.general_at(64));
  if (sparse) add_metadata(r);
}

// D = A B + C in integers with C of `mode` x 8. `wrap`: A is sparse.
void decode_imma(Reader& r) {
  static constexpr struct {
    std::uint8_t rows, depth, bits;
    const char* name;
  } kShapes[] = {{8, 16, 8, ".8816"},   {},
                 {8, 32, 4, ".8832"},   {},
                 {16, 16, 8, ".16816"}, {16, 32, 8, ".16832"},
                 {16, 64, 4, ".16864"}, {}},
    kSparse[] = {
        {}, {}, {}, {}, {}, {16, 32, 8, ".16832"}, {16, 64, 8, ".16864"}, {16, 128, 4, ".168128"}};
  const std::uint64_t shape = r.field(85, 2) << 1 | r.field(75, 1);
  const bool narrow = r.architecture() < 90 && r.field(83, 2) != 0;  // both factors have 4 bits
  if (narrow) r.expect(83, 2, {3});
  const bool sparse = r.bit(72);
  r.insn.wrap = r.suffix_if(sparse, ".SP");
  const auto& of = (sparse ? kSparse : kShapes)[shape];
  if (of.rows == 0) r.refuse("an unknown shape");
  // The middle one of 16 rows exists for 4 bits, too.
  const bool halved = shape == (sparse ? 6 : 5) && narrow;
  if (!halved && (of.bits == 4) != narrow) r.refuse("a shape of another type");
  r.insn.mode = of.rows;
  r.insn.shift = of.depth;
  r.insn.type = narrow ? 4 : 8;
  r.suffix(of.name);
  r.insn.is_signed = r.named(76, 2, {".U", ".S"}) != 0;
  r.suffix(narrow ? "4" : "8");
  r.insn.high = r.named(78, 2, {".U", ".S"}) != 0;  // B is signed
  r.suffix(narrow ? "4" : "8");
  r.insn.saturate = r.suffix_if(r.bit(82), ".SAT");
  integer_operands(r);
  if (sparse) add_metadata(r);
}

// The same of single bits; a product is the number of common ones, or (`wrap`) of different bits.
void decode_bmma(Reader& r) {
  const std::uint8_t shape = r.named(75, 2, {".88128", ".168128", ".168256"});
  r.insn.mode = shape == 0 ? 8 : 16;
  r.insn.shift = shape == 2 ? 256 : 128;
  r.insn.wrap = r.named(77, 2, {r.architecture() < 90 ? ".XOR" : nullptr, nullptr, ".AND"}) == 0;
  r.expect(80, 1, {1});
  r.suffix(".POPC");
  integer_operands(r);
}

// D = A B + C in FP64 with C of `mode` x 8.
void decode_dmma(Reader& r) {
  const bool first = r.architecture() < 90;
  const std::uint8_t shape = r.named(76, 2,
                                     {first ? ".884" : ".8x8x4", first ? nullptr : ".16x8x4",
                                      first ? nullptr : ".16x8x8", first ? nullptr : ".16x8x16"});
  r.insn.mode = shape == 0 ? 8 : 16;
  r.insn.shift = static_cast<std::uint16_t>(shape == 0 ? 4 : 2 << shape);
  r.add({r.general_at(16), r.general_at(24), r.general_at(32), r.general_at(64)});
}

void decode_ldsm(Reader& r) {
  matrices(r);
  r.add({r.general_at(16), near_address(r, 32)});
}

void decode_stsm(Reader& r) {
  matrices(r);
  r.add({near_address(r, 64), r.general_at(32)});
}

void decode_movm(Reader& r) {
  r.suffix(".16.MT88");
  r.add({r.general_at(16), r.general_at(24)});
}

}  // namespace vgpu::sass
