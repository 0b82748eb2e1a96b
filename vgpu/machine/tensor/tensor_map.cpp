// SPDX-License-Identifier: Apache-2.0
#include "machine/tensor/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace vgpu {
namespace {

constexpr std::uint64_t kMostSize = std::uint64_t{1} << 32, kStrideEnd = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostBox = 256, kMostPixels = 1024, kMostStep = 8;

bool is_packed(TensorType type) {
  return type == TensorType::k16U4Align8 || type == TensorType::k16U4Align16 ||
         type == TensorType::k16U6Align16;
}
bool is_padded(TensorType type) {
  return type == TensorType::k16U4Align16 || type == TensorType::k16U6Align16;
}

std::uint32_t swizzle_bytes(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::kNone: return 0;
    case TensorSwizzle::k32B: return 32;
    case TensorSwizzle::k64B: return 64;
    default: return 128;
  }
}

// The engine's own descriptor format. The rest of the 128 bytes is zero.
struct Record {
  std::uint64_t magic = 0, check = 0;
  std::uint64_t address = 0;
  std::uint64_t strides[4] = {};
  std::uint32_t sizes[5] = {};  // minus one
  std::uint16_t box[5] = {};
  std::uint8_t steps[5] = {};
  std::uint8_t type = 0, rank = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0, im2col = 0;
  std::int16_t lower[3] = {}, upper[3] = {};
};
static_assert(sizeof(Record) <= TensorMap::kBytes);
constexpr std::uint64_t kMagic = 0x70616d2075706776;  // "vgpu map"

// Without bit 21, which CUTLASS clears in the second word of maps of less than 128 KiB, as some
// drivers need it.
std::uint64_t check_of(Record record) {
  record.check = 0;
  unsigned char bytes[sizeof(Record)];
  std::memcpy(bytes, &record, sizeof(record));
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash & ~(std::uint64_t{1} << 21);
}

std::string check_enumerators(const TensorMap& map) {
  const auto beyond = [](auto value, auto last) {
    return static_cast<std::uint32_t>(value) > static_cast<std::uint32_t>(last);
  };
  if (beyond(map.type, TensorType::k16U6Align16)) return "tensorDataType is no CUtensorMapDataType";
  if (beyond(map.interleave, TensorInterleave::k32B))
    return "interleave is no CUtensorMapInterleave";
  if (beyond(map.swizzle, TensorSwizzle::k128BAtom64)) return "swizzle is no CUtensorMapSwizzle";
  if (beyond(map.promotion, TensorPromotion::k256B))
    return "l2Promotion is no CUtensorMapL2promotion";
  if (beyond(map.fill, TensorFill::kNan)) return "oobFill is no CUtensorMapFloatOOBfill";
  return "";
}

// globalAddress, globalDim and globalStrides.
std::string check_tensor(const TensorMap& map) {
  const bool wide = map.interleave == TensorInterleave::k32B || is_padded(map.type);
  const std::uint64_t alignment = wide ? 32 : 16;
  const char* const because = !wide                 ? ""
                              : is_padded(map.type) ? " for this packed type"
                                                    : " with interleave 32B";
  if (map.address % alignment != 0) {
    return fmt::format("globalAddress must be a multiple of {} bytes{}, not 0x{:x}", alignment,
                       because, map.address);
  }
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (map.sizes[d] == 0 || map.sizes[d] > kMostSize) {
      return fmt::format("globalDim[{}] must be 1 to 2^32, not {}", d, map.sizes[d]);
    }
  }
  if (is_padded(map.type) && map.sizes[0] % 128 != 0) {
    return fmt::format("globalDim[0] must be a multiple of 128 for this packed type, not {}",
                       map.sizes[0]);
  }
  if (map.type == TensorType::k16U4Align8 && map.sizes[0] % 2 != 0) {
    return fmt::format("globalDim[0] must be a multiple of 2 for this packed type, not {}",
                       map.sizes[0]);
  }
  for (std::uint32_t d = 1; d < map.rank; ++d) {
    const std::uint64_t stride = map.strides[d];
    if (stride % alignment != 0) {
      return fmt::format("globalStrides[{}] must be a multiple of {} bytes{}, not {}", d - 1,
                         alignment, because, stride);
    }
    if (stride >= kStrideEnd)
      return fmt::format("globalStrides[{}] must be less than 2^40, not {}", d - 1, stride);
  }
  return "";
}

