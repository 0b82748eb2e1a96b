// SPDX-License-Identifier: Apache-2.0
// Texture and surface instructions. The handle of the object is in a uniform register. Of the
// texels the first two that the mask selects are in consecutive registers, the others in further
// ones.
#include <fmt/format.h>

#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

constexpr std::uint8_t kAllChannels = 15;

// The object's handle; bits 46 to 58 have an offset, which is always 0.
void object_at(Reader& r) {
  r.expect(91, 1, {1});
  r.add(r.uniform_at(40));
  r.add_text("0x0");
}

// Bits 61 to 63.
void shape_at(Reader& r) {
  static constexpr const char* kShapes[] = {"1D",       "2D",       "3D",    "CUBE",
                                            "ARRAY_1D", "ARRAY_2D", nullptr, "ARRAY_CUBE"};
  r.insn.mode = static_cast<std::uint8_t>(r.field(61, 3));
  if (kShapes[r.insn.mode] == nullptr) r.refuse("an unknown shape");
  r.add_text(kShapes[r.insn.mode]);
}

void results_at(Reader& r) {
  r.add_written(r.predicate_at(81));  // whether the texels are resident
  r.add({r.general_at(64), r.general_at(16)});
}

void mask_at(Reader& r) {
  r.insn.table = static_cast<std::uint8_t>(r.field(72, 4));
  if (r.insn.table != kAllChannels) r.add_text(fmt::format("0x{:x}", r.insn.table));
}

enum : std::uint8_t { kLevelZero = 1, kLevelGiven = 3 };  // Instruction::type

// What follows the level's modifier.
void fetch(Reader& r) {
  r.expect(84, 3, {1});
  results_at(r);
  r.add(r.general_at(24));
  if (r.insn.type == kLevelZero)
    r.unused(32);
  else
    r.add(r.general_at(32));
  object_at(r);
  shape_at(r);
  mask_at(r);
}

}  // namespace

void decode_tex(Reader& r) {
  r.insn.type = r.named(87, 3, {nullptr, nullptr, nullptr, ".LL"});
  fetch(r);
}

void decode_tld(Reader& r) {
  r.insn.type = r.named(87, 3, {nullptr, ".LZ", nullptr, ".LL"});
  const bool clamps = r.suffix_if(r.bit(77), ".CL");
  if (clamps != (r.insn.type == kLevelGiven)) r.refuse("a level that is not clamped");
  fetch(r);
}

// With derivatives.
void decode_txd(Reader& r) { fetch(r); }

void decode_tld4(Reader& r) {
  r.insn.type = r.named(87, 2, {".R", ".G", ".B", ".A"});
  r.expect(84, 3, {1});
  results_at(r);
  r.add(r.general_at(24));
  r.unused(32);
  object_at(r);
  shape_at(r);
  mask_at(r);
}

// Width, height and depth, as the mask selects.
void decode_txq(Reader& r) {
  r.add({r.general_at(64), r.general_at(16), r.general_at(24)});
  r.add_text("TEX_HEADER_DIMENSION");
  object_at(r);
  mask_at(r);
  if (r.insn.table > 7) r.refuse("an unknown query");
}

static void surface_shape_at(Reader& r) {
  r.insn.mode = r.named(61, 3, {".1D", nullptr, ".1D_ARRAY", ".2D", ".2D_ARRAY", ".3D"});
}

// What becomes of coordinates outside the surface.
static void bounds_at(Reader& r) { r.insn.type = r.named(59, 2, {".IGN", "", ".TRAP"}); }

static Operand coordinates_at(Reader& r) {
  Operand at;
  at.kind = Kind::kAddress;
  at.index = static_cast<std::uint8_t>(r.field(24, 8));
  return at;
}

static void access(Reader& r) {
  r.suffix(".D");
  r.expect(72, 1, {1});
  r.suffix(".BA");
  surface_shape_at(r);
  r.named(84, 3, {".EF", ""});
  static constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 8, 16};
  r.insn.bytes = kBytes[r.named(73, 3, {".U8", nullptr, ".U16", nullptr, "", ".64", ".128"})];
  order_at(r);
  bounds_at(r);
}

void decode_suld(Reader& r) {
  access(r);
  r.expect(81, 3, {7});
  r.unused(32);
  r.add({r.general_at(16), coordinates_at(r)});
  object_at(r);
}

void decode_sust(Reader& r) {
  access(r);
  r.add({coordinates_at(r), r.general_at(32)});
  object_at(r);
}

// With conversion to the surface's format: x is in elements.
void decode_sust_formatted(Reader& r) {
  r.suffix(".P");
  surface_shape_at(r);
  r.named(84, 3, {".EF", ""});
  order_at(r);
  r.insn.table = r.named(72, 4,
                         {nullptr, ".R", nullptr, ".RG", nullptr, nullptr, nullptr, nullptr,
                          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, ""});
  bounds_at(r);
  r.add({coordinates_at(r), r.general_at(32)});
  object_at(r);
}

void decode_sured(Reader& r) {
  r.suffix(".D");
  r.expect(72, 1, {1});
  r.suffix(".BA");
  surface_shape_at(r);
  r.insn.shift = r.named(87, 4, {".ADD", ".MIN", ".MAX", nullptr, nullptr, ".AND", ".OR"});
  const std::uint8_t type = r.named(73, 3, {"", ".S32", ".U64", nullptr, nullptr, ".S64"});
  r.insn.bytes = type >= 2 ? 8 : 4;
  r.insn.is_signed = type == 1 || type == 5;
  r.expect(84, 3, {1});
  order_at(r);
  bounds_at(r);
  r.add({coordinates_at(r), r.general_at(32)});
  object_at(r);
}

}  // namespace vgpu::sass
