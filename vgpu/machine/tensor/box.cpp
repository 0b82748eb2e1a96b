// SPDX-License-Identifier: Apache-2.0
#include "machine/tensor/box.hpp"

namespace vgpu {
namespace {

constexpr std::uint32_t kChunk = 16;

// All bits of the significand set: a NaN in every format.
void fill_nan(TensorType type, std::byte* to, std::uint32_t bytes) {
  const auto repeat = [&](auto value) {
    for (std::uint32_t i = 0; i < bytes; i += sizeof(value))
      std::memcpy(to + i, &value, sizeof(value));
  };
  switch (bytes_of(type)) {
    case 2:
      repeat(std::uint16_t{0x7fff});
      return;
    case 4:
      repeat(std::uint32_t{0x7fffffff});
      return;
    default:
      repeat(std::uint64_t{0x7fffffffffffffff});
  }
}

}  // namespace

std::uint32_t swizzled(TensorSwizzle swizzle, std::uint32_t address) {
  std::uint32_t mask = 0;
  switch (swizzle) {
    case TensorSwizzle::k32B:
      mask = 1;
      break;
    case TensorSwizzle::k64B:
      mask = 3;
      break;
    case TensorSwizzle::k128B:
      mask = 7;
      break;
    default:
      return address;
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
      fill_nan(map.type, bytes + begin, end - begin);
    else
      std::memset(bytes + begin, 0, end - begin);
  };
  fill(0, line.skipped);
  fill(line.skipped + line.inside, line.bytes);
}

}  // namespace vgpu
