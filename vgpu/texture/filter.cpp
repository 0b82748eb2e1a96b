// SPDX-License-Identifier: Apache-2.0
// Fetches: the texels that a filter takes, and their weighted sum.
#include <algorithm>
#include <bit>
#include <cmath>

#include "texture/address.hpp"
#include "texture/cube.hpp"
#include "texture/fetch.hpp"
#include "texture/texel.hpp"

namespace vgpu {
namespace {

struct Place {
  const Image& image;
  std::uint32_t layer;
};

Texel read(const Texture& texture, const Place& place, std::int64_t x, std::int64_t y,
           std::int64_t z, Taps& taps) {
  if (x == Taken::kOutside || y == Taken::kOutside || z == Taken::kOutside)
    return border_of(texture);
  const Image& image = place.image;
  const std::uint64_t address = image.address +
                                image.slice * (static_cast<std::uint64_t>(z) + place.layer) +
                                image.pitch * static_cast<std::uint64_t>(y) +
                                static_cast<std::uint64_t>(x) * image.format.bytes();
  taps.add(address);
  return texel_at(texture, address);
}

// The layer of an image that a fetch is from. `face`: of a cube.
Place place_of(const Image& image, ir::TextureShape shape, std::uint32_t layer,
               std::uint32_t face) {
  if (shape == ir::TextureShape::kCube) return {image, std::min(face, image.layers - 1)};
  if (shape == ir::TextureShape::kCubeLayered)
    return {image, std::min(6 * layer_of(layer, image.layers / 6) + face, image.layers - 1)};
  return {image, ir::is_layered(shape) ? layer_of(layer, image.layers) : 0};
}

bool is_cube(ir::TextureShape shape) {
  return shape == ir::TextureShape::kCube || shape == ir::TextureShape::kCubeLayered;
}

// The position on a level, by its dimensions in texels.
struct Position {
  std::array<Taken, 3> taken;
  std::uint32_t face = 0;
};

Position position(const Texture& texture, const Image& image, ir::TextureShape shape,
                  const Coordinates& at, bool filtered) {
  Position result;
  std::array<float, 3> on = at.at;
  std::array<AddressMode, 3> modes = texture.modes;
  bool normalized = texture.normalized;
  std::uint32_t used = image.dimensions;
  if (is_cube(shape)) {
    const CubePoint point = cube_point(at.at);
    on = {point.s, point.t, 0};
    result.face = point.face;
    normalized = true;
    modes.fill(AddressMode::kClamp);
    used = 2;
  }
  const std::uint32_t sizes[] = {image.width, image.height, image.depth};
  for (std::uint32_t d = 0; d < used; ++d) {
    result.taken[d] = filtered ? neighbours(on[d], sizes[d], modes[d], normalized)
                               : nearest(on[d], sizes[d], modes[d], normalized);
  }
  return result;
}

// The sum of up to eight texels, weighted by products of 256ths.
Texel filtered(const Texture& texture, const Place& place, const Position& on, std::uint32_t used,
               Taps& taps) {
  std::array<double, 4> sum{};
  double whole = 1;
  for (std::uint32_t d = 0; d < used; ++d) whole *= double{kFractions};
  for (std::uint32_t corner = 0; corner < 1u << used; ++corner) {
    std::int64_t weight = 1, at[3] = {};
    for (std::uint32_t d = 0; d < used; ++d) {
      const bool second = (corner >> d & 1) != 0;
      const Taken& taken = on.taken[d];
      weight *= second ? taken.weight : kFractions - taken.weight;
      at[d] = second ? taken.second : taken.first;
    }
    const Texel texel = read(texture, place, at[0], at[1], at[2], taps);
    if (weight == 0) continue;
    for (unsigned i = 0; i < 4; ++i)
      sum[i] += static_cast<double>(weight) * std::bit_cast<float>(texel[i]);
  }
  Texel result;
  for (unsigned i = 0; i < 4; ++i)
    result[i] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[i] / whole));
  return result;
}

Texel of_level(const Texture& texture, const Image& image, ir::TextureShape shape,
               const Coordinates& at, Taps& taps) {
  const bool filters = texture.linear && is_floating(texture);
  const Position on = position(texture, image, shape, at, filters);
  const Place place = place_of(image, shape, at.layer, on.face);
  if (!filters) {
    return read(texture, place, on.taken[0].first, on.taken[1].first, on.taken[2].first, taps);
  }
  return filtered(texture, place, on, image.dimensions, taps);
}

