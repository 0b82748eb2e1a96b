// SPDX-License-Identifier: Apache-2.0
#include "operands/encode.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "operands/input.hpp"

namespace ladder {
namespace {

constexpr std::uint32_t kSign = 0x80000000U, kQuietNan = 0x7FC00000U;
constexpr std::uint16_t kPoisonBf16 = 0x7FA5, kPoisonF16 = 0x7DA5;  // signalling NaNs

std::uint16_t bf16_bits(std::uint32_t word) {
  if (word == kPoisonBits) return kPoisonBf16;
  if (std::isnan(std::bit_cast<float>(word)))
    return static_cast<std::uint16_t>((word & kSign) >> 16 | 0x7FC0U);
  return static_cast<std::uint16_t>((word + 0x7FFFU + (word >> 16 & 1U)) >> 16);
}

std::uint32_t word_of_bf16(std::uint16_t bits) {
  return bits == kPoisonBf16 ? kPoisonBits : static_cast<std::uint32_t>(bits) << 16;
}

std::uint16_t f16_bits(std::uint32_t word) {
  if (word == kPoisonBits) return kPoisonF16;
  const std::uint32_t sign = (word & kSign) >> 16;
  const float magnitude = std::abs(std::bit_cast<float>(word));
  if (std::isnan(magnitude)) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 65520.0F)
    // 65520 is half a step above the largest finite number
    return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude <
      0x1p-14F) {  // subnormal: multiples of 2^-24, 1024 of them being the least normal number
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p24F)));
  }
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude);
  const std::uint32_t rounded = bits + 0xFFFU + (bits >> 13 & 1U);
  return static_cast<std::uint16_t>(
      sign | ((rounded >> 13) - (112U << 10)));  // the exponent biases are 127 and 15
}

std::uint32_t word_of_f16(std::uint16_t bits) {
  if (bits == kPoisonF16) return kPoisonBits;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1FU, fraction = bits & 0x3FFU;
  if (exponent == 0)
    return sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24F);
  if (exponent == 0x1F) return sign | (fraction == 0 ? 0x7F800000U : kQuietNan);
  return sign | (exponent + 112U) << 23 | fraction << 13;
}

// OFP8. e4m3 has no infinity and one NaN per sign, its largest code; e5m2 is binary16 cut short.
struct ByteFormat {
  int fraction, bias;
  std::uint32_t largest;  // code of the largest number
  bool infinity;
};
constexpr ByteFormat kE4m3{3, 7, 0x7E, false}, kE5m2{2, 15, 0x7B, true};
constexpr std::uint32_t kByteNan = 0x7F;

template <const ByteFormat& kFormat>
std::uint8_t byte_bits(std::uint32_t word) {
  const std::uint32_t sign = (word & kSign) >> 24;
  const float magnitude = std::abs(std::bit_cast<float>(word));
  if (std::isnan(magnitude)) return static_cast<std::uint8_t>(sign | kByteNan);
  constexpr int kShift = 23 - kFormat.fraction;
  const float least = std::ldexp(1.0F, 1 - kFormat.bias);  // the least normal number
  std::uint32_t code = 0;
  if (magnitude < least) {
    code =
        static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude / least, kFormat.fraction)));
  } else {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude);
    const std::uint32_t rounded = bits + ((1U << (kShift - 1)) - 1) + (bits >> kShift & 1U);
    code =
        (rounded >> kShift) - (static_cast<std::uint32_t>(127 - kFormat.bias) << kFormat.fraction);
  }
  return static_cast<std::uint8_t>(sign | std::min(code, kFormat.largest));
}

template <const ByteFormat& kFormat>
std::uint32_t word_of_byte(std::uint8_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24, code = bits & 0x7FU;
  if (code > kFormat.largest)
    return sign | (kFormat.infinity && code == kFormat.largest + 1 ? 0x7F800000U : kQuietNan);
  const std::uint32_t exponent = code >> kFormat.fraction;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(code), 1 - kFormat.bias - kFormat.fraction);
    return sign | std::bit_cast<std::uint32_t>(value);
  }
  return sign | ((code << (23 - kFormat.fraction)) +
                 (static_cast<std::uint32_t>(127 - kFormat.bias) << 23));
}

template <auto kBits>
std::vector<std::byte> narrow(std::span<const std::uint32_t> words) {
  using Bits = decltype(kBits(0U));
  std::vector<std::byte> memory(sizeof(Bits) * words.size());
  for (std::size_t at = 0; at < words.size(); ++at) {
    const Bits bits = kBits(words[at]);
    std::memcpy(memory.data() + sizeof bits * at, &bits, sizeof bits);
  }
  return memory;
}

template <class Bits, auto kWord>
std::vector<std::uint32_t> widen(std::span<const std::byte> memory) {
  std::vector<std::uint32_t> words(memory.size() / sizeof(Bits));
  for (std::size_t at = 0; at < words.size(); ++at) {
    Bits bits = 0;
    std::memcpy(&bits, memory.data() + sizeof bits * at, sizeof bits);
    words[at] = kWord(bits);
  }
  return words;
}

}  // namespace

float round_to(Type type, float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  switch (type) {
    case Type::kF32: return value;
    case Type::kBf16: return std::bit_cast<float>(word_of_bf16(bf16_bits(word)));
    case Type::kF16: return std::bit_cast<float>(word_of_f16(f16_bits(word)));
    case Type::kE4m3: return std::bit_cast<float>(word_of_byte<kE4m3>(byte_bits<kE4m3>(word)));
    case Type::kE5m2: return std::bit_cast<float>(word_of_byte<kE5m2>(byte_bits<kE5m2>(word)));
  }
  return value;
}

// In the order of Type.
double unit_of(Type type) {
  constexpr double kUnits[] = {0x1p-24, 0x1p-8, 0x1p-11, 0x1p-4, 0x1p-3};
  return kUnits[static_cast<std::size_t>(type)];
}
double half_subnormal_of(Type type) {
  constexpr double kHalves[] = {0x1p-150, 0x1p-134, 0x1p-25, 0x1p-10, 0x1p-17};
  return kHalves[static_cast<std::size_t>(type)];
}

std::int64_t whole_numbers(Type type) { return static_cast<std::int64_t>(1 / unit_of(type)); }

std::vector<std::byte> encode(Type type, std::span<const std::uint32_t> words) {
  switch (type) {
    case Type::kF32: break;
    case Type::kBf16: return narrow<bf16_bits>(words);
    case Type::kF16: return narrow<f16_bits>(words);
    case Type::kE4m3: return narrow<byte_bits<kE4m3>>(words);
    case Type::kE5m2: return narrow<byte_bits<kE5m2>>(words);
  }
  const auto bytes = std::as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> encode(Type type, std::span<const float> values) {
  return encode(type,
                std::span(reinterpret_cast<const std::uint32_t*>(values.data()), values.size()));
}

std::vector<std::uint32_t> decode(Type type, std::span<const std::byte> memory) {
  switch (type) {
    case Type::kF32: break;
    case Type::kBf16: return widen<std::uint16_t, word_of_bf16>(memory);
    case Type::kF16: return widen<std::uint16_t, word_of_f16>(memory);
    case Type::kE4m3: return widen<std::uint8_t, word_of_byte<kE4m3>>(memory);
    case Type::kE5m2: return widen<std::uint8_t, word_of_byte<kE5m2>>(memory);
  }
  std::vector<std::uint32_t> words(memory.size() / 4);
  std::memcpy(words.data(), memory.data(), 4 * words.size());
  return words;
}

}  // namespace ladder
