// SPDX-License-Identifier: Apache-2.0
// Layout of a wgmma operand in shared memory. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions: Matrix Descriptor Format, Strides, Swizzling Modes". A matrix consists of 16-byte
// pieces. An atom is eight lines of pieces; each line is as long as the swizzle span
// (16 bytes without swizzle).
#pragma once
#include "ir/program.hpp"

namespace vgpu::machine {

using namespace ir;

struct MatrixDescriptor {
  static constexpr u32 kPiece = 16;  // bytes
  static constexpr u32 kLines = 8;   // per atom

  u32 start = 0;    // shared address
  u32 leading = 0;  // bytes
  u32 stride = 0;
  u32 base_offset = 0;
  u32 span = kPiece;  // bytes per line of an atom: 128, 64 or 32 with swizzle, 16 without

  static MatrixDescriptor decode(u64 bits) {
    // indexed by the two bits of the swizzling mode
    constexpr u32 kSpans[] = {kPiece, 128, 64, 32};
    const auto field = [bits](u32 at) { return static_cast<u32>(bits >> at & 0x3fff) << 4; };
    return {field(0), field(16), field(32), static_cast<u32>(bits >> 49 & 7), kSpans[bits >> 62]};
  }
  // Bits that belong to no field: 14, 15, 30, 31, 46 to 48, 52 to 61.
  static constexpr u64 kReserved = u64{3} << 14 | u64{3} << 30 | u64{7} << 46 | u64{0x3ff} << 52;

  u32 pattern() const { return kLines * span; }  // bytes after which the swizzle repeats

  // Shared address of 16-byte piece `piece` along k of row `row` of m or n (K-major).
  u32 along_k(u32 row, u32 piece) const {
    const u32 across = span == kPiece ? leading : kPiece;
    return swizzled(start + row / kLines * stride + row % kLines * span + piece * across);
  }
  // Shared address of 16-byte piece `piece` along m or n at index k (MN-major).
  u32 along_mn(u32 k, u32 piece) const {
    if (span == kPiece) return start + piece * stride + k / kLines * leading + k % kLines * kPiece;
    const u32 pieces = span / kPiece;
    return swizzled(start + piece / pieces * leading + piece % pieces * kPiece +
                    k / kLines * stride + k % kLines * span);
  }

 private:
  // The swizzle follows the bits of each piece's own address, less the base offset (tests/golden).
  u32 swizzled(u32 address) const {
    return address ^ (((address >> 7) - base_offset) & (span / kPiece - 1)) * kPiece;
  }
};

}  // namespace vgpu::machine
