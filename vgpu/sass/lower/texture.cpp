// SPDX-License-Identifier: Apache-2.0
// Texture and surface instructions.
#include "ir/texture.hpp"

#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

constexpr TextureShape kTextureShapes[] = {TextureShape::k1D,        TextureShape::k2D,
                                           TextureShape::k3D,        TextureShape::kCube,
                                           TextureShape::k1DLayered, TextureShape::k2DLayered,
                                           TextureShape::kCube,      TextureShape::kCubeLayered};
constexpr TextureShape kSurfaceShapes[] = {TextureShape::k1D,        TextureShape::k1D,
                                           TextureShape::k1DLayered, TextureShape::k2D,
                                           TextureShape::k2DLayered, TextureShape::k3D};
constexpr SurfaceBounds kBounds[] = {SurfaceBounds::kZero, SurfaceBounds::kClamp,
                                     SurfaceBounds::kTrap};

}  // namespace

u32 Lowering::row_or_zero(const Operand& first, u32 n) {
  return first.index == kZeroRegister ? zero_ : row(first.index + n);
}

// The row of the object's handle.
void Lowering::texture_object(u32 pc, const Operand& handle) {
  at(pc).s[0] = handle.index == kZeroUniform ? zero_ : row(uniforms_ + handle.index);
  at(pc).flags |= kFlagAddress32;
  at(pc).site = program_.sites++;
  at(pc).list = static_cast<u32>(program_.lists.size());
}

// Appends the rows of the channels that the mask selects.
void Lowering::list_channels(const Instruction& i, const Operand& others, const Operand& first,
                             u32 channels) {
  u32 taken = 0;
  for (u32 channel = 0; channel < channels; ++channel) {
    u32 slot = kNone;
    if ((i.table >> channel & 1) != 0) {
      const Operand& from = taken < 2 ? first : others;
      if (from.index != kZeroRegister) slot = row(from.index + taken % 2);
      ++taken;
    }
    program_.lists.push_back(slot);
  }
}

void Lowering::lower_texture(const Instruction& i) {
  constexpr u8 kLevelGiven = 3;
  const u32 n = i[0].kind == Kind::kPredicate ? 1 : 0;
  const bool gathers = i.op == Op::kTld4, derives = i.op == Op::kTxd;
  const bool given = !gathers && i.type == kLevelGiven;
  const Operand& handle = i[n + (given || derives ? 4 : 3)];
  const TextureShape shape = kTextureShapes[i.mode];
  const u32 pc = emit(gathers ? "tld4" : "tex");
  texture_object(pc, handle);
  TextureForm form;
  form.lod = given ? Lod::kGiven : derives ? Lod::kGradient : Lod::kBase;
  if (derives && dimensions(shape) == 3) refuse("derivatives by three coordinates");
  if (gathers) form.component = i.type;
  Insn& insn = at(pc);
  insn.imm = form.packed();
  insn.sub = static_cast<u8>(shape);
  insn.vector = 4;
  insn.width = 4;
  insn.d = n == 0 ? kNone : predicate_out(i[0]);
  if (i.op == Op::kTld) insn.flags |= kFlagTexels;
  list_channels(i, i[n], i[n + 1], 4);
  for (u32 c = 0; c < coordinates(shape); ++c) program_.lists.push_back(row_or_zero(i[n + 2], c));
  if (given) program_.lists.push_back(row_or_zero(i[n + 3], 0));
  // The derivatives by x and by y alternate in the registers; the lists have those by x first.
  for (u32 by = 0; derives && by < 2; ++by) {
    for (u32 c = 0; c < dimensions(shape); ++c)
      program_.lists.push_back(row_or_zero(i[n + 3], 2 * c + by));
  }
}

// One query for each dimension.
void Lowering::lower_texture_query(const Instruction& i) {
  constexpr TextureQuery kQueries[] = {TextureQuery::kWidth, TextureQuery::kHeight,
                                       TextureQuery::kDepth};
  const auto begin = program_.lists.size();
  list_channels(i, i[0], i[1], 3);
  const std::vector<u32> slots(program_.lists.begin() + static_cast<std::ptrdiff_t>(begin),
                               program_.lists.end());
  program_.lists.resize(begin);
  bool helper = false;
  for (u32 q = 0; q < 3; ++q) {
    if (slots[q] == kNone) continue;
    const u32 pc = emit("txq", helper);
    texture_object(pc, i[3]);
    at(pc).imm = static_cast<i64>(kQueries[q]);
    at(pc).d = slots[q];
    helper = true;
  }
  if (!helper) emit("nop");
}

void Lowering::lower_surface(const Instruction& i) {
  const bool loads = i.op == Op::kSuld, converts = i.op == Op::kSustFormatted;
  const Operand &data = i[loads ? 0 : 1], &where = i[loads ? 1 : 0];
  const TextureShape shape = kSurfaceShapes[i.mode];
  const u32 pc = emit(loads ? "suld" : i.op == Op::kSured ? "sured" : "sust");
  texture_object(pc, i[2]);
  SurfaceForm form{kBounds[i.type], Reduction::kAdd, i.is_signed};
  if (i.op == Op::kSured) form.reduction = static_cast<Reduction>(1 + i.shift);
  if (i.op == Op::kSured && i.bytes == 8) refuse("a reduction of 64 bits");
  u32 words = i.bytes < 4 ? 1 : i.bytes / 4u;
  if (converts) words = i.table == 15 ? 4 : i.table == 3 ? 2 : 1;
  Insn& insn = at(pc);
  insn.imm = form.packed();
  insn.sub = static_cast<u8>(shape);
  insn.bytes = static_cast<u8>(i.bytes < 4 && !converts ? i.bytes : 4);
  insn.vector = static_cast<u8>(words);
  insn.width = 4;
  if (!loads) insn.flags |= kFlagStore;
  if (converts) insn.flags |= kFlagFormatted;
  for (u32 w = 0; w < words; ++w) {
    const bool none = data.index == kZeroRegister;
    program_.lists.push_back(none ? (loads ? kNone : zero_) : row(data.index + w));
  }
  // The layer is behind the other coordinates.
  const u32 used = dimensions(shape);
  if (is_layered(shape)) program_.lists.push_back(row_or_zero(where, used));
  for (u32 c = 0; c < used; ++c) program_.lists.push_back(row_or_zero(where, c));
}

}  // namespace vgpu::sass
