// SPDX-License-Identifier: Apache-2.0
// Conversions. Types: 0 to 3 integers of 8, 16, 32 and 64 bits; 1 F16, 2 F32, 3 F64, 4 BF16, 5
// TF32.
#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

void integer_type(Reader& r, std::uint8_t size, bool is_signed) {
  static constexpr const char* kSizes[] = {"8", "16", "32", "64"};
  if (size == 2 && is_signed) return;
  r.suffix(is_signed ? ".S" : ".U");
  r.suffix(kSizes[size]);
}

// A floating-point source; a 16-bit one is in the lower or upper half of its register.
void add_source(Reader& r) {
  r.unused(24);
  Operand a = r.second();
  r.modify_low(a, kBoth);
  const bool narrow = r.insn.source_type == 1 || r.insn.source_type == 4;
  if (narrow && a.kind != Kind::kImmediate) {
    const std::uint64_t half = r.field(60, 2);
    if (half > 1) r.refuse("a half that is neither");
    if (half == 1) a.half = Half::kUpper;
  }
  r.add(a);
}

}  // namespace

void decode_i2f(Reader& r) {
  r.unused(24);
  r.expect(60, 2, {0});
  r.insn.type = r.named(75, 3, {nullptr, ".F16", "", ".F64", ".BF16"});
  r.insn.source_type = static_cast<std::uint8_t>(r.field(84, 2));
  r.insn.is_signed = r.bit(74);
  integer_type(r, r.insn.source_type, r.insn.is_signed);
  r.rounding_at(78);
  r.add(r.reg(16));
  r.add(r.second());
}

void decode_f2i(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.type = static_cast<std::uint8_t>(r.field(75, 2));
  r.insn.is_signed = r.bit(72);
  integer_type(r, r.insn.type, r.insn.is_signed);
  r.insn.source_type = r.named(84, 3, {nullptr, ".F16", "", ".F64", ".BF16"});
  r.insn.rounding = r.named(78, 2, {"", ".FLOOR", ".CEIL", ".TRUNC"});
  r.insn.mode = r.suffix_if(r.bit(77), ".NTZ") ? 1 : 0;
  r.add(r.reg(16));
  add_source(r);
}

void decode_i2i(Reader& r) {
  r.insn.type = r.named(76, 2, {".U8.S32.SAT", ".S8.S32.SAT", ".U16.S32.SAT", ".S16.S32.SAT"});
  r.add(r.reg(16));
  add_source(r);
}

void decode_f2f(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.type = r.named(75, 3, {nullptr, ".F16", ".F32", ".F64", ".BF16"});
  r.insn.source_type = r.named(84, 3, {nullptr, ".F16", ".F32", ".F64", ".BF16"});
  r.rounding_at(78);
  r.add(r.reg(16));
  add_source(r);
}

void decode_frnd(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.type = r.named(75, 3, {nullptr, ".F16", "", ".F64", ".BF16"});
  r.insn.source_type = static_cast<std::uint8_t>(r.field(84, 3));
  if (r.insn.type != r.insn.source_type) r.refuse("types");
  r.insn.rounding = r.named(78, 2, {"", ".FLOOR", ".CEIL", ".TRUNC"});
  r.add(r.reg(16));
  add_source(r);
}

void decode_i2fp(Reader& r) {
  r.unused(24);
  r.expect(75, 3, {2});
  r.expect(84, 2, {2});
  r.insn.type = r.insn.source_type = 2;
  r.insn.is_signed = r.bit(74);
  r.suffix(r.insn.is_signed ? ".F32.S32" : ".F32.U32");
  r.insn.rounding = r.named(78, 2, {"", nullptr, nullptr, ".RZ"});
  r.add(r.reg(16));
  r.add(r.second());
}

// Converts two FP32 values to a pair of 16-bit values, the second operand to the lower half;
// `high`: negative values become zero. Or converts one FP32 value to TF32.
void decode_f2fp(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  if (r.field(76, 3) == kTf32) {
    r.unused(24);
    r.expect(86, 2, {1});
    r.expect(88, 3, {2});
    r.insn.type = kTf32;
    r.suffix(".TF32.F32.PACK_B");
    r.insn.rounding = r.named(79, 2, {"", nullptr, nullptr, ".RZ"});
    r.add(r.reg(16));
    Operand b = r.b();
    r.modify_b(b, kBoth);
    r.add(b);
    r.expect(64, 8, {kZeroRegister});
    return;
  }
  r.expect(86, 2, {0});
  r.expect(78, 1, {0});
  r.insn.saturate = r.suffix_if(r.bit(77), ".SATFINITE");
  r.insn.high = r.suffix_if(r.bit(75), ".RELU");
  r.insn.type = r.bit(76) ? 4 : 1;
  r.suffix(r.insn.type == 4 ? ".BF16.F32.PACK_AB" : ".F16.F32.PACK_AB");
  r.insn.rounding = r.named(79, 2, {"", nullptr, nullptr, ".RZ"});
  r.add(r.reg(16));
  Operand a = r.a(), b = r.b();
  r.modify_first(a, kBoth);
  r.modify_b(b, kBoth);
  r.add(a);
  r.add(b);
  r.expect(64, 8, {kZeroRegister});
}

}  // namespace vgpu::sass
