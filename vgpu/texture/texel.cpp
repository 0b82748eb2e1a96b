// SPDX-License-Identifier: Apache-2.0
#include "texture/texel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace vgpu {
namespace {

// IEC 61966-2-1.
float from_srgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

// An integer as a fraction of the largest of its width. The least signed one is -1, as is the next.
float fraction(std::int32_t value, const TexelFormat& format) {
  const bool is_signed = format.kind == TexelKind::kSigned;
  const float most = static_cast<float>((1u << (format.bits - (is_signed ? 1u : 0u))) - 1);
  return std::fmax(static_cast<float>(value) / most, -1.0f);
}

std::uint32_t channel(const Texture& texture, const TexelFormat& format, std::uint32_t bits,
                      unsigned which) {
  if (format.kind == TexelKind::kFloat) {
    return format.bits == 16
               ? std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(bits)))
               : bits;
  }
  const unsigned unused = 32u - format.bits;
  const std::int32_t value = format.kind == TexelKind::kSigned
                                 ? static_cast<std::int32_t>(bits << unused) >> unused
                                 : static_cast<std::int32_t>(bits);
  if (!texture.to_float) return static_cast<std::uint32_t>(value);
  const float part = fraction(value, format);
  constexpr unsigned kAlpha = 3;
  return std::bit_cast<std::uint32_t>(texture.srgb && which != kAlpha ? from_srgb(part) : part);
}

// A border's channel as the format holds it. Where integers are read as such, the float's lower
// bits are.
std::uint32_t stored(float value, const TexelFormat& format, bool to_float) {
  if (format.kind == TexelKind::kFloat)
    return format.bits == 16 ? float_to_half(value) : std::bit_cast<std::uint32_t>(value);
  if (!to_float) return std::bit_cast<std::uint32_t>(value) & (~0u >> (32 - format.bits));
  const bool is_signed = format.kind == TexelKind::kSigned;
  const float most = static_cast<float>((1u << (format.bits - (is_signed ? 1u : 0u))) - 1);
  const float clamped = std::clamp(value, is_signed ? -1.0f : 0.0f, 1.0f);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(clamped * most)));
}

}  // namespace

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  const float magnitude = rest < 0x400u ? static_cast<float>(rest) * 0x1p-24f
                                        : std::bit_cast<float>((rest << 13) + (112u << 23));
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return 0x7fff;
  if (rest >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (rest < 0x38800000u) {  // subnormal: a multiple of 2^-24
    const float scaled = std::bit_cast<float>(rest) * 0x1p24f;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(scaled)));
  }
  const std::uint32_t rounded = rest + 0xfffu + (rest >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | (rounded - (112u << 23)) >> 13);
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