// boxDim, or what im2col mode has instead, and elementStrides.
std::string check_box(const TensorMap& map) {
  constexpr const char *kTiled[] = {"boxDim[0]", "boxDim[1]", "boxDim[2]", "boxDim[3]",
                                    "boxDim[4]"},
                       *kIm2col[] = {"channelsPerPixel", "pixelsPerColumn"};
  const char* const* const names = map.im2col ? kIm2col : kTiled;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    const std::uint32_t most = map.im2col && d == 1 ? kMostPixels : kMostBox;
    if (map.box[d] == 0 || map.box[d] > most)
      return fmt::format("{} must be 1 to {}, not {}", names[d], most, map.box[d]);
    // Checked for d = 0 too, although that stride has no effect without interleave.
    if (map.steps[d] == 0 || map.steps[d] > kMostStep) {
      return fmt::format("elementStrides[{}] must be 1 to {}, not {}", d, kMostStep, map.steps[d]);
    }
  }
  if (is_padded(map.type)) {
    if (map.box[0] != 128)
      return fmt::format("{} must be 128 for this packed type, not {}", names[0], map.box[0]);
    return "";
  }
  const std::uint32_t line =
      map.type == TensorType::k16U4Align8 ? map.box[0] / 2 : map.box[0] * bytes_of(map.type);
  if (map.interleave == TensorInterleave::kNone) {
    if (line % 16 != 0) {
      return fmt::format("{} must be a multiple of 16 bytes without interleave, not {}", names[0],
                         line);
    }
    const std::uint32_t span = swizzle_bytes(map.swizzle);
    if (span != 0 && line > span) {
      return fmt::format("{} must be at most the swizzle's {} bytes, not {}", names[0], span, line);
    }
  }
  return "";
}

// pixelBoxLowerCorner and pixelBoxUpperCorner.
std::string check_corners(const TensorMap& map) {
  if (!map.im2col) return "";
  // The offsets of all dimensions have 16 bits: 16, 8 or 5 each.
  const std::uint32_t dimensions = map.rank - 2;
  const std::int32_t end = dimensions == 1 ? 32768 : dimensions == 2 ? 128 : 16;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    for (const bool lower : {true, false}) {
      const std::int32_t corner = (lower ? map.lower : map.upper)[d];
      if (corner < -end || corner >= end)
        return fmt::format("pixelBox{}Corner[{}] must be {} to {} with tensorRank {}, not {}",
                           lower ? "Lower" : "Upper", d, -end, end - 1, map.rank, corner);
    }
    if (static_cast<std::int64_t>(map.sizes[d + 1]) + map.upper[d] <= map.lower[d])
      return fmt::format(
          "the box between pixelBoxLowerCorner and pixelBoxUpperCorner has no pixel "
          "along globalDim[{}] = {}: from {} to the last one plus {}",
          d + 1, map.sizes[d + 1], map.lower[d], map.upper[d]);
  }
  return "";
}

std::string check_modes(const TensorMap& map) {
  if (map.interleave == TensorInterleave::k32B && map.swizzle != TensorSwizzle::k32B) {
    return "swizzle must be 32B with interleave 32B";
  }
  if (map.type == TensorType::k16U6Align16 && map.interleave != TensorInterleave::kNone) {
    return "interleave must be none for this packed type";
  }
  if (is_padded(map.type)) {
    const bool takes =
        map.swizzle == TensorSwizzle::kNone || map.swizzle == TensorSwizzle::k128B ||
        map.swizzle == TensorSwizzle::k128BAtom32 ||
        (map.swizzle == TensorSwizzle::k128BAtom64 && map.type == TensorType::k16U6Align16);
    if (!takes) return "this packed type does not take that swizzle";
  }
  if (map.fill == TensorFill::kNan && !is_floating(map.type)) {
    return "oobFill NaN needs a floating-point tensorDataType";
  }
  return "";
}

}  // namespace

std::uint32_t bytes_of(TensorType type) {
  switch (type) {
    case TensorType::kUint8: return 1;
    case TensorType::kUint16:
    case TensorType::kFloat16:
    case TensorType::kBfloat16: return 2;
    case TensorType::kUint32:
    case TensorType::kInt32:
    case TensorType::kFloat32:
    case TensorType::kFloat32Ftz:
    case TensorType::kTfloat32:
    case TensorType::kTfloat32Ftz: return 4;
    case TensorType::kUint64:
    case TensorType::kInt64:
    case TensorType::kFloat64: return 8;
    default: return 0;
  }
}

