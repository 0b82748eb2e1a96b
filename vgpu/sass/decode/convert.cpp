// SPDX-License-Identifier: Apache-2.0
// Conversions. Types: 0 to 3 integers of 8, 16, 32 and 64 bits; floating point: instruction.hpp.
#include <iterator>
#include <string>

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
  Operand a = r.second(kBoth);
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
  r.insn.type = r.named(75, 3, {nullptr, ".F16", "", ".F64", ".BF16"});
  r.insn.source_type = r.byte(84, 2);
  r.insn.is_signed = r.bit(74);
  integer_type(r, r.insn.source_type, r.insn.is_signed);
  r.rounding_at(78);
  r.add(r.reg(16));
  Operand a = r.second();
  const std::uint64_t part = r.field(60, 2);
  if (part > (r.insn.source_type == 0 ? 3u : r.insn.source_type == 1 ? 1u : 0u))
    r.refuse("a part that the source has not");
  if (part != 0) {
    a.half = r.insn.source_type == 1
                 ? Half::kUpper
                 : static_cast<Half>(static_cast<unsigned>(Half::kByte1) + part - 1);
  }
  r.add(a);
}

void decode_f2i(Reader& r) {
  r.flush_single();
  r.insn.type = r.byte(75, 2);
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
  r.flush_single();
  r.insn.type = r.named(75, 3, {nullptr, ".F16", ".F32", ".F64", ".BF16"});
  r.insn.source_type = r.named(84, 3, {nullptr, ".F16", ".F32", ".F64", ".BF16"});
  r.rounding_at(78);
  r.add(r.reg(16));
  add_source(r);
}

void decode_frnd(Reader& r) {
  r.flush_single();
  r.insn.type = r.named(75, 3, {nullptr, ".F16", "", ".F64", ".BF16"});
  r.insn.source_type = r.byte(84, 3);
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
  r.insn.is_signed = r.named(74, 1, {".F32.U32", ".F32.S32"}) != 0;
  r.insn.rounding = r.named(78, 2, {"", nullptr, nullptr, ".RZ"});
  r.add({r.reg(16), r.second()});
}

// Packs two FP32 values (PACK_AB), packs or unpacks one operand (PACK_B, UNPACK_B), or joins 16
// bits of results with a half of c (MERGE_C). `high`: negative values become zero.
void decode_f2fp(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  constexpr std::uint8_t kResults[] = {kF16, kBf16, 0, kTf32, kE5m2, kE4m3};
  constexpr const char* kResultNames[] = {".F16", ".BF16", nullptr, ".TF32", ".E5M2", ".E4M3"};
  constexpr std::uint8_t kSources[] = {kF32, kF16, kE5m2, kE4m3};
  constexpr const char* kSourceNames[] = {".F32", ".F16", ".E5M2", ".E4M3"};
  const std::uint64_t result = r.field(86, 2) << 1 | r.field(76, 1), from = r.field(73, 2);
  if (result >= std::size(kResults) || kResultNames[result] == nullptr) r.refuse("a result's type");
  r.insn.type = kResults[result];
  r.insn.source_type = kSources[from];
  const bool singles = r.insn.source_type == kF32;
  r.insn.saturate = r.suffix_if(r.bit(77), ".SATFINITE");
  r.insn.high = r.suffix_if(r.bit(75), ".RELU");
  const bool named = r.architecture() >= 89;  // before, the disassembler omits what is usual
  r.suffix_if(named || r.insn.type != kF16, kResultNames[result]);
  r.suffix_if(named || !singles, kSourceNames[from]);
  enum { kPair, kOne, kMerged };
  const std::uint64_t mode = r.field(89, 2);
  if (mode > kMerged || (mode == kPair && !singles)) r.refuse("an unknown form");
  const bool joins = mode == kPair && r.bit(78);  // one number; the other half is c's
  if (!joins) {
    r.expect(78, 1, {singles && mode != kPair ? 1u : 0u});
    r.suffix(!singles ? ".UNPACK_B" : mode == kOne ? ".PACK_B" : ".PACK_AB");
  }
  r.suffix_if(mode == kMerged, "_MERGE_C");
  r.suffix_if(joins, ".MERGE_C");
  r.insn.rounding = r.named(79, 2, {"", nullptr, nullptr, ".RZ"});
  r.add(r.reg(16));
  if (singles && mode != kOne && !joins)
    r.add(r.a());
  else
    r.unused(24);
  Operand b = r.b();
  if (mode == kOne && !singles && r.bit(88)) b.half = Half::kUpper;
  r.add(b);
  if (mode == kMerged) {
    Operand c = r.c();
    if (r.bit(72)) c.half = Half::kUpper;
    r.add(c);
  } else if (joins) {
    if (r.reg(64).index != kZeroRegister) r.refuse("a half of a register that is kept");
    r.add(Reader::general(kZeroRegister));
  } else {
    r.expect(64, 8, {kZeroRegister});
  }
}

// I2IP: two integers, clamped, and the lower bits of c above them.
void decode_i2ip(Reader& r) {
  static constexpr std::uint8_t kBits[] = {8, 16, 2, 4};
  const std::uint64_t size = r.field(77, 2);
  r.insn.type = kBits[size];
  r.insn.is_signed = r.named(76, 1, {".U", ".S"}) != 0;
  r.suffix(std::to_string(r.insn.type).c_str());
  r.suffix(".S32.SAT");
  r.expect(74, 1, {1});
  r.expect(72, 2, {size == 2 ? 3u : size == 3 ? 2u : 0u});
  r.add({r.reg(16), r.a(), r.b(), r.c()});
  if (size == 2) r.add_behind(".28");
  if (size == 3) r.add_behind(".24");
}

// F2IP: FP32 to a byte, with zeros above it.
void decode_f2ip(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.suffix(".U8.F32");
  r.insn.type = 0;
  r.insn.source_type = kF32;
  r.insn.rounding = r.named(78, 2, {"", ".FLOOR", ".CEIL", ".TRUNC"});
  r.expect(74, 1, {1});
  r.suffix(".NTZ");
  r.insn.mode = 1;
  r.expect(24, 8, {kZeroRegister});
  r.expect(64, 8, {kZeroRegister});
  r.add(r.reg(16));
  r.add_text("RZ");
  r.add(r.b());
  r.add_text("RZ");
}

}  // namespace vgpu::sass
