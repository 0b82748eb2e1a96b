// SPDX-License-Identifier: Apache-2.0
// Fetches: the texels that a filter takes, and their weighted sum.
#include <algorithm>
#include <cmath>

#include "texture/filter.hpp"

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

// A texel without a filter.
Texel read_alone(const Texture& texture, const Place& place, std::int64_t x, std::int64_t y,
                 std::int64_t z, Taps& taps) {
  Texel texel = read(texture, place, x, y, z, taps);
  if (texture.to_float && place.image.format.kind == TexelKind::kSigned)
    std::ranges::transform(texel, texel.begin(), at_least_minus_one);
  return texel;
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
  std::array<double, 3> on = {at.at[0], at.at[1], at.at[2]};
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
  // The assembler makes a fetch in one dimension one in two dimensions at y = 0.
  if (used == 1 && filtered && !ir::is_layered(shape)) used = 2;
  const std::uint32_t sizes[] = {image.width, image.height, image.depth};
  for (std::uint32_t d = 0; d < used; ++d) {
    result.taken[d] = filtered ? neighbours(on[d], sizes[d], modes[d], normalized)
                               : nearest(on[d], sizes[d], modes[d], normalized);
  }
  return result;
}

using Channels = std::array<Blend, 4>;

// Adds the texels of a cube whose filters take texels across edges. What would be beyond a corner
// is shared by the other three.
void add_texels_of_cube(const Texture& texture, const Image& image, ir::TextureShape shape,
                        const Coordinates& at, std::int64_t weight, std::size_t quad,
                        Channels& channels, Taps& taps) {
  const CubePoint point = cube_point(at.at);
  const Taken x = neighbours(point.s, image.width, true);
  const Taken y = neighbours(point.t, image.height, true);
  auto weights = corner_weights(weight, x.weight, y.weight);
  std::array<std::optional<CubeTexel>, 4> texels;
  for (std::size_t corner = 0; corner < texels.size(); ++corner) {
    texels[corner] = across_edge({point.face, (corner & 1) != 0 ? x.second : x.first,
                                  (corner & 2) != 0 ? y.second : y.first},
                                 image.width);
    if (texels[corner]) continue;
    const std::int64_t third = (weights[corner] + 1) / 3;
    weights[corner ^ 1] += third;
    weights[corner ^ 2] += third;
    weights[corner ^ 3] += weights[corner] - 2 * third;
  }
  for (std::size_t corner = 0; corner < texels.size(); ++corner) {
    const auto& from = texels[corner];
    if (!from || ((corner & 1) != 0 && x.weight == 0) || ((corner & 2) != 0 && y.weight == 0))
      continue;
    const Texel texel =
        read(texture, place_of(image, shape, at.layer, from->face), from->x, from->y, 0, taps);
    for (unsigned i = 0; i < image.format.channels; ++i)
      channels[i].add(texel[i], weights[corner], quad);
  }
}

// Adds the texels that a fetch takes from one level, which share `weight`.
void add_texels(const Texture& texture, const Image& image, ir::TextureShape shape,
                const Coordinates& at, std::int64_t weight, std::size_t quad, Channels& channels,
                Taps& taps) {
  if (texture.seamless && texture.linear && is_cube(shape))
    return add_texels_of_cube(texture, image, shape, at, weight, quad, channels, taps);
  const Position on = position(texture, image, shape, at, texture.linear);
  const Place place = place_of(image, shape, at.layer, on.face);
  const auto& [x, y, z] = on.taken;
  const auto add = [&](const Texel& texel, std::int64_t its_weight, std::size_t its_quad) {
    for (unsigned i = 0; i < image.format.channels; ++i)
      channels[i].add(texel[i], its_weight, its_quad);
  };
  if (!texture.linear)
    return add(read(texture, place, x.first, y.first, z.first, taps), weight, quad);
  const std::int64_t back = part(weight, z.weight);
  for (std::size_t slice = 0; slice < (image.dimensions > 2 ? 2u : 1u); ++slice) {
    const auto weights = corner_weights(slice == 0 ? weight - back : back, x.weight, y.weight);
    for (std::size_t corner = 0; corner < weights.size(); ++corner) {
      const bool right = (corner & 1) != 0, second = (corner & 2) != 0;
      const Texel texel = read(texture, place, right ? x.second : x.first,
                               second ? y.second : y.first, slice == 0 ? z.first : z.second, taps);
      // A weight that is rounded to 0 counts, too.
      if ((!right || x.weight != 0) && (!second || y.weight != 0) && (slice == 0 || z.weight != 0))
        add(texel, weights[corner], quad + slice);
    }
  }
}