std::uint32_t TensorMap::count(std::uint32_t dimension) const {
  const std::uint32_t step = dimension == 0 || im2col ? 1 : steps[dimension];
  return (box[dimension] + step - 1) / step;
}

std::uint32_t TensorMap::box_bytes() const {
  std::uint32_t bytes = element_bytes();
  for (std::uint32_t d = 0; d < rank; ++d) bytes *= count(d);
  return bytes;
}

std::uint32_t TensorMap::line_pitch() const {
  return swizzle == TensorSwizzle::kNone ? count(0) * element_bytes() : swizzle_bytes(swizzle);
}

std::uint32_t TensorMap::shared_bytes() const {
  return box_bytes() / (count(0) * element_bytes()) * line_pitch();
}

std::string broken_rule(const TensorMap& map) {
  if (std::string broken = check_enumerators(map); !broken.empty()) return broken;
  if (map.rank == 0 || map.rank > TensorMap::kMostRank) {
    return fmt::format("tensorRank must be 1 to {}, not {}", TensorMap::kMostRank, map.rank);
  }
  if ((map.im2col || map.interleave != TensorInterleave::kNone) && map.rank < 3) {
    return fmt::format("tensorRank must be at least 3 {}, not {}",
                       map.im2col ? "in im2col mode" : "with interleave", map.rank);
  }
  for (const auto check : {&check_tensor, &check_box, &check_corners, &check_modes}) {
    if (std::string broken = check(map); !broken.empty()) return broken;
  }
  return "";
}

std::string refusal(const TensorMap& map) {
  if (is_packed(map.type)) return "tensor maps of packed types";
  if (map.interleave != TensorInterleave::kNone) return "tensor maps with interleave";
  if (map.swizzle > TensorSwizzle::k128B)
    return "tensor maps with swizzles of 32- or 64-byte atoms";
  return "";
}

void encode(const TensorMap& map, std::span<std::byte, TensorMap::kBytes> to) {
  Record record;
  record.magic = kMagic;
  record.address = map.address;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (d != 0) record.strides[d - 1] = map.strides[d];
    record.sizes[d] = static_cast<std::uint32_t>(map.sizes[d] - 1);
    record.box[d] = static_cast<std::uint16_t>(map.box[d]);
    record.steps[d] = static_cast<std::uint8_t>(d == 0 ? 1 : map.steps[d]);
  }
  record.type = static_cast<std::uint8_t>(map.type);
  record.rank = static_cast<std::uint8_t>(map.rank);
  record.interleave = static_cast<std::uint8_t>(map.interleave);
  record.swizzle = static_cast<std::uint8_t>(map.swizzle);
  record.promotion = static_cast<std::uint8_t>(map.promotion);
  record.fill = static_cast<std::uint8_t>(map.fill);
  record.im2col = map.im2col ? 1 : 0;
  for (std::uint32_t d = 0; d < TensorMap::kMostImageRank; ++d) {
    record.lower[d] = static_cast<std::int16_t>(map.lower[d]);
    record.upper[d] = static_cast<std::int16_t>(map.upper[d]);
  }
  record.check = check_of(record);
  std::memset(to.data(), 0, to.size());
  std::memcpy(to.data(), &record, sizeof(record));
}

std::optional<TensorMap> decode(std::span<const std::byte, TensorMap::kBytes> from) {
  Record record;
  std::memcpy(&record, from.data(), sizeof(record));
  if (record.magic != kMagic || record.check != check_of(record)) return std::nullopt;
  TensorMap map;
  map.type = static_cast<TensorType>(record.type);
  map.rank = record.rank;
  map.address = record.address;
  map.strides[0] = bytes_of(map.type);
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (d != 0) map.strides[d] = record.strides[d - 1];
    map.sizes[d] = std::uint64_t{record.sizes[d]} + 1;
    map.box[d] = record.box[d];
    map.steps[d] = record.steps[d];
  }
  map.interleave = static_cast<TensorInterleave>(record.interleave);
  map.swizzle = static_cast<TensorSwizzle>(record.swizzle);
  map.promotion = static_cast<TensorPromotion>(record.promotion);
  map.fill = static_cast<TensorFill>(record.fill);
  map.im2col = record.im2col != 0;
  std::copy(std::begin(record.lower), std::end(record.lower), map.lower.begin());
  std::copy(std::begin(record.upper), std::end(record.upper), map.upper.begin());
  return map;
}

}  // namespace vgpu
