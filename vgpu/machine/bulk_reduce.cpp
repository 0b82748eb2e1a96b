// SPDX-License-Identifier: Apache-2.0
#include "machine/bulk_reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace vgpu::machine {
namespace {

using enum BulkReduction;

struct Half {
  u16 bits;
};
struct Bfloat {
  u16 bits;
};
struct Flushed {  // single precision without subnormal numbers
  float value;
};

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

float to_float(Half h) {
  const u32 sign = u32{h.bits} >> 15 << 31, exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
  if (exponent == 0)
    return std::bit_cast<float>(std::bit_cast<u32>(std::ldexp(static_cast<float>(fraction), -24)) |
                                sign);
  const u32 wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}
float to_float(Bfloat b) { return std::bit_cast<float>(u32{b.bits} << 16); }

Half from_float(float x, Half) {  // to nearest even
  constexpr u32 kOverflow = 0x47800000, kLeastNormal = 0x38800000, kBias = 0x38000000;
  if (std::isnan(x)) return {0x7fff};
  const u32 sign = std::bit_cast<u32>(x) >> 31 << 15, size = std::bit_cast<u32>(x) & 0x7fffffff;
  u32 half = 0x7c00;
  if (size < kLeastNormal)
    half = static_cast<u32>(std::nearbyint(std::ldexp(std::bit_cast<float>(size), 24)));
  else if (size < kOverflow)
    half = (size + 0xfff + (size >> 13 & 1) - kBias) >> 13;
  return {static_cast<u16>(sign | half)};
}
Bfloat from_float(float x, Bfloat) {  // to nearest even
  const u32 bits = std::bit_cast<u32>(x);
  if (std::isnan(x)) return {0x7fff};
  return {static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

template <class T>
T reduced(BulkReduction what, T old, T with) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>) {
    const float a = to_float(old), b = to_float(with);
    return from_float(what == kAdd ? a + b : what == kMin ? std::fmin(a, b) : std::fmax(a, b), T{});
  } else if constexpr (std::is_same_v<T, Flushed>) {
    return {flush(reduced(what, flush(old.value), flush(with.value)))};
  } else if constexpr (std::is_floating_point_v<T>) {
    const T sum = old + with;
    if (!std::isnan(sum)) return sum;
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<T>(0x7fffffffU);
    else
      return std::bit_cast<T>(0xfff8000000000000ULL);
  } else {
    using U = std::make_unsigned_t<T>;
    switch (what) {
      case kAdd: return static_cast<T>(static_cast<U>(old) + static_cast<U>(with));
      case kMin: return std::min(old, with);
      case kMax: return std::max(old, with);
      case kInc: return old >= with ? T{0} : static_cast<T>(old + 1);
      case kDec: return old == 0 || old > with ? with : static_cast<T>(old - 1);
      case kAnd: return old & with;
      case kOr: return old | with;
      default: return old ^ with;
    }
  }
}

template <class T>
void reduce(BulkReduction what, std::byte* to, const std::byte* from, u32 bytes, bool atomic) {
  using Word =
      std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;
  for (u32 i = 0; i < bytes; i += sizeof(T)) {
    T with;
    std::memcpy(&with, from + i, sizeof(T));
    Word* const word = reinterpret_cast<Word*>(to + i);
    if (!atomic) {
      *word = std::bit_cast<Word>(reduced(what, std::bit_cast<T>(*word), with));
      continue;
    }
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    do {
      next = std::bit_cast<Word>(reduced(what, std::bit_cast<T>(old), with));
    } while (
        !__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  }
}

}  // namespace

void Reducer::apply(std::byte* to, const std::byte* from, u32 bytes, bool atomic) const {
  switch (type_) {
    case TensorType::kUint32: reduce<u32>(what_, to, from, bytes, atomic); return;
    case TensorType::kInt32: reduce<i32>(what_, to, from, bytes, atomic); return;
    case TensorType::kUint64: reduce<u64>(what_, to, from, bytes, atomic); return;
    case TensorType::kInt64: reduce<i64>(what_, to, from, bytes, atomic); return;
    case TensorType::kFloat16: reduce<Half>(what_, to, from, bytes, atomic); return;
    case TensorType::kBfloat16: reduce<Bfloat>(what_, to, from, bytes, atomic); return;
    case TensorType::kFloat32:
    case TensorType::kTfloat32: reduce<float>(what_, to, from, bytes, atomic); return;
    case TensorType::kFloat32Ftz:
    case TensorType::kTfloat32Ftz: reduce<Flushed>(what_, to, from, bytes, atomic); return;
    default: reduce<double>(what_, to, from, bytes, atomic);
  }
}

}  // namespace vgpu::machine