Texel blended(const TexelFormat& format, const Channels& channels) {
  Texel result{};
  for (unsigned i = 0; i < format.channels; ++i) result[i] = channels[i].result();
  return result;
}

Channels channels_of(const Texture& texture) {
  const TexelFormat& format = texture.levels[0].format;
  return {Blend(format, texture.srgb), Blend(format, texture.srgb), Blend(format, texture.srgb),
          Blend(format, false)};
}

Texel of_level(const Texture& texture, const Image& image, ir::TextureShape shape,
               const Coordinates& at, Taps& taps) {
  if (texture.linear && is_floating(texture)) {
    Channels channels = channels_of(texture);
    add_texels(texture, image, shape, at, kFractions, 0, channels, taps);
    return blended(image.format, channels);
  }
  const Position on = position(texture, image, shape, at, false);
  const Place place = place_of(image, shape, at.layer, on.face);
  return read_alone(texture, place, on.taken[0].first, on.taken[1].first, on.taken[2].first, taps);
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
  const auto fixed = static_cast<std::uint32_t>(level * kFractions);
  const std::uint32_t first = fixed >> 8;
  std::int64_t weight = fixed & 255;
  // Anisotropic samplers blend levels only in the middle half between them.
  if (texture.anisotropic)
    weight = std::clamp<std::int64_t>(2 * weight - kFractions / 2, 0, kFractions);
  const TexelFormat& format = texture.levels[0].format;
  if (!is_floating(texture) || (weight == 0 && format.kind == TexelKind::kFloat))
    return of_level(texture, texture.levels[first], shape, at, taps);
  Channels channels = channels_of(texture);
  add_texels(texture, texture.levels[first], shape, at, kFractions - weight, 0, channels, taps);
  if (weight != 0)
    add_texels(texture, texture.levels[first + 1], shape, at, weight, 2, channels, taps);
  return blended(format, channels);
}

Texel fetch(const Texture& texture, ir::TextureShape shape, const Indices& at, Taps& taps) {
  taps.bytes = texture.levels[0].format.bytes();
  const auto last = static_cast<std::int64_t>(texture.levels.size()) - 1;
  const Image& image =
      texture.levels[static_cast<std::size_t>(std::clamp<std::int64_t>(at.level, 0, last))];
  if (texture.linear_memory) {
    const auto index = static_cast<std::uint32_t>(at.at[0]);
    if (index >= image.width) return {};
    return read_alone(texture, {image, 0}, index, 0, 0, taps);
  }
  const std::uint32_t sizes[] = {image.width, image.height, image.depth};
  std::int64_t on[3] = {};
  for (std::uint32_t d = 0; d < image.dimensions; ++d)
    on[d] = resolve(
        at.at[d], sizes[d],
        texture.modes[d] == AddressMode::kBorder ? AddressMode::kBorder : AddressMode::kClamp);
  return read_alone(texture, place_of(image, shape, at.layer, 0), on[0], on[1], on[2], taps);
}

Texel gather(const Texture& texture, ir::TextureShape shape, const Coordinates& at,
             std::uint32_t component, Taps& taps) {
  taps.bytes = texture.levels[0].format.bytes();
  const Position on = position(texture, texture.levels[0], shape, at, true);
  const Place place = place_of(texture.levels[0], shape, at.layer, on.face);
  const auto& [x, y, z] = on.taken;
  const auto one = [&](std::int64_t across, std::int64_t down) {
    return read_alone(texture, place, across, down, 0, taps)[component];
  };
  return {one(x.first, y.second), one(x.second, y.second), one(x.second, y.first),
          one(x.first, y.first)};
}

}  // namespace vgpu
