// SPDX-License-Identifier: Apache-2.0
#include "texture/cube.hpp"

#include <cmath>

namespace vgpu {

CubePoint cube_point(const std::array<float, 3>& direction) {
  const auto [x, y, z] = direction;
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  std::uint32_t face = 0;
  float m = 0, s = 0, t = 0;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    m = ax;
    s = x >= 0 ? -z : z;
    t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    m = ay;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5;
    m = az;
    s = z >= 0 ? x : -x;
    t = -y;
  }
  // As the assembler has it: multiplied by the reciprocal.
  const float scale = 1.0f / m;
  return {face, (s * scale + 1) / 2, (t * scale + 1) / 2};
}

}  // namespace vgpu
