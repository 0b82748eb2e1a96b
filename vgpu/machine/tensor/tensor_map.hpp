// SPDX-License-Identifier: Apache-2.0
// Tensor maps: the arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, the rules that
// they check, and the 128-byte descriptor that programs pass to kernels. NVIDIA does not document
// those bytes; this engine uses its own format. Sources: CUDA Driver API, "Tensor Map Object
// Management"; PTX ISA, "Tensors".
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ir/tensor_type.hpp"

namespace vgpu {

// With the driver API's values, as TensorType.
enum class TensorInterleave : std::uint32_t { kNone, k16B, k32B };
enum class TensorSwizzle : std::uint32_t {
  kNone,
  k32B,
  k64B,
  k128B,
  k128BAtom32,
  k128BAtom32Flip8,
  k128BAtom64
};
enum class TensorPromotion : std::uint32_t { kNone, k64B, k128B, k256B };
enum class TensorFill : std::uint32_t { kZero, kNan };

struct TensorMap {
  static constexpr std::size_t kBytes = 128, kAlignment = 64;
  static constexpr std::uint32_t kMostRank = 5, kMostImageRank = kMostRank - 2;

  TensorType type = TensorType::kUint8;
  std::uint32_t rank = 0;
  std::uint64_t address = 0;
  // By dimension, innermost (contiguous) first. Entries from `rank` on are unused.
  std::array<std::uint64_t, kMostRank> sizes{};  // elements
  // Bytes from one element to the next; [0] is the element's size.
  std::array<std::uint64_t, kMostRank> strides{};
  // Elements that a copy spans; in im2col mode channels per pixel, pixels per column, then ones.
  std::array<std::uint32_t, kMostRank> box{};
  // Element strides (traversal strides) of the copy; [0] counts as 1.
  std::array<std::uint32_t, kMostRank> steps{};
  TensorInterleave interleave = TensorInterleave::kNone;
  TensorSwizzle swizzle = TensorSwizzle::kNone;
  TensorPromotion promotion = TensorPromotion::kNone;
  TensorFill fill = TensorFill::kZero;
  // Im2col mode: the tensor is a batch of images. By dimension of an image (width, height, depth),
  // a column's pixels lie from `lower` to the image's last one plus `upper`.
  bool im2col = false;
  std::array<std::int32_t, kMostImageRank> lower{}, upper{};

  std::uint32_t element_bytes() const { return static_cast<std::uint32_t>(strides[0]); }
  // Elements that a copy transfers along a dimension, and the total in bytes as mbarriers count it.
  std::uint32_t count(std::uint32_t dimension) const;
  std::uint32_t box_bytes() const;
  // Bytes from one line of the box to the next in shared memory, and bytes of all lines. With a
  // swizzle the pitch is the swizzle span, whatever the line's length (measured on an H200).
  std::uint32_t line_pitch() const;
  std::uint32_t shared_bytes() const;
};

// Bytes per element; 0 for a packed type (several elements share bytes) or an invalid type.
std::uint32_t bytes_of(TensorType type);

// Describes the first rule of the encoding function that the arguments violate; "" if none.
std::string broken_rule(const TensorMap& map);
// Why the engine does not support copies by a valid map; "" if it does.
std::string refusal(const TensorMap& map);

void encode(const TensorMap& map, std::span<std::byte, TensorMap::kBytes> to);
// None if the bytes were not written by encode(), or were changed since.
std::optional<TensorMap> decode(std::span<const std::byte, TensorMap::kBytes> from);

}  // namespace vgpu
