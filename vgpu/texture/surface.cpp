// SPDX-License-Identifier: Apache-2.0
#include "texture/fetch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/half.hpp"

namespace vgpu {

std::optional<std::uint64_t> address_in(const Surface& surface, ir::TextureShape shape,
                                        const SurfacePoint& point, ir::SurfaceBounds bounds,
                                        std::uint32_t bytes, bool texels) {
  const Image& image = surface.image;
  const std::uint32_t texel = image.format.bytes();
  const std::int64_t row = std::int64_t{image.width} * texel;
  std::int64_t x = std::int64_t{point.at[0]} * (texels ? texel : 1);
  const std::uint32_t used = image.dimensions;
  std::int64_t y = used > 1 ? point.at[1] : 0, z = used > 2 ? point.at[2] : 0;
  std::int64_t layer = ir::is_layered(shape) ? std::int64_t{point.layer} : 0;
  const std::int64_t most[] = {row - bytes, image.height - std::int64_t{1},
                               image.depth - std::int64_t{1}, image.layers - std::int64_t{1}};
  if (bounds == ir::SurfaceBounds::kClamp) {
    x = std::clamp<std::int64_t>(x, 0, std::max<std::int64_t>(most[0], 0));
    y = std::clamp<std::int64_t>(y, 0, most[1]);
    z = std::clamp<std::int64_t>(z, 0, most[2]);
    layer = std::clamp<std::int64_t>(layer, 0, most[3]);
  }
  const auto outside = [](std::int64_t at, std::int64_t last) { return at < 0 || at > last; };
  if (outside(x, most[0]) || outside(y, most[1]) || outside(z, most[2]) || outside(layer, most[3]))
    return std::nullopt;
  return image.address + image.slice * static_cast<std::uint64_t>(z + layer) +
         image.pitch * static_cast<std::uint64_t>(y) + static_cast<std::uint64_t>(x);
}

std::array<std::uint8_t, 16> formatted(const TexelFormat& format,
                                       const std::array<std::uint32_t, 4>& channels) {
  std::array<std::uint8_t, 16> bytes{};
  for (unsigned i = 0; i < format.channels; ++i) {
    std::uint32_t bits = channels[i];
    if (format.kind == TexelKind::kFloat && format.bits == 16) {
      bits = ir::float_to_half<ir::f16>(std::bit_cast<float>(bits));
    } else if (format.kind == TexelKind::kSigned && format.bits < 32) {
      const std::int32_t most = (1 << (format.bits - 1)) - 1;
      bits =
          static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(bits), -most - 1, most));
    } else if (format.kind == TexelKind::kUnsigned && format.bits < 32) {
      bits = std::min(bits, (1u << format.bits) - 1);
    }
    std::memcpy(bytes.data() + i * (format.bits / 8u), &bits, format.bits / 8u);
  }
  return bytes;
}

}  // namespace vgpu
