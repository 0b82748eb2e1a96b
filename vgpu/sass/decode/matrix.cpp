// SPDX-License-Identifier: Apache-2.0
// Warp-level matrix instructions.
#include "sass/decode/addresses.hpp"
#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

// Types of A and B: 1 F16, 4 BF16, 5 TF32. Types of C and D: 1 F16, 2 F32.
constexpr std::uint8_t kHalf = 1, kSingle = 2, kBfloat = 4;

// Bits 72 and 73: one, two or four matrices of 8 x 8. Bit 78: transposed.
void matrices(Reader& r) {
  r.suffix(".16");
  r.insn.high = r.bit(78);
  r.suffix(r.insn.high ? ".MT88" : ".M88");
  static constexpr std::uint8_t kCounts[] = {1, 2, 4};
  r.insn.mode = kCounts[r.named(72, 2, {"", ".2", ".4"})];
  r.insn.bytes = 16;  // per row
}

}  // namespace

// D = A B + C with C of 16 x 8; `shift` is k.
void decode_hmma(Reader& r) {
  const bool deeper = r.bit(75), flatter = r.bit(78);
  if (deeper && flatter) r.refuse("an unknown shape");
  const std::uint64_t type = r.field(82, 2);
  if (type == 3) r.refuse("an unknown type");
  r.insn.shift = deeper ? 16 : flatter ? 4 : 8;
  r.suffix(deeper ? ".16816" : flatter ? ".1684" : ".1688");
  r.insn.type = r.bit(76) ? kSingle : kHalf;
  r.suffix(r.insn.type == kSingle ? ".F32" : ".F16");
  static constexpr std::uint8_t kTypes[] = {kHalf, kBfloat, kTf32};
  r.insn.source_type = kTypes[type];
  r.suffix_if(type == 1, ".BF16");
  r.suffix_if(type == 2, ".TF32");
  r.add(r.general_at(16));
  r.add(r.general_at(24));
  r.add(r.general_at(32));
  r.add(r.general_at(64));
}

// D = A B + C in FP64 with C of 8 x 8 and k = 4.
void decode_dmma(Reader& r) {
  r.expect(76, 2, {0});
  r.suffix(".8x8x4");
  r.add(r.general_at(16));
  r.add(r.general_at(24));
  r.add(r.general_at(32));
  r.add(r.general_at(64));
}

void decode_ldsm(Reader& r) {
  matrices(r);
  r.add(r.general_at(16));
  r.add(near_address(r, 32));
}

void decode_stsm(Reader& r) {
  matrices(r);
  r.add(near_address(r, 64));
  r.add(r.general_at(32));
}

void decode_movm(Reader& r) {
  r.suffix(".16.MT88");
  r.add(r.general_at(16));
  r.add(r.general_at(24));
}

}  // namespace vgpu::sass