// The level of detail: log2 of the larger of the two footprints in texels.
float level_of(const Texture& texture, const Coordinates& at) {
  constexpr float kLeast = -32;
  float level = at.lod == ir::Lod::kBase ? kLeast : at.level;
  if (at.lod == ir::Lod::kGradient) {
    const Image& image = texture.levels[0];
    const std::uint32_t sizes[] = {image.width, image.height, image.depth};
    double x = 0, y = 0;
    for (std::uint32_t d = 0; d < image.dimensions; ++d) {
      const double size = texture.normalized ? sizes[d] : 1;
      x += at.dx[d] * size * at.dx[d] * size;
      y += at.dy[d] * size * at.dy[d] * size;
    }
    level = static_cast<float>(std::log2(std::sqrt(std::max(x, y))));
  }
  return std::clamp(level + texture.bias, texture.least_level, texture.most_level);
}

}  // namespace

Texel fetch(const Texture& texture, ir::TextureShape shape, const Coordinates& at, Taps& taps) {
  taps.bytes = texture.levels[0].format.bytes();
  const auto last = static_cast<float>(texture.levels.size() - 1);
  if (last == 0) return of_level(texture, texture.levels[0], shape, at, taps);
  const float level = std::clamp(level_of(texture, at), 0.0f, last);
  if (!texture.linear_levels) {
    const auto nearest_level = static_cast<std::size_t>(std::floor(level + 0.5f));
    return of_level(texture, texture.levels[nearest_level], shape, at, taps);
  }
  const auto fixed = static_cast<std::uint32_t>(std::floor(level * 256 + 0.5f));
  const std::uint32_t first = fixed >> 8, weight = fixed & 255;
  const Texel lower = of_level(texture, texture.levels[first], shape, at, taps);
  if (weight == 0 || !is_floating(texture)) return lower;
  const Texel upper = of_level(texture, texture.levels[first + 1], shape, at, taps);
  Texel result;
  for (unsigned i = 0; i < 4; ++i) {
    const double sum = double{std::bit_cast<float>(lower[i])} * (256 - weight) +
                       double{std::bit_cast<float>(upper[i])} * weight;
    result[i] = std::bit_cast<std::uint32_t>(static_cast<float>(sum / 256));
  }
  return result;
}

Texel fetch(const Texture& texture, ir::TextureShape shape, const Indices& at, Taps& taps) {
  taps.bytes = texture.levels[0].format.bytes();
  const auto last = static_cast<std::int64_t>(texture.levels.size()) - 1;
  const Image& image =
      texture.levels[static_cast<std::size_t>(std::clamp<std::int64_t>(at.level, 0, last))];
  if (texture.linear_memory) {
    const auto index = static_cast<std::uint32_t>(at.at[0]);
    if (index >= image.width) return {};
    return read(texture, {image, 0}, index, 0, 0, taps);
  }
  const std::uint32_t sizes[] = {image.width, image.height, image.depth};
  std::int64_t on[3] = {};
  for (std::uint32_t d = 0; d < image.dimensions; ++d)
    on[d] = resolve(
        at.at[d], sizes[d],
        texture.modes[d] == AddressMode::kBorder ? AddressMode::kBorder : AddressMode::kClamp);
  return read(texture, place_of(image, shape, at.layer, 0), on[0], on[1], on[2], taps);
}

Texel gather(const Texture& texture, ir::TextureShape shape, const Coordinates& at,
             std::uint32_t component, Taps& taps) {
  taps.bytes = texture.levels[0].format.bytes();
  const Position on = position(texture, texture.levels[0], shape, at, true);
  const Place place = place_of(texture.levels[0], shape, at.layer, on.face);
  const auto& [x, y, z] = on.taken;
  const auto one = [&](std::int64_t across, std::int64_t down) {
    return read(texture, place, across, down, 0, taps)[component];
  };
  return {one(x.first, y.second), one(x.second, y.second), one(x.second, y.first),
          one(x.first, y.first)};
}

}  // namespace vgpu
