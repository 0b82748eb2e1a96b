// SPDX-License-Identifier: Apache-2.0
// Directions to faces of a cube.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace vgpu {

// The face that a direction points at and the normalised coordinates on it (CUDA C++ Programming
// Guide, "Cubemap Textures"). The largest component of the direction is 1 or -1.
struct CubePoint {
  std::uint32_t face = 0;
  double s = 0, t = 0;
};
CubePoint cube_point(const std::array<float, 3>& direction);

// A texel of a face, whose indices may be one beyond an edge: the one of the face across it. There
// is none beyond a corner. `size`: texels along an edge.
struct CubeTexel {
  std::uint32_t face = 0;
  std::int64_t x = 0, y = 0;
};
std::optional<CubeTexel> across_edge(const CubeTexel& texel, std::uint32_t size);

}  // namespace vgpu
