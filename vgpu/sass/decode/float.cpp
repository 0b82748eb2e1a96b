// SPDX-License-Identifier: Apache-2.0
// Single- and double-precision floating point.
#include <array>

#include "sass/decode/families.hpp"

namespace vgpu::sass {
void float_compare_at(Reader& r) {
  // DSETP has .MIN and .MAX instead of .F and .T.
  const bool doubles = r.insn.op == Op::kDsetp;
  r.insn.compare = static_cast<Compare>(
      r.named(76, 4,
              {doubles ? ".MIN" : ".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM", ".NAN",
               ".LTU", ".EQU", ".LEU", ".GTU", ".NEU", ".GEU", doubles ? ".MAX" : ".T"}));
}

void extremes_at(Reader& r) {
  r.insn.high = r.suffix_if(r.bit(81), ".NAN");
  r.insn.wrap = r.suffix_if(r.bit(82), ".XORSIGN");
}

void decode_ffma(Reader& r) {
  r.flush_single();
  r.rounding_at(78);
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add({r.reg(16), r.a(kBoth), r.b(kBoth), r.c(kBoth)});
}

// FADD, FMUL.
void decode_fadd(Reader& r) {
  r.flush_single();
  if (r.insn.op == Op::kFmul) {
    r.insn.mode = r.named(84, 3, {nullptr, ".D8", ".D4", ".D2", "", ".M2", ".M4", ".M8"});
  }
  r.rounding_at(78);
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add({r.reg(16), r.a(kBoth), r.second(kBoth)});
}

// FMNMX, FSEL: the predicate selects the result.
void decode_fsel(Reader& r) {
  r.flush_single();
  if (r.insn.op == Op::kFmnmx) extremes_at(r);
  r.add({r.reg(16), r.a(kBoth), r.second(kBoth), r.predicate_at(87, 90)});
}

// FSETP, DSETP.
void decode_fsetp(Reader& r) {
  r.literal = r.insn.op == Op::kDsetp ? Reader::Literal::kDouble : Reader::Literal::kSingle;
  float_compare_at(r);
  r.insn.flush = r.insn.op == Op::kFsetp && r.suffix_if(r.bit(80), ".FTZ");
  r.combine_at(74);
  r.add({r.predicate_at(81), r.predicate_at(84)});
  r.add({r.a(kBoth), r.second(kBoth), r.predicate_at(87, 90)});
}

// The result is 1.0 or 0.
void decode_fset(Reader& r) {
  r.suffix(".BF");
  float_compare_at(r);
  r.flush_single();
  r.combine_at(74);
  r.add({r.reg(16), r.a(kBoth), r.second(kBoth), r.predicate_at(87, 90)});
}

// a + b, whose signs depend on the lane's place in its quad (four consecutive lanes): one pair of
// signs per place, the first lane's in the highest bits. Z: a counts as 0.
void decode_fswzadd(Reader& r) {
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.rounding_at(78);
  r.insn.high = r.suffix_if(r.bit(77), ".NDV");
  r.add({r.general_at(16), r.general_at(24), r.general_at(64)});
  r.insn.mode = r.byte(32, 8);
  std::string signs;
  for (int place = 3; place >= 0; --place)
    signs += std::array{"PP", "PN", "NP", "ZP"}[r.insn.mode >> 2 * place & 3];
  r.add_text(signs);
}

void decode_fchk(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.add({r.predicate_at(81), r.a(kBoth), r.second(kBoth)});
}

void decode_mufu(Reader& r) {
  r.insn.mode = r.named(
      74, 6,
      {".COS", ".SIN", ".EX2", ".LG2", ".RCP", ".RSQ", ".RCP64H", ".RSQ64H", ".SQRT", ".TANH"});
  r.literal =
      r.insn.mode == 6 || r.insn.mode == 7 ? Reader::Literal::kDouble : Reader::Literal::kSingle;
  constexpr std::uint8_t kTypes[] = {0, kF16, kBf16};
  r.insn.type = kTypes[r.named(72, 2, {"", ".F16", ".BF16"})];
  r.unused(24);
  r.add(r.reg(16));
  Operand a = r.second(kBoth);
  if (r.insn.type != 0 && r.bit(60)) a.half = Half::kUpper;
  r.add(a);
}

void decode_dfma(Reader& r) {
  r.literal = Reader::Literal::kDouble;
  r.rounding_at(78);
  r.add({r.reg(16), r.a(kBoth), r.b(kBoth), r.c(kBoth)});
}

void decode_dmul(Reader& r) {
  r.literal = Reader::Literal::kDouble;
  r.rounding_at(78);
  r.add({r.reg(16), r.a(kBoth), r.second(kBoth)});
}

// The second operand is encoded as c.
void decode_dadd(Reader& r) {
  r.literal = Reader::Literal::kDouble;
  r.rounding_at(78);
  if (r.form() == 1) r.unused(32);
  r.add({r.reg(16), r.a(kBoth), r.c(kBoth)});
}

}  // namespace vgpu::sass
