// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "texture/address.hpp"

namespace vgpu {
namespace {

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
