// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "texture/filter.hpp"

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

// Down to a number with so many binary digits behind the first one.
double cut(double value, int digits) {
  int exponent = 0;
  std::frexp(value, &exponent);
  const int last = exponent - 1 - digits;
  return std::ldexp(std::floor(std::ldexp(value, -last)), last);
}

// An estimate of a vector's length, as an H100 has it: the largest component and 11/32 of the
// others.
double length_of(const std::array<double, 3>& components) {
  const double largest = *std::ranges::max_element(components);
  double rest = -cut(largest, 10);
  for (const double component : components) rest += cut(component, 10);
  return cut(largest, 9) + rest * 11 / 32;
}

// log2 in 256ths, by a table of 256 entries for the 8 digits behind a number's first one: each is
// for the middle of its interval, but for the first and the last. Where derivatives are along the
// axes all results are those of an H100.
float level_of_length(double length) {
  constexpr float kNone = -1000;
  if (!(length > 0) || std::isinf(length)) return length > 0 ? -kNone : kNone;
  int exponent = 0;
  const double mantissa = 2 * std::frexp(length, &exponent) - 1;  // from 0 to 1
  const double entry = std::floor(mantissa * kFractions);
  const double middle = kFractions * std::log2(1 + (entry + 0.5) / kFractions);
  constexpr double kHalf = 0.5 - 1.0 / 32;
  const double fraction = entry == 0 ? 0 : std::min(std::floor(middle + kHalf), kFractions - 1.0);
  return static_cast<float>(exponent - 1 + fraction / kFractions);
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

CubePoint cube_point(const std::array<float, 3>& direction) {
  // As on an H100: NaN counts as 0, and the last of equal components is taken as the largest.
  const auto number = [](float value) { return std::isnan(value) ? 0.0f : value; };
  const float x = number(direction[0]), y = number(direction[1]), z = number(direction[2]);
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  std::uint32_t face = 0;
  double s = 0, t = 0;
  if (az >= ax && az >= ay) {
    face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
  } else if (ay >= ax) {
    face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
  }
  return {face, (s + 1) / 2, (t + 1) / 2};
}

namespace {

// The inverse of cube_point, with coordinates from -1 to 1.
std::array<float, 3> direction_of(std::uint32_t face, float s, float t, float largest) {
  switch (face) {
    case 0: return {largest, -t, -s};
    case 1: return {-largest, -t, s};
    case 2: return {s, largest, t};
    case 3: return {s, -largest, -t};
    case 4: return {s, -t, largest};
    default: return {-s, -t, -largest};
  }
}

}  // namespace

std::optional<CubeTexel> across_edge(const CubeTexel& texel, std::uint32_t size) {
  const std::int64_t n = size;
  const auto outside = [&](std::int64_t index) { return index < 0 || index >= n; };
  if (!outside(texel.x) && !outside(texel.y)) return texel;
  if (outside(texel.x) && outside(texel.y)) return std::nullopt;
  // Outside, a texel's centre is on the edge; the former largest component is that of the centres
  // of the texels along the edge of the next face.
  const auto on = [&](std::int64_t index) {
    const auto at = static_cast<float>(2 * index + 1 - n) / static_cast<float>(n);
    return std::fmin(std::fmax(at, -1.0f), 1.0f);
  };
  const CubePoint point = cube_point(direction_of(texel.face, on(texel.x), on(texel.y), on(n - 1)));
  const auto index = [&](double coordinate) {
    return static_cast<std::int64_t>(coordinate * static_cast<double>(n));
  };
  return CubeTexel{point.face, index(point.s), index(point.t)};
}

float level_of(const Texture& texture, const Coordinates& at) {
  constexpr float kLeast = -32;
  float level = at.lod == ir::Lod::kBase ? kLeast : at.level;
  if (at.lod == ir::Lod::kGradient) {
    const Image& image = texture.levels[0];
    const std::uint32_t sizes[] = {image.width, image.height, image.depth};
    std::array<double, 3> x{}, y{};
    for (std::uint32_t d = 0; d < image.dimensions; ++d) {
      const double size = texture.normalized ? sizes[d] : 1;
      x[d] = std::fabs(at.dx[d] * size);
      y[d] = std::fabs(at.dy[d] * size);
    }
    level = level_of_length(std::max(length_of(x), length_of(y)));
  }
  // The sampler's values are 256ths.
  const auto fixed = [](float value) { return std::trunc(value * kFractions) / kFractions; };
  return std::clamp(fixed(level) + fixed(texture.bias), fixed(texture.least_level),
                    fixed(texture.most_level));
}

}  // namespace vgpu
