// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "texture/address.hpp"

namespace vgpu {

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

}  // namespace vgpu
