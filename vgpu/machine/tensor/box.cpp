// SPDX-License-Identifier: Apache-2.0
#include "machine/tensor/box.hpp"

#include <fmt/format.h>

namespace vgpu {
namespace {

constexpr std::uint32_t kChunk = 16;

// A NaN in every format: that which fma.oob takes for zero (from an H100).
void fill_nan(std::byte* to, std::uint32_t bytes) {
  constexpr std::uint16_t kNan = 0x7ff7;
  for (std::uint32_t i = 0; i < bytes; i += sizeof(kNan)) std::memcpy(to + i, &kNan, sizeof(kNan));
}

}  // namespace

std::string broken_place(const TensorMap& map, const BoxPlace& place, bool stores) {
  const std::int64_t first = std::int64_t{place.at[0]} * map.element_bytes();
  if (first % kChunk != 0) {
    return fmt::format(
        "the first coordinate of a copy by tensor map must be a multiple of 16 bytes, not {} ({})",
        first, place.at[0]);
  }
  for (std::uint32_t d = 0; stores && d < map.rank; ++d) {
    if (place.at[d] >= 0) continue;
    return fmt::format("coordinate {} of a store by tensor map must not be negative: {}", d,
                       place.at[d]);
  }
  if (!map.im2col) return "";
  for (std::uint32_t d = 1; d + 1 < map.rank; ++d) {
    const std::int64_t lower = map.lower[d - 1],
                       last = static_cast<std::int64_t>(map.sizes[d]) - 1 + map.upper[d - 1];
    if (place.at[d] < lower || place.at[d] > last) {
      return fmt::format(
          "coordinate {} of a copy in im2col mode must lie between its tensor map's corners, {} to "
          "{}, not be {}",
          d, lower, last, place.at[d]);
    }
    if (stores && (map.lower[d - 1] < 0 || map.upper[d - 1] > 0)) {
      return fmt::format(
          "a store in im2col mode needs corners inside the tensor: along dimension {} they are {} "
          "and {}, not at least 0 and at most 0",
          d, map.lower[d - 1], map.upper[d - 1]);
    }
  }
  return "";
}

std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t address) {
  std::uint32_t mask = 0;
  switch (swizzle) {
    case TensorSwizzle::k32B: mask = 1; break;
    case TensorSwizzle::k64B: mask = 3; break;
    case TensorSwizzle::k128B: mask = 7; break;
    default: return address;
  }
  return address ^ ((address >> 7 & mask) << 4);
}

void put_line(const TensorMap& map, const BoxLine& line, const std::byte* from, std::byte* shared,
              std::uint32_t address) {
  const std::uint32_t begin = address + line.shared;
  if (map.swizzle == TensorSwizzle::kNone) {
    std::memcpy(shared + begin, from, line.bytes);
    return;
  }
  for (std::uint32_t i = 0; i < line.bytes; i += kChunk) {
    std::memcpy(shared + swizzled(map.swizzle, begin + i), from + i, kChunk);
  }
}

void get_line(const TensorMap& map, const BoxLine& line, std::byte* to, const std::byte* shared,
              std::uint32_t address) {
  const std::uint32_t begin = address + line.shared;
  if (map.swizzle == TensorSwizzle::kNone) {
    std::memcpy(to, shared + begin, line.bytes);
    return;
  }
  for (std::uint32_t i = 0; i < line.bytes; i += kChunk) {
    std::memcpy(to + i, shared + swizzled(map.swizzle, begin + i), kChunk);
  }
}

void convert_inside(const TensorMap& map, const BoxLine& line, std::byte* bytes) {
  if (map.type != TensorType::kTfloat32 && map.type != TensorType::kTfloat32Ftz) return;
  // kDropped: number of significand bits that tf32 lacks.
  constexpr std::uint32_t kDropped = 13, kNan = 0x7fffe000;
  for (std::uint32_t i = line.skipped; i < line.skipped + line.inside; i += 4) {
    std::uint32_t bits;
    std::memcpy(&bits, bytes + i, sizeof(bits));
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    bits += (1u << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
    bits = is_nan ? kNan : bits >> kDropped << kDropped;
    std::memcpy(bytes + i, &bits, sizeof(bits));
  }
}

void fill_outside(const TensorMap& map, const BoxLine& line, std::byte* bytes) {
  const auto fill = [&](std::uint32_t begin, std::uint32_t end) {
    if (map.fill == TensorFill::kNan)
      fill_nan(bytes + begin, end - begin);
    else
      std::memset(bytes + begin, 0, end - begin);
  };
  fill(0, line.skipped);
  fill(line.skipped + line.inside, line.bytes);
}

}  // namespace vgpu
