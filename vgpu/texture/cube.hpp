// SPDX-License-Identifier: Apache-2.0
// Directions to faces of a cube.
#pragma once
#include <array>
#include <cstdint>

namespace vgpu {

// The face that a direction points at and the normalised coordinates on it (CUDA C++ Programming
// Guide, "Cubemap Textures"). The largest component of the direction is 1 or -1.
struct CubePoint {
  std::uint32_t face = 0;
  double s = 0, t = 0;
};
CubePoint cube_point(const std::array<float, 3>& direction);

}  // namespace vgpu
