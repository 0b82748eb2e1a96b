// SPDX-License-Identifier: Apache-2.0
#include "texture/cube.hpp"

#include <cmath>

namespace vgpu {

CubePoint cube_point(const std::array<float, 3>& direction) {
  // As an H100 has it: what is no number counts as 0, and of equal components the last is the
  // largest.
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

}  // namespace vgpu
