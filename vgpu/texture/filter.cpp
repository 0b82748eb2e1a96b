// SPDX-License-Identifier: Apache-2.0
// Fetches: the texels that a filter takes, and their weighted sum.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "texture/address.hpp"
#include "texture/cube.hpp"
#include "texture/fetch.hpp"
#include "texture/texel.hpp"

namespace vgpu {
namespace {

// The largest fraction of 16 bits of an integer format; 0 for floating point.
double largest_fraction(const TexelFormat& format) {
  if (format.kind == TexelKind::kFloat) return 0;
  return format.kind == TexelKind::kSigned ? 32767 : 65535;
}

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
  // As the assembler has it, a fetch in one dimension is one in two at y = 0.
  if (used == 1 && filtered && !ir::is_layered(shape)) used = 2;
  const std::uint32_t sizes[] = {image.width, image.height, image.depth};
  for (std::uint32_t d = 0; d < used; ++d) {
    result.taken[d] = filtered ? neighbours(on[d], sizes[d], modes[d], normalized)
                               : nearest(on[d], sizes[d], modes[d], normalized);
  }
  return result;
}

constexpr std::size_t kCorners = 8;

// Weights of the corners in 256ths: bits 0 to 2 of a corner's number select the second texel along
// x, y and z. As an H100 has them, each product of two weights is rounded to 256ths. In three
// dimensions that is not exactly what it does: some of its weights differ by a 256th.
std::array<std::int64_t, kCorners> weights_of(const Position& on, std::uint32_t used) {
  const auto product = [](std::int64_t a, std::int64_t b) {
    return (a * b + kFractions / 2) / kFractions;
  };
  const std::int64_t x = on.taken[0].weight;
  std::array<std::int64_t, kCorners> weights = {kFractions - x, x};
  if (used == 1) return weights;
  const std::int64_t y = on.taken[1].weight, both = product(x, y);
  weights = {kFractions - x - y + both, x - both, y - both, both};
  for (std::size_t corner = 0; used == 3 && corner < kCorners / 2; ++corner) {
    const std::int64_t second = product(weights[corner], on.taken[2].weight);
    weights[corner + kCorners / 2] = second;
    weights[corner] -= second;
  }
  return weights;
}

// Texels of integers are filtered as fractions of 16 bits; others as they are, but for subnormal
// numbers.
double filterable(const TexelFormat& format, std::uint32_t bits) {
  const double value = std::bit_cast<float>(bits);
  if (const double most = largest_fraction(format); most != 0) return std::nearbyint(value * most);
  return std::fabs(value) < double{std::numeric_limits<float>::min()} ? 0 : value;
}

// To `digits` binary digits, to the nearest, ties away from zero.
double round_digits(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(value, digits - exponent)), exponent - digits);
}

// A filter's result has the texels' precision, and at least 16 bits.
std::uint32_t filtered_value(const TexelFormat& format, double value) {
  constexpr int kSingleDigits = 24, kHalfDigits = 11;
  float result = 0;
  if (const double most = largest_fraction(format); most != 0)
    result = static_cast<float>(std::floor(value + 0.5)) / static_cast<float>(most);
  else
    result =
        static_cast<float>(round_digits(value, format.bits == 16 ? kHalfDigits : kSingleDigits));
  if (std::fabs(result) < std::numeric_limits<float>::min()) result = 0;
  return std::bit_cast<std::uint32_t>(result);
}

// The sum of up to eight texels.
Texel filtered(const Texture& texture, const Place& place, const Position& on, std::uint32_t used,
               Taps& taps) {
  const TexelFormat& format = place.image.format;
  const auto weights = weights_of(on, used);
  std::array<double, 4> sum{};
  for (std::uint32_t corner = 0; corner < 1u << used; ++corner) {
    std::int64_t at[3] = {};
    for (std::uint32_t d = 0; d < used; ++d) {
      const Taken& taken = on.taken[d];
      at[d] = (corner >> d & 1) != 0 ? taken.second : taken.first;
    }
    const Texel texel = read(texture, place, at[0], at[1], at[2], taps);
    if (weights[corner] == 0) continue;
    for (unsigned i = 0; i < format.channels; ++i)
      sum[i] += static_cast<double>(weights[corner]) * filterable(format, texel[i]);
  }
  Texel result{};
  for (unsigned i = 0; i < format.channels; ++i)
    result[i] = filtered_value(format, sum[i] / kFractions);
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
  const bool flat = image.dimensions == 1 && !ir::is_layered(shape);
  return filtered(texture, place, on, flat ? 2 : image.dimensions, taps);
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
  const std::uint32_t first = fixed >> 8;
  const double weight = fixed & 255;
  const Texel lower = of_level(texture, texture.levels[first], shape, at, taps);
  if (weight == 0 || !is_floating(texture)) return lower;
  const Texel upper = of_level(texture, texture.levels[first + 1], shape, at, taps);
  const TexelFormat& format = texture.levels[0].format;
  Texel result{};
  for (unsigned i = 0; i < format.channels; ++i) {
    const double sum = filterable(format, lower[i]) * (kFractions - weight) +
                       filterable(format, upper[i]) * weight;
    result[i] = filtered_value(format, sum / kFractions);
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
