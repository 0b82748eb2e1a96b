// SPDX-License-Identifier: Apache-2.0
#include "texture/fetch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "ir/half.hpp"

namespace vgpu {
namespace {

// IEC 61966-2-1, as an H100 decodes it: 8 significant bits, and no less than 2^-14.
constexpr std::uint16_t kDecoded[256] = {
    // in units of 2^-14
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
    66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
    169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
    332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
    564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
    864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
    1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
    1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
    2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
    2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
    3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
    4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
    5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
    6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
    7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
    8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
    11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
    13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

float from_srgb(std::int32_t value) { return static_cast<float>(kDecoded[value & 255]) * 0x1p-14f; }

// An integer as a fraction of the largest of its width.
float fraction(std::int32_t value, const TexelFormat& format) {
  const bool is_signed = format.kind == TexelKind::kSigned;
  const float most = static_cast<float>((1u << (format.bits - (is_signed ? 1u : 0u))) - 1);
  return static_cast<float>(value) / most;
}

std::uint32_t channel(const Texture& texture, const TexelFormat& format, std::uint32_t bits,
                      unsigned which) {
  if (format.kind == TexelKind::kFloat) {
    return format.bits == 16 ? std::bit_cast<std::uint32_t>(ir::half_to_float<ir::f16>(bits))
                             : bits;
  }
  const unsigned unused = 32u - format.bits;
  const std::int32_t value = format.kind == TexelKind::kSigned
                                 ? static_cast<std::int32_t>(bits << unused) >> unused
                                 : static_cast<std::int32_t>(bits);
  if (!texture.to_float) return static_cast<std::uint32_t>(value);
  constexpr unsigned kAlpha = 3;
  const bool decoded = texture.srgb && which != kAlpha;
  return std::bit_cast<std::uint32_t>(decoded ? from_srgb(value) : fraction(value, format));
}

// A border's channel as the format holds it. Where integers are read as such, the float's lower
// bits are.
std::uint32_t stored(float value, const TexelFormat& format, bool to_float) {
  if (format.kind == TexelKind::kFloat)
    return format.bits == 16 ? ir::float_to_half<ir::f16>(value)
                             : std::bit_cast<std::uint32_t>(value);
  if (!to_float) return std::bit_cast<std::uint32_t>(value) & (~0u >> (32 - format.bits));
  const bool is_signed = format.kind == TexelKind::kSigned;
  const float most = static_cast<float>((1u << (format.bits - (is_signed ? 1u : 0u))) - 1);
  const float clamped = std::clamp(value, is_signed ? -1.0f : 0.0f, 1.0f);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(clamped * most)));
}

}  // namespace

int srgb_exponent(double decoded) {
  const auto* const entry = std::lower_bound(std::begin(kDecoded), std::end(kDecoded),
                                             static_cast<std::uint16_t>(decoded * 0x1p14));
  const std::size_t last = static_cast<std::size_t>(entry - kDecoded) | 7;
  return std::bit_width(kDecoded[last]) - 14;
}

std::uint32_t at_least_minus_one(std::uint32_t bits) {
  return std::bit_cast<float>(bits) < -1 ? std::bit_cast<std::uint32_t>(-1.0f) : bits;
}

bool is_floating(const Texture& texture) {
  return texture.to_float || texture.levels[0].format.kind == TexelKind::kFloat;
}

Texel texel_at(const Texture& texture, std::uint64_t address) {
  const TexelFormat& format = texture.levels[0].format;
  Texel texel{};
  for (unsigned i = 0; i < format.channels; ++i) {
    std::uint32_t bits = 0;
    const std::uint32_t bytes = format.bits / 8u;
    std::memcpy(&bits, reinterpret_cast<const std::byte*>(address) + i * bytes, bytes);
    texel[i] = channel(texture, format, bits, i);
  }
  return texel;
}

Texel border_of(const Texture& texture) {
  const TexelFormat& format = texture.levels[0].format;
  Texel texel{};
  for (unsigned i = 0; i < format.channels; ++i) {
    texel[i] = channel(texture, format, stored(texture.border[i], format, texture.to_float), i);
  }
  return texel;
}

}  // namespace vgpu
