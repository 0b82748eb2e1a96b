// SPDX-License-Identifier: Apache-2.0
// Descriptors of asynchronous units. wgmma: bits 4 to 6 of an address are exchanged by bits 7 to 9
// less the base offset, of which the span of the swizzle keeps one, two or three.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "machine/matrix_descriptor.hpp"
#include "machine/tensor/tensor_map.hpp"

namespace {

using vgpu::machine::MatrixDescriptor;
using namespace vgpu::ir;

MatrixDescriptor descriptor(u32 span, u32 start, u32 base_offset) {
  MatrixDescriptor d;
  d.start = start;
  d.span = span;
  d.stride = 8 * span;
  d.base_offset = base_offset;
  return d;
}

// Written out for starts inside the pattern: the first piece of the first rows.
TEST(Descriptor, PiecesOfStartsInsideThePattern) {
  struct Row {
    u32 span, start, base_offset, row, address;
  };
  constexpr Row kRows[] = {
      {128, 0x400, 0, 0, 0x400}, {128, 0x400, 0, 1, 0x490}, {128, 0x400, 0, 7, 0x7f0},
      {128, 0x480, 0, 0, 0x490}, {128, 0x480, 0, 1, 0x520}, {128, 0x480, 1, 0, 0x480},
      {128, 0x480, 1, 1, 0x510}, {128, 0x480, 1, 7, 0x870}, {128, 0x400, 3, 0, 0x450},
      {64, 0x480, 0, 0, 0x490},  {64, 0x480, 0, 1, 0x4d0},  {64, 0x480, 0, 2, 0x520},
      {64, 0x480, 1, 0, 0x480},  {64, 0x480, 1, 2, 0x510},  {32, 0x480, 0, 0, 0x490},
      {32, 0x480, 0, 4, 0x500},  {32, 0x480, 1, 0, 0x480},  {32, 0x480, 1, 4, 0x510},
      {16, 0x480, 0, 1, 0x490},
  };
  for (const Row& r : kRows) {
    EXPECT_EQ(descriptor(r.span, r.start, r.base_offset).along_k(r.row, 0), r.address)
        << r.span << ", 0x" << std::hex << r.start << ", " << r.base_offset << ", " << r.row;
  }
}

// The base offset says at which line of the pattern the matrix begins: with it a matrix that starts
// inside the pattern has the layout of one that starts at its beginning.
TEST(Descriptor, TheBaseOffsetMovesThePattern) {
  for (const u32 span : {32u, 64u, 128u}) {
    for (u32 line = 0; line < 8; ++line) {
      const u32 start = 0x2000 + 128 * line;
      const MatrixDescriptor moved = descriptor(span, start, line),
                             aligned = descriptor(span, 0x2000, 0);
      for (u32 row = 0; row < 16; ++row) {
        for (u32 piece = 0; piece < span / 16; ++piece) {
          EXPECT_EQ(moved.along_k(row, piece) - start, aligned.along_k(row, piece) - 0x2000);
          EXPECT_EQ(moved.along_mn(row, piece) - start, aligned.along_mn(row, piece) - 0x2000);
        }
      }
    }
  }
}

// Bits of the descriptor: base offset 49 to 51, mode 62 and 63.
TEST(Descriptor, Fields) {
  const MatrixDescriptor d =
      MatrixDescriptor::decode(u64{2} << 62 | u64{5} << 49 | u64{0x20} << 32 | u64{1} << 16 | 0x48);
  EXPECT_EQ(d.start, 0x480u);
  EXPECT_EQ(d.leading, 16u);
  EXPECT_EQ(d.stride, 0x200u);
  EXPECT_EQ(d.base_offset, 5u);
  EXPECT_EQ(d.span, 64u);
}

// CUTLASS clears bit 21 of the second word of a tensor map of less than 128 KiB.
TEST(Descriptor, ATensorMapThatCutlassChanged) {
  vgpu::TensorMap map;
  map.rank = 2;
  map.sizes = {64, 64};
  map.strides = {1, 64};
  map.box = {16, 8};
  map.steps = {1, 1};
  for (u64 address = 0; address < 64 * 16; address += 16) {  // maps of different contents
    map.address = address;
    std::array<std::byte, vgpu::TensorMap::kBytes> bytes;
    vgpu::encode(map, bytes);
    u64 word;
    std::memcpy(&word, &bytes[8], 8);
    word &= ~(u64{1} << 21);
    std::memcpy(&bytes[8], &word, 8);
    const auto decoded = vgpu::decode(bytes);
    ASSERT_TRUE(decoded.has_value()) << address;
    EXPECT_EQ(decoded->address, address);
    word ^= 1;
    std::memcpy(&bytes[8], &word, 8);
    EXPECT_FALSE(vgpu::decode(bytes).has_value());
  }
}

}  // namespace
