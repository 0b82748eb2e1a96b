// SPDX-License-Identifier: Apache-2.0
// Operands of texture and surface instructions.
//
// Insn::s[0] is the handle (kFlagAddress32: 32 bits per lane, else 64), sub the TextureShape,
// vector the number of registers for texels, width their bytes per lane, bytes an element's. The
// registers are in Program::lists from Insn::list on: those for texels, then the coordinates in
// PTX's order (a layer comes first), then what `imm` says (TextureForm). Insn::d of a fetch is the
// predicate that says whether the texel is resident, or kNone.
#pragma once
#include "ir/program.hpp"
#include "ir/reduction.hpp"

namespace vgpu::ir {

enum class TextureShape : u8 { k1D, k2D, k3D, k1DLayered, k2DLayered, kCube, kCubeLayered };

constexpr bool is_layered(TextureShape shape) {
  return shape == TextureShape::k1DLayered || shape == TextureShape::k2DLayered ||
         shape == TextureShape::kCubeLayered;
}

constexpr u32 dimensions(TextureShape shape) {
  switch (shape) {
    case TextureShape::k1D:
    case TextureShape::k1DLayered: return 1;
    case TextureShape::k2D:
    case TextureShape::k2DLayered: return 2;
    default: return 3;
  }
}

constexpr u32 coordinates(TextureShape shape) {
  return dimensions(shape) + (is_layered(shape) ? 1 : 0);
}

// Bits of Insn::flags, with other meanings than for memory.
inline constexpr u16 kFlagTexels = kFlagSigned;      // coordinates are integers
inline constexpr u16 kFlagPacked = kFlagHasResult;   // two results of 16 bits in each register
inline constexpr u16 kFlagFormatted = kFlagGeneric;  // surfaces: elements are converted

enum class Lod : u8 {
  kBase,      // the least level that the texture permits
  kGiven,     // one more operand
  kGradient,  // derivatives by x and y, of each coordinate
};

struct TextureForm {
  Lod lod = Lod::kBase;
  u8 component = 0;       // tld4
  bool projects = false;  // divides a cube's coordinates by the largest: else the program has

  i64 packed() const { return static_cast<i64>(lod) | i64{component} << 8 | i64{projects} << 16; }
  static TextureForm of(i64 packed) {
    return {static_cast<Lod>(packed & 255), static_cast<u8>(packed >> 8), (packed >> 16 & 1) != 0};
  }
};

// Out-of-range coordinates of a surface.
enum class SurfaceBounds : u8 { kTrap, kClamp, kZero };

// Insn::imm of suld, sust, sured.
struct SurfaceForm {
  SurfaceBounds bounds = SurfaceBounds::kTrap;
  Reduction reduction = Reduction::kAdd;
  bool is_signed = false;

  i64 packed() const {
    return static_cast<i64>(bounds) | static_cast<i64>(reduction) << 8 | i64{is_signed} << 16;
  }
  static SurfaceForm of(i64 packed) {
    return {static_cast<SurfaceBounds>(packed & 255), static_cast<Reduction>(packed >> 8 & 255),
            (packed >> 16 & 1) != 0};
  }
};

// What txq and suq return. Insn::imm.
enum class TextureQuery : u8 { kWidth, kHeight, kDepth, kLayers, kLevels };

}  // namespace vgpu::ir
