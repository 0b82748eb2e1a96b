// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "texture/fetch.hpp"

namespace vgpu {
namespace {

using ir::SurfaceBounds;
using ir::TextureShape;

Surface surface() {  // 8 x 4 elements of 4 bytes, 2 layers
  Surface made;
  made.image = {0x1000, {TexelKind::kUnsigned, 8, 4}, 2, 8, 4, 1, 2, 32, 128};
  return made;
}

std::optional<std::uint64_t> address(std::int32_t x, std::int32_t y, std::uint32_t layer,
                                     SurfaceBounds bounds, std::uint32_t bytes = 4) {
  return address_in(surface(), TextureShape::k2DLayered, {{x, y, 0}, layer}, bounds, bytes, false);
}

TEST(SurfaceAddress, XCountsBytes) {
  EXPECT_EQ(address(12, 3, 1, SurfaceBounds::kTrap), 0x1000 + 128 + 3 * 32 + 12u);
  EXPECT_EQ(address(24, 0, 0, SurfaceBounds::kTrap, 8), 0x1000 + 24u);
  EXPECT_EQ(address_in(surface(), TextureShape::k2D, {{3, 1, 0}, 0}, SurfaceBounds::kTrap, 4, true),
            0x1000 + 32 + 12u);
}

TEST(SurfaceAddress, OutsideIsNothingUnlessClamped) {
  for (const SurfaceBounds bounds : {SurfaceBounds::kTrap, SurfaceBounds::kZero}) {
    EXPECT_FALSE(address(-4, 0, 0, bounds));
    EXPECT_FALSE(address(32, 0, 0, bounds));
    EXPECT_FALSE(address(28, 0, 0, bounds, 8));
    EXPECT_FALSE(address(0, 4, 0, bounds));
    EXPECT_FALSE(address(0, -1, 0, bounds));
    EXPECT_FALSE(address(0, 0, 2, bounds));
  }
  EXPECT_EQ(address(-4, -1, 0, SurfaceBounds::kClamp), 0x1000u);
  EXPECT_EQ(address(400, 9, 9, SurfaceBounds::kClamp), 0x1000 + 128 + 3 * 32 + 28u);
}

TEST(FormattedTexel, ChannelsAreClamped) {
  const auto bytes = formatted({TexelKind::kUnsigned, 8, 4}, {255, 256, 0, 1000});
  EXPECT_EQ(bytes[0], 255);
  EXPECT_EQ(bytes[1], 255);
  EXPECT_EQ(bytes[2], 0);
  EXPECT_EQ(bytes[3], 255);
  const auto words = formatted({TexelKind::kSigned, 16, 1}, {0xffff0000, 0, 0, 0});
  EXPECT_EQ(words[0] | words[1] << 8, 0x8000);
}

}  // namespace
}  // namespace vgpu
