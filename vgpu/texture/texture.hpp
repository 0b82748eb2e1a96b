// SPDX-License-Identifier: Apache-2.0
// Images in device memory, and the texture and surface objects through which kernels access them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <variant>
#include <vector>

namespace vgpu {

enum class TexelKind : std::uint8_t { kSigned, kUnsigned, kFloat };

struct TexelFormat {
  TexelKind kind = TexelKind::kFloat;
  std::uint8_t bits = 32;  // of a channel: 8, 16, 32
  std::uint8_t channels = 1;
  std::uint32_t bytes() const { return bits / 8u * channels; }
  bool operator==(const TexelFormat&) const = default;
};

// Rows of texels. A one-dimensional image has height 1; only three-dimensional ones have a depth
// other than 1. The faces of a cube are layers: six for each cube.
struct Image {
  std::uint64_t address = 0;
  TexelFormat format;
  std::uint32_t dimensions = 2;  // 1 to 3, without layers
  std::uint32_t width = 1, height = 1, depth = 1, layers = 1;
  std::uint64_t pitch = 0;  // bytes from row to row
  std::uint64_t slice = 0;  // ... from one depth, or layer, to the next
  std::uint64_t bytes() const {
    return slice * (std::uint64_t{depth} * layers - 1) + pitch * (height - 1) +
           std::uint64_t{width} * format.bytes();
  }
};

// With CUDA's values.
enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Texture {
  std::vector<Image> levels;   // of a mipmapped array; one otherwise
  bool linear_memory = false;  // the only dimension is an index, and indices outside read as zero
  std::array<AddressMode, 3> modes{};
  bool linear = false;         // filter within a level
  bool linear_levels = false;  // filter between levels
  bool normalized = false;     // coordinates
  bool to_float = false;       // integers are read as fractions of the largest
  bool srgb = false;
  bool cube = false;      // of one cube, without layers
  bool seamless = false;  // filters across the edges of a cube
  bool anisotropic = false;
  std::array<float, 4> border{};
  float bias = 0, least_level = 0, most_level = 0;
};

struct Surface {
  Image image;
};

// The objects of a process by handle. Handles fit into 32 bits, since machine code passes no more.
class TextureObjects {
 public:
  using Object = std::variant<Texture, Surface>;
  // Null if there is none of that handle, or one of the other kind.
  const Texture* texture(std::uint64_t handle) const { return find<Texture>(handle); }
  const Surface* surface(std::uint64_t handle) const { return find<Surface>(handle); }

  std::uint64_t add(Object object) {
    objects_.emplace(++last_, std::make_shared<const Object>(std::move(object)));
    return last_;
  }
  bool remove(std::uint64_t handle) { return objects_.erase(handle) != 0; }

 private:
  template <class T>
  const T* find(std::uint64_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : std::get_if<T>(found->second.get());
  }

  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::shared_ptr<const Object>> objects_;
};

}  // namespace vgpu
