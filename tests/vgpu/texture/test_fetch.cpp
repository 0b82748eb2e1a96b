// SPDX-License-Identifier: Apache-2.0
// Fetches by hand-made expectations. tests/vgpu/programs/textures.cu compares many more with
// hardware.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/half.hpp"
#include "texture/fetch.hpp"
#include "texture/filter.hpp"

namespace vgpu {
namespace {

using ir::TextureShape;

// Texels of single precision, one channel: 1, 2, 3 ...
struct Floats {
  std::vector<float> values;
  Texture texture;

  Floats(std::uint32_t width, std::uint32_t height, std::uint32_t depth, std::uint32_t layers) {
    Image image;
    image.dimensions = depth > 1 ? 3 : height > 1 ? 2 : 1;
    image.width = width;
    image.height = height;
    image.depth = depth;
    image.layers = layers;
    image.pitch = width * 4;
    image.slice = image.pitch * height;
    for (std::size_t i = 0; i < std::size_t{width} * height * depth * layers; ++i)
      values.push_back(static_cast<float>(i + 1));
    image.address = reinterpret_cast<std::uint64_t>(values.data());
    texture.levels = {image};
    texture.modes.fill(AddressMode::kClamp);
    texture.border = {-7, -8, -9, -10};
  }
};

float first(const Texel& texel) { return std::bit_cast<float>(texel[0]); }

float at(const Texture& texture, TextureShape shape, float x, float y = 0, float z = 0,
         std::uint32_t layer = 0) {
  Coordinates where;
  where.at = {x, y, z};
  where.layer = layer;
  Taps taps;
  return first(fetch(texture, shape, where, taps));
}

TEST(Fetch, TheNearestTexelIsTheOneAroundThePoint) {
  Floats f(4, 1, 1, 1);
  EXPECT_EQ(at(f.texture, TextureShape::k1D, 0.0f), 1);
  EXPECT_EQ(at(f.texture, TextureShape::k1D, 0.99f), 1);
  EXPECT_EQ(at(f.texture, TextureShape::k1D, 1.0f), 2);
  EXPECT_EQ(at(f.texture, TextureShape::k1D, 3.5f), 4);
}

TEST(Fetch, AddressModesBeyondTheEdges) {
  Floats f(4, 1, 1, 1);
  f.texture.normalized = true;
  const auto of = [&](AddressMode mode, float texel) {
    f.texture.modes.fill(mode);
    return at(f.texture, TextureShape::k1D, texel / 4);
  };
  for (const auto& [texel, wrap, clamp, mirror, border] : {std::array<float, 5>{-0.5f, 4, 1, 1, -7},
                                                           {-1.5f, 3, 1, 2, -7},
                                                           {-4.5f, 4, 1, 4, -7},
                                                           {4.5f, 1, 4, 4, -7},
                                                           {5.5f, 2, 4, 3, -7},
                                                           {8.5f, 1, 4, 1, -7},
                                                           {2.5f, 3, 3, 3, 3}}) {
    EXPECT_EQ(of(AddressMode::kWrap, texel), wrap) << texel;
    EXPECT_EQ(of(AddressMode::kClamp, texel), clamp) << texel;
    EXPECT_EQ(of(AddressMode::kMirror, texel), mirror) << texel;
    EXPECT_EQ(of(AddressMode::kBorder, texel), border) << texel;
  }
}

TEST(Fetch, LinearFilterTakesNeighbours) {
  Floats f(4, 3, 2, 1);
  f.texture.linear = true;
  // Texel (x, y, z) is 1 + x + 4 y + 12 z, so that the filter is linear in the coordinates.
  EXPECT_EQ(at(f.texture, TextureShape::k3D, 0.5f, 0.5f, 0.5f), 1);
  EXPECT_EQ(at(f.texture, TextureShape::k3D, 1.0f, 0.5f, 0.5f), 1.5f);
  EXPECT_EQ(at(f.texture, TextureShape::k3D, 1.25f, 1.75f, 0.5f), 1 + 0.75f + 4 * 1.25f);
  EXPECT_EQ(at(f.texture, TextureShape::k3D, 3.0f, 2.0f, 1.0f), 1 + 2.5f + 6 + 6);
  // Beyond the last texel's centre there is nothing to filter with.
  EXPECT_EQ(at(f.texture, TextureShape::k3D, 9.0f, 9.0f, 9.0f), 24);
}

TEST(Fetch, LayersAreClampedAndNotFiltered) {
  Floats f(2, 2, 1, 3);
  f.texture.linear = true;
  const auto layer = [&](std::uint32_t l) {
    return at(f.texture, TextureShape::k2DLayered, 0.5f, 0.5f, 0, l);
  };
  EXPECT_EQ(layer(0), 1);
  EXPECT_EQ(layer(1), 5);
  EXPECT_EQ(layer(2), 9);
  EXPECT_EQ(layer(3), 9);
  EXPECT_EQ(layer(0xffffffff), 9);
}

TEST(Fetch, FacesOfACube) {
  Floats f(1, 1, 1, 6);
  f.texture.levels[0].dimensions = 2;
  const auto face = [&](float x, float y, float z) {
    return at(f.texture, TextureShape::kCube, x, y, z);
  };
  EXPECT_EQ(face(1, 0.5f, 0.5f), 1);
  EXPECT_EQ(face(-1, 0.5f, 0.5f), 2);
  EXPECT_EQ(face(0.5f, 1, 0.5f), 3);
  EXPECT_EQ(face(0.5f, -1, 0.5f), 4);
  EXPECT_EQ(face(0.5f, 0.5f, 1), 5);
  EXPECT_EQ(face(0.5f, 0.5f, -1), 6);
  // Of equal components the last is the largest; what is no number counts as 0.
  EXPECT_EQ(face(1, 1, 0.5f), 3);
  EXPECT_EQ(face(1, 1, -1), 6);
  EXPECT_EQ(face(1, std::nanf(""), 0), 1);
  EXPECT_EQ(face(std::nanf(""), std::nanf(""), std::nanf("")), 5);
}

TEST(Blend, WeightsOfFourTexelsAddUp) {
  for (std::int64_t weight : {0, 1, 95, 256}) {
    for (std::int64_t x = 0; x <= 256; ++x) {
      for (std::int64_t y = 0; y <= 256; y += 5) {
        const auto weights = corner_weights(weight, x, y);
        std::int64_t sum = 0;
        for (const std::int64_t one : weights) {
          EXPECT_GE(one, 0);
          sum += one;
        }
        EXPECT_EQ(sum, weight);
      }
    }
  }
  // 128 * 161 / 256 = 80.5 is rounded up, and 81 * 221 / 256 = 69.9 to 70.
  EXPECT_EQ(corner_weights(161, 128, 221), (std::array<std::int64_t, 4>{11, 11, 69, 70}));
}

float blend_of(std::uint8_t bits, TexelKind kind, std::vector<std::pair<float, int>> terms,
               std::size_t quads = 1) {
  Blend blend(TexelFormat{kind, bits, 1}, false);
  for (std::size_t i = 0; i < terms.size(); ++i)
    blend.add(std::bit_cast<std::uint32_t>(terms[i].first), terms[i].second, i % quads);
  return std::bit_cast<float>(blend.result());
}

TEST(Blend, TexelsAreCutBehindTheLargest) {
  const auto single = [](std::vector<std::pair<float, int>> terms, std::size_t quads = 1) {
    return blend_of(32, TexelKind::kFloat, std::move(terms), quads);
  };
  // Four digits more than the largest one has.
  const float cut = 1 + 0x1p-23f;
  EXPECT_EQ(single({{0x1p27f, 128}, {cut, 128}}), 0x1p26f);
  EXPECT_EQ(single({{0x1p20f, 1}, {cut, 255}, {-0x1p20f, 0}}), (0x1p20f + 255) / 256);
  EXPECT_EQ(single({{1, 1}, {-1, 1}, {0x1p-27f, 128}}), 0x1p-28f);
  EXPECT_EQ(single({{1, 1}, {-1, 1}, {0x1.8p-28f, 128}}), 0);
  // Each four have an exponent of their own.
  EXPECT_EQ(single({{1, 1}, {0x1.8p-28f, 128}, {-1, 1}}, 2), 0x1.8p-29f);
  // Ties are rounded away from zero.
  EXPECT_EQ(single({{1, 128}, {1 + 0x1p-23f, 128}}), 1 + 0x1p-23f);
  EXPECT_EQ(single({{-1, 128}, {-1 - 0x1p-23f, 128}}), -1 - 0x1p-23f);
}

TEST(Blend, NumbersThatAreNone) {
  const float inf = INFINITY;
  const auto bits = [](std::uint8_t width, std::vector<std::pair<float, int>> terms) {
    return std::bit_cast<std::uint32_t>(blend_of(width, TexelKind::kFloat, std::move(terms)));
  };
  EXPECT_EQ(bits(32, {{std::nanf(""), 0}, {1, 256}}), 0x7fffffffu);
  EXPECT_EQ(bits(16, {{std::nanf(""), 1}, {1, 255}}), 0x7fffe000u);
  EXPECT_EQ(bits(32, {{inf, 1}, {-inf, 255}}), 0x7fffffffu);
  EXPECT_EQ(bits(32, {{-inf, 1}, {1, 255}}), std::bit_cast<std::uint32_t>(-inf));
}

TEST(Blend, HalvesAndIntegers) {
  // 11 digits, and no less than half precision's least number.
  EXPECT_EQ(blend_of(16, TexelKind::kFloat, {{1, 128}, {1 + 0x1p-10f, 128}}), 1 + 0x1p-10f);
  EXPECT_EQ(blend_of(16, TexelKind::kFloat, {{0x1p-24f, 127}}), 0);
  EXPECT_EQ(blend_of(16, TexelKind::kFloat, {{0x1p-24f, 128}}), 0x1p-24f);
  EXPECT_EQ(blend_of(8, TexelKind::kUnsigned, {{1, 1}}), 256.0f / 65535);
}

TEST(Fetch, SrgbIsDecodedToEightDigits) {
  std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 1, 188, 255, 188};
  Texture texture;
  Image image;
  image.address = reinterpret_cast<std::uint64_t>(bytes.data());
  image.format = {TexelKind::kUnsigned, 8, 4};
  image.dimensions = 1;
  image.width = 2;
  texture.levels = {image};
  texture.to_float = texture.srgb = true;
  Coordinates where;
  where.at = {1.5f, 0, 0};
  Taps taps;
  const Texel texel = fetch(texture, TextureShape::k1D, where, taps);
  const float expected[] = {5 * 0x1p-14f, 0.50390625f, 1, 188.0f / 255};
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<float>(texel[i]), expected[i]) << i;
}

