// SPDX-License-Identifier: Apache-2.0
#include "texture/filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace vgpu {
namespace {

constexpr int kWeightDigits = 8;
constexpr int kSumDigits = 2;  // that a sum of four texels keeps behind its own
constexpr int kNoExponent = -2000;
constexpr double kSignedByte = 127;

constexpr int kMantissaDigits = 52, kBias = 1023;

// 2^exponent, and the exponent of a number as std::frexp has it: of normal numbers.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kMantissaDigits);
}
int exponent_of(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kMantissaDigits & 2047) - kBias +
         1;
}

// To a multiple of 2^exponent, ties away from zero.
double round_to(double value, int exponent) {
  return std::round(value * power_of_two(-exponent)) * power_of_two(exponent);
}

// 127 * 256 becomes 32767: a sum of 7 bits and a fraction of 8 is multiplied by 1 + 2^-7 + 2^-15,
// the last term cut to a multiple of 2^-3, the whole rounded.
double widened(std::int64_t sum) {
  return static_cast<double>(sum + ((sum + (sum >> 12) * 16 + 64) >> 7));
}

}  // namespace

std::int64_t part(std::int64_t weight, std::int64_t fraction) {
  return (weight * fraction + kFractions / 2) / kFractions;
}

std::array<std::int64_t, 4> corner_weights(std::int64_t weight, std::int64_t x, std::int64_t y) {
  const std::int64_t right = part(weight, x), left = weight - right;
  const std::int64_t right_second = part(right, y), left_first = part(left, kFractions - y);
  return {left_first, right - right_second, left - left_first, right_second};
}

// The largest number of an integer format, whose sums have 16 bits; 0 for floating point. Signed
// numbers of 8 bits are summed before they are widened, and the least of them counts as itself.
double Blend::largest_texel() const {
  if (format_.kind == TexelKind::kFloat || srgb_) return 0;
  if (format_.kind == TexelKind::kUnsigned) return 65535;
  return format_.bits == 8 ? kSignedByte : 32767;
}

void Blend::add(std::uint32_t bits, std::int64_t weight, std::size_t quad) {
  double value = std::bit_cast<float>(bits);
  if (const double most = largest_texel(); most != 0)
    value = std::nearbyint(std::max(value, most == kSignedByte ? -2.0 : -1.0) * most);
  else if (std::fabs(value) < double{std::numeric_limits<float>::min()})
    value = 0;
  if (weight != 0 || std::isnan(value)) terms_[count_++] = {value, weight, quad};
}

std::uint32_t Blend::result() const { return largest_texel() != 0 ? fraction() : floating(); }

std::uint32_t Blend::fraction() const {
  double sum = 0;
  for (const Term& term : terms()) sum += term.value * static_cast<double>(term.weight);
  double most = largest_texel(), rounded = std::floor(sum / kFractions + 0.5);
  if (most == kSignedByte) {
    most = 32767;
    rounded = widened(static_cast<std::int64_t>(sum));
  }
  return at_least_minus_one(
      std::bit_cast<std::uint32_t>(static_cast<float>(rounded) / static_cast<float>(most)));
}

// The texels are cut to fixed point with the exponent of the largest of each four.
std::uint32_t Blend::floating() const {
  const bool half = format_.bits != 32;
  const int digits = half ? 11 : 24;
  // Bits kept of a texel, relative to the largest one: four more than its format has, except sRGB.
  const int kept = srgb_ ? 8 : digits + 4;
  std::array<int, kQuads> exponents{};
  exponents.fill(kNoExponent);
  double special = 0;  // the sum of those that are no finite numbers
  for (const Term& term : terms()) {
    if (!std::isfinite(term.value)) special += term.value;
    if (term.value == 0 || !std::isfinite(term.value)) continue;
    const int exponent = srgb_ ? srgb_exponent(term.value) : exponent_of(term.value);
    exponents[term.quad] = std::max(exponents[term.quad], exponent);
  }
  if (std::isnan(special)) return half ? 0x7fffe000 : 0x7fffffff;
  if (special != 0) return std::bit_cast<std::uint32_t>(static_cast<float>(special));
  const int most = *std::ranges::max_element(exponents);
  if (most == kNoExponent) return 0;
  const int unit = most - kept - kWeightDigits - kSumDigits;
  std::array<double, kQuads> sums{};  // in units
  for (const Term& term : terms()) {
    if (term.value == 0) continue;
    const int last = exponents[term.quad] - kept;
    const double cut = std::trunc(term.value * power_of_two(-last));
    sums[term.quad] +=
        cut * static_cast<double>(term.weight) * power_of_two(last - kWeightDigits - unit);
  }
  double sum = 0;
  for (const double quad : sums) sum += std::floor(quad) * power_of_two(unit);
  if (sum == 0) return 0;
  const int exponent = exponent_of(sum);
  constexpr int kLeastHalf = -24;
  sum = round_to(sum, half ? std::max(exponent - digits, kLeastHalf) : exponent - digits);
  const auto result = static_cast<float>(sum);
  if (std::fabs(result) < std::numeric_limits<float>::min()) return 0;
  return std::bit_cast<std::uint32_t>(result);
}

}  // namespace vgpu
