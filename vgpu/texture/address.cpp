// SPDX-License-Identifier: Apache-2.0
#include "texture/address.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vgpu {
namespace {

// Beyond all sizes and their mirror images, and within the integers that double precision holds.
constexpr double kFar = 0x1p40;

// Modes that need normalised coordinates clamp without them.
AddressMode effective(AddressMode mode, bool normalized) {
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  return repeats && !normalized ? AddressMode::kClamp : mode;
}

// A coordinate in texels. As an H100 has it, of a normalised coordinate 21 bits of fraction count,
// or 22 where a filter would have less than 8 of them. Products with a size are exact in double
// precision.
double in_texels(double coordinate, std::uint32_t size, bool normalized) {
  if (std::isnan(coordinate)) return 0;
  constexpr std::uint32_t kFineSize = 1u << 13;
  const double unit = size > kFineSize ? 1 << 22 : 1 << 21;
  const double scaled = normalized ? std::floor(coordinate * unit) / unit * size : coordinate;
  return std::clamp(scaled, -kFar, kFar);
}

}  // namespace

std::int64_t resolve(std::int64_t index, std::uint32_t size, AddressMode mode) {
  const std::int64_t n = size;
  switch (mode) {
    case AddressMode::kWrap: {
      const std::int64_t rest = index % n;
      return rest < 0 ? rest + n : rest;
    }
    case AddressMode::kClamp: return std::clamp<std::int64_t>(index, 0, n - 1);
    case AddressMode::kMirror: {
      std::int64_t rest = index % (2 * n);
      if (rest < 0) rest += 2 * n;
      return rest < n ? rest : 2 * n - 1 - rest;
    }
    case AddressMode::kBorder: break;
  }
  return index >= 0 && index < n ? index : Taken::kOutside;
}

Taken nearest(double coordinate, std::uint32_t size, AddressMode mode, bool normalized) {
  if (std::fabs(coordinate) < double{std::numeric_limits<float>::min()}) coordinate = 0;
  const double x = in_texels(coordinate, size, normalized);
  const auto index = static_cast<std::int64_t>(std::floor(x));
  const std::int64_t texel = resolve(index, size, effective(mode, normalized));
  return {texel, texel, 0};
}

Taken neighbours(double coordinate, std::uint32_t size, bool normalized) {
  const double x = in_texels(coordinate, size, normalized);
  const auto fixed = static_cast<std::int64_t>(std::floor(x * kFractions + 0.5)) - kFractions / 2;
  const std::int64_t first = fixed >> 8;  // rounds down
  return {first, first + 1, fixed - first * kFractions};
}

Taken neighbours(double coordinate, std::uint32_t size, AddressMode mode, bool normalized) {
  const Taken at = neighbours(coordinate, size, normalized);
  const AddressMode used = effective(mode, normalized);
  // A clamped coordinate is that of the outer texel's centre.
  const bool clamped =
      used == AddressMode::kClamp &&
      (at.first < 0 || at.first * kFractions + at.weight > (std::int64_t{size} - 1) * kFractions);
  return {resolve(at.first, size, used), resolve(at.second, size, used), clamped ? 0 : at.weight};
}

std::uint32_t layer_of(std::uint32_t layer, std::uint32_t layers) {
  return std::min(layer, layers - 1);
}

}  // namespace vgpu