TEST(Fetch, IndicesOfLinearMemoryOutsideReadZero) {
  Floats f(4, 1, 1, 1);
  f.texture.linear_memory = true;
  Taps taps;
  const auto index = [&](std::int32_t i) {
    return first(fetch(f.texture, TextureShape::k1D, Indices{{i, 0, 0}, 0, 0}, taps));
  };
  EXPECT_EQ(index(0), 1);
  EXPECT_EQ(index(3), 4);
  EXPECT_EQ(index(4), 0);
  EXPECT_EQ(index(-1), 0);
}

TEST(Fetch, GatherTakesFourTexels) {
  Floats f(3, 3, 1, 1);
  Coordinates where;
  where.at = {1.0f, 1.0f, 0};
  Taps taps;
  const Texel texel = gather(f.texture, TextureShape::k2D, where, 0, taps);
  const float expected[] = {4, 5, 2, 1};
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<float>(texel[i]), expected[i]);
  EXPECT_EQ(taps.count, 4u);
  EXPECT_EQ(taps.bytes, 4u);
}

TEST(Fetch, IntegersAndFractions) {
  std::vector<std::int8_t> bytes = {-128, -127, 0, 127};
  Texture texture;
  Image image;
  image.address = reinterpret_cast<std::uint64_t>(bytes.data());
  image.format = {TexelKind::kSigned, 8, 1};
  image.dimensions = 1;
  image.width = 4;
  texture.levels = {image};
  texture.modes.fill(AddressMode::kClamp);
  Coordinates where;
  Taps taps;
  EXPECT_EQ(static_cast<std::int32_t>(fetch(texture, TextureShape::k1D, where, taps)[0]), -128);
  texture.to_float = true;
  const float expected[] = {-1, -1, 0, 1};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(at(texture, TextureShape::k1D, static_cast<float>(i) + 0.5f), expected[i]);
}

