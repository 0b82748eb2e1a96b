// SPDX-License-Identifier: Apache-2.0
#include "machine/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "ir/half.hpp"

namespace vgpu::machine {
namespace {

using enum Reduction;

struct Flushed {  // single precision without subnormal numbers
  float value;
};

template <class T>
T reduced(Reduction what, T old, T with) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    const float a = to_float(old), b = to_float(with);
    const float result = what == kAdd ? a + b : what == kMin ? std::fmin(a, b) : std::fmax(a, b);
    return T{static_cast<u16>(float_to_half<T>(result))};
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
void reduce(Reduction what, std::byte* to, const std::byte* from, u32 bytes, bool atomic) {
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
    case TensorType::kFloat16: reduce<f16>(what_, to, from, bytes, atomic); return;
    case TensorType::kBfloat16: reduce<bf16>(what_, to, from, bytes, atomic); return;
    case TensorType::kFloat32:
    case TensorType::kTfloat32: reduce<float>(what_, to, from, bytes, atomic); return;
    case TensorType::kFloat32Ftz:
    case TensorType::kTfloat32Ftz: reduce<Flushed>(what_, to, from, bytes, atomic); return;
    default: reduce<double>(what_, to, from, bytes, atomic);
  }
}

}  // namespace vgpu::machine