TEST(Fetch, LevelsOfAMipmap) {
  Floats large(4, 1, 1, 1), small(2, 1, 1, 1);
  small.values = {10, 20};
  large.texture.levels.push_back(small.texture.levels[0]);
  large.texture.levels[1].address = reinterpret_cast<std::uint64_t>(small.values.data());
  large.texture.normalized = true;
  large.texture.most_level = 5;
  Coordinates where;
  where.at = {0.1f, 0, 0};
  where.lod = ir::Lod::kGiven;
  Taps taps;
  const auto level = [&](float l) {
    where.level = l;
    return first(fetch(large.texture, TextureShape::k1D, where, taps));
  };
  EXPECT_EQ(level(-1), 1);
  EXPECT_EQ(level(0.25f), 1);
  EXPECT_EQ(level(1), 10);
  EXPECT_EQ(level(7), 10);
  large.texture.linear_levels = true;
  EXPECT_EQ(level(0.5f), 5.5f);
}

TEST(Texels, HalfPrecision) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = ir::half_to_float<ir::f16>(bits);
    if (std::isnan(value)) continue;
    EXPECT_EQ(ir::float_to_half<ir::f16>(value), bits);
  }
  EXPECT_EQ(ir::float_to_half<ir::f16>(65520.0f), 0x7c00);  // rounds to infinity
  EXPECT_EQ(ir::float_to_half<ir::f16>(65519.0f), 0x7bff);
  EXPECT_EQ(ir::float_to_half<ir::f16>(0x1p-25f), 0);  // a tie to even
}

}  // namespace
}  // namespace vgpu
