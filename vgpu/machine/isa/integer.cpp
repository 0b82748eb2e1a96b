// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. Wrapping is done on unsigned values: signed overflow is defined in PTX.
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

using i128 = __int128;
using u128 = unsigned __int128;

template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, i32, u32>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, i64, u64>,
                       std::conditional_t<std::is_signed_v<T>, i128, u128>>>;

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
[[gnu::always_inline]] inline T wrapping_multiply(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 2, u32, Unsigned<T>>;  // u16 would be promoted to int
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
template <class T>
[[gnu::always_inline]] inline T high_half(T a, T b) {
  return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
}
template <class T>
[[gnu::always_inline]] inline T wrapping_add(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 2, u32, Unsigned<T>>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T>
[[gnu::always_inline]] inline T wrapping_subtract(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 2, u32, Unsigned<T>>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

[[gnu::always_inline]] inline i32 saturate_s32(i64 value) {
  return value > 0x7fffffff         ? 0x7fffffff
         : value < -i64{0x80000000} ? -0x7fffffff - 1
                                    : static_cast<i32>(value);
}

// Division by zero gives all ones, as the hardware's sequence does, and the dividend as remainder
// (of 16 bits: all ones).
template <class T>
[[gnu::always_inline]] inline T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return wrapping_subtract(T(0), a);
  }
  return static_cast<T>(a / b);
}
template <class T>
[[gnu::always_inline]] inline T remainder(T a, T b) {
  if (b == 0) return sizeof(T) == 2 ? static_cast<T>(-1) : a;
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
  }
  return static_cast<T>(a % b);
}

// Operations that every integer type has.
template <class T>
void define_type(OperationSink& sink, const char* type) {
  op(sink, "add.", type, [](T a, T b) { return wrapping_add(a, b); });
  op(sink, "sub.", type, [](T a, T b) { return wrapping_subtract(a, b); });
  op(sink, "mul.lo.", type, [](T a, T b) { return wrapping_multiply(a, b); });
  op(sink, "mul.hi.", type, [](T a, T b) { return high_half(a, b); });
  op(sink, "mad.lo.", type, [](T a, T b, T c) { return wrapping_add(wrapping_multiply(a, b), c); });
  op(sink, "mad.hi.", type, [](T a, T b, T c) { return wrapping_add(high_half(a, b), c); });
  if constexpr (sizeof(T) < 8) {
    using W = Wide<T>;
    op(sink, "mul.wide.", type,
       [](T a, T b) { return static_cast<W>(static_cast<W>(a) * static_cast<W>(b)); });
    op(sink, "mad.wide.", type, [](T a, T b, W c) {
      return wrapping_add(static_cast<W>(static_cast<W>(a) * static_cast<W>(b)), c);
    });
  }
  op(sink, "sad.", type, [](T a, T b, T c) {
    return wrapping_add(c, a < b ? wrapping_subtract(b, a) : wrapping_subtract(a, b));
  });
  op_each(sink, "div.", type, [](T a, T b) { return divide(a, b); });
  op_each(sink, "rem.", type, [](T a, T b) { return remainder(a, b); });
  op(sink, "min.", type, [](T a, T b) { return a < b ? a : b; });
  op(sink, "max.", type, [](T a, T b) { return a > b ? a : b; });
  if constexpr (std::is_signed_v<T>) {
    op(sink, "neg.", type, [](T a) { return wrapping_subtract(T(0), a); });
    op(sink, "abs.", type, [](T a) { return a < 0 ? wrapping_subtract(T(0), a) : a; });
  }
}

template <class F>
[[gnu::always_inline]] inline u32 by_halves(u32 a, u32 b, F f) {
  const u32 low = static_cast<u16>(f(static_cast<u16>(a), static_cast<u16>(b)));
  const u32 high = static_cast<u16>(f(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16)));
  return low | high << 16;
}

void define_pairs(OperationSink& sink) {
  op(sink, "add.u16x2 add.s16x2",
     [](u32 a, u32 b) { return by_halves(a, b, [](u16 x, u16 y) { return x + y; }); });
  op(sink, "min.u16x2",
     [](u32 a, u32 b) { return by_halves(a, b, [](u16 x, u16 y) { return x < y ? x : y; }); });
  op(sink, "max.u16x2",
     [](u32 a, u32 b) { return by_halves(a, b, [](u16 x, u16 y) { return x > y ? x : y; }); });
  op(sink, "min.s16x2", [](u32 a, u32 b) {
    return by_halves(a, b, [](u16 x, u16 y) { return i16(x) < i16(y) ? x : y; });
  });
  op(sink, "max.s16x2", [](u32 a, u32 b) {
    return by_halves(a, b, [](u16 x, u16 y) { return i16(x) > i16(y) ? x : y; });
  });
  op(sink, "min.relu.s16x2", [](u32 a, u32 b) {
    return by_halves(a, b, [](u16 x, u16 y) {
      const i16 m = i16(x) < i16(y) ? i16(x) : i16(y);
      return m < 0 ? i16(0) : m;
    });
  });
  op(sink, "max.relu.s16x2", [](u32 a, u32 b) {
    return by_halves(a, b, [](u16 x, u16 y) {
      const i16 m = i16(x) > i16(y) ? i16(x) : i16(y);
      return m < 0 ? i16(0) : m;
    });
  });
  op(sink, "min.relu.s32", [](i32 a, i32 b) {
    const i32 m = a < b ? a : b;
    return m < 0 ? 0 : m;
  });
  op(sink, "max.relu.s32", [](i32 a, i32 b) {
    const i32 m = a > b ? a : b;
    return m < 0 ? 0 : m;
  });
}

[[gnu::always_inline]] inline u32 low24(u32 a) { return a & 0xffffff; }
[[gnu::always_inline]] inline i32 low24_signed(i32 a) {
  return static_cast<i32>(static_cast<u32>(a) << 8) >> 8;
}

void define_24_bits(OperationSink& sink) {
  op(sink, "mul24.lo.u32", [](u32 a, u32 b) { return low24(a) * low24(b); });
  op(sink, "mul24.lo.s32",
     [](i32 a, i32 b) { return wrapping_multiply(low24_signed(a), low24_signed(b)); });
  op(sink, "mul24.hi.u32",
     [](u32 a, u32 b) { return static_cast<u32>(u64{low24(a)} * low24(b) >> 16); });
  op(sink, "mul24.hi.s32",
     [](i32 a, i32 b) { return static_cast<i32>(i64{low24_signed(a)} * low24_signed(b) >> 16); });
  op(sink, "mad24.lo.u32", [](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; });
  op(sink, "mad24.lo.s32", [](i32 a, i32 b, i32 c) {
    return wrapping_add(wrapping_multiply(low24_signed(a), low24_signed(b)), c);
  });
  op(sink, "mad24.hi.u32",
     [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{low24(a)} * low24(b) >> 16) + c; });
  op(sink, "mad24.hi.s32", [](i32 a, i32 b, i32 c) {
    return wrapping_add(static_cast<i32>(i64{low24_signed(a)} * low24_signed(b) >> 16), c);
  });
  op(sink, "mad24.hi.sat.s32", [](i32 a, i32 b, i32 c) {
    return saturate_s32((i64{low24_signed(a)} * low24_signed(b) >> 16) + c);
  });
}

// Extended precision. The carry is a predicate that lowering keeps for the function: Insn::list.
template <class T>
[[gnu::always_inline]] inline T product(u8 form, T a, T b) {
  return (form & 8) != 0 ? high_half(a, b) : wrapping_multiply(a, b);
}

// Insn::sub: 1 carry in, 2 carry out, 4 subtract, 8 the product's high half, which depends on the
// signedness of the factors. Without a type of factors: a sum.
template <class T, class Factor = void>
void with_carry(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const T* const a = slot<T>(window, insn.s[0]);
  const T* const b = slot<T>(window, insn.s[1]);
  const T* const c = slot<T>(window, insn.s[2]);
  T* const d = slot<T>(window, insn.d);
  const u32 carry = (insn.sub & 1) != 0 ? *slot<u32>(window, insn.list) : 0;
  u32 out = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const u128 in = carry >> i & 1;
    u128 wide;
    if constexpr (!std::is_void_v<Factor>) {
      const Factor x = static_cast<Factor>(a[i]), y = static_cast<Factor>(b[i]);
      wide = u128{static_cast<T>(product(insn.sub, x, y))} + c[i] + in;
    } else if ((insn.sub & 4) != 0) {
      wide = u128{a[i]} - b[i] - in;  // the borrow sets all upper bits
    } else {
      wide = u128{a[i]} + b[i] + in;
    }
    if ((mask >> i & 1) != 0) d[i] = static_cast<T>(wide);
    out |= static_cast<u32>(wide >> (8 * sizeof(T)) & 1) << i;
  }
  if ((insn.sub & 2) != 0) set_predicate(window, insn.list, out, mask);
}

template <class T>
void define_carry(OperationSink& sink, const char* add, const char* multiply_unsigned,
                  const char* multiply_signed) {
  constexpr Arg kArg = arg_of<T>();
  sink.add(add, "", Shape{kArg, {kArg, kArg}}, &with_carry<T>);
  sink.add(multiply_unsigned, "", Shape{kArg, {kArg, kArg, kArg}}, &with_carry<T, T>);
  sink.add(multiply_signed, "", Shape{kArg, {kArg, kArg, kArg}},
           &with_carry<T, std::make_signed_t<T>>);
}

// dp4a: bytes of a and b, each signed or not; dp2a: halves of a, the low or high two bytes of b.
template <bool kSignedA, bool kSignedB>
[[gnu::always_inline]] inline u32 dot4(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8) {
    const i32 x = kSignedA ? i32{static_cast<i8>(a >> k)} : i32{static_cast<u8>(a >> k)};
    const i32 y = kSignedB ? i32{static_cast<i8>(b >> k)} : i32{static_cast<u8>(b >> k)};
    c += static_cast<u32>(x * y);
  }
  return c;
}
template <bool kSignedA, bool kSignedB, int kShift>
[[gnu::always_inline]] inline u32 dot2(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 2; ++k) {
    const i32 x =
        kSignedA ? i32{static_cast<i16>(a >> 16 * k)} : i32{static_cast<u16>(a >> 16 * k)};
    const i32 y = kSignedB ? i32{static_cast<i8>(b >> (kShift + 8 * k))}
                           : i32{static_cast<u8>(b >> (kShift + 8 * k))};
    c += static_cast<u32>(x * y);
  }
  return c;
}

void define_dot(OperationSink& sink) {
  op(sink, "dp4a.u32.u32", [](u32 a, u32 b, u32 c) { return dot4<false, false>(a, b, c); });
  op(sink, "dp4a.u32.s32", [](u32 a, u32 b, u32 c) { return dot4<false, true>(a, b, c); });
  op(sink, "dp4a.s32.u32", [](u32 a, u32 b, u32 c) { return dot4<true, false>(a, b, c); });
  op(sink, "dp4a.s32.s32", [](u32 a, u32 b, u32 c) { return dot4<true, true>(a, b, c); });
  op(sink, "dp2a.lo.u32.u32", [](u32 a, u32 b, u32 c) { return dot2<false, false, 0>(a, b, c); });
  op(sink, "dp2a.lo.u32.s32", [](u32 a, u32 b, u32 c) { return dot2<false, true, 0>(a, b, c); });
  op(sink, "dp2a.lo.s32.u32", [](u32 a, u32 b, u32 c) { return dot2<true, false, 0>(a, b, c); });
  op(sink, "dp2a.lo.s32.s32", [](u32 a, u32 b, u32 c) { return dot2<true, true, 0>(a, b, c); });
  op(sink, "dp2a.hi.u32.u32", [](u32 a, u32 b, u32 c) { return dot2<false, false, 16>(a, b, c); });
  op(sink, "dp2a.hi.u32.s32", [](u32 a, u32 b, u32 c) { return dot2<false, true, 16>(a, b, c); });
  op(sink, "dp2a.hi.s32.u32", [](u32 a, u32 b, u32 c) { return dot2<true, false, 16>(a, b, c); });
  op(sink, "dp2a.hi.s32.s32", [](u32 a, u32 b, u32 c) { return dot2<true, true, 16>(a, b, c); });
}

// vabsdiff4, vabsdiff2: the magnitudes of the differences of four bytes or two halves, or c and
// their sum. The signs are those of the result (which matters where it saturates), of a and of b.
enum class Parts { kTruncate, kSaturate, kSum };
template <u32 kBits, bool kSigned>
[[gnu::always_inline]] inline i32 part_of(u32 word, u32 at) {
  const u32 top = word << (32 - kBits - at);
  return kSigned ? static_cast<i32>(top) >> (32 - kBits) : static_cast<i32>(top >> (32 - kBits));
}
template <u32 kBits, bool kSigned, bool kSignedA, bool kSignedB, Parts kResult>
[[gnu::always_inline]] inline u32 absolute_differences(u32 a, u32 b, u32 c) {
  u32 parts = 0;
  for (u32 k = 0; k < 32; k += kBits) {
    const i32 x = part_of<kBits, kSignedA>(a, k), y = part_of<kBits, kSignedB>(b, k);
    const i32 difference = x < y ? y - x : x - y;
    constexpr i32 kAll = (1 << kBits) - 1, kMost = kSigned ? kAll / 2 : kAll;
    if constexpr (kResult == Parts::kSum) {
      c += static_cast<u32>(difference);
    } else {
      const bool clamp = kResult == Parts::kSaturate && difference > kMost;
      parts |= static_cast<u32>((clamp ? kMost : difference) & kAll) << k;
    }
  }
  return kResult == Parts::kSum ? c : parts;
}

template <u32 kBits, bool kSigned, bool kSignedA, bool kSignedB, Parts kResult>
void define_differences(OperationSink& sink, const char* types, const char* end) {
  const auto compute = [](u32 a, u32 b, u32 c) {
    return absolute_differences<kBits, kSigned, kSignedA, kSignedB, kResult>(a, b, c);
  };
  using F = decltype(compute);
  sink.add_joined(kBits == 8 ? "vabsdiff4." : "vabsdiff2.", types, end, Signature<F>::shape(),
                  &Signature<F>::template all<F>);
}
template <u32 kBits, bool kSigned, bool kSignedA, bool kSignedB>
void define_differences(OperationSink& sink, const char* types) {
  define_differences<kBits, kSigned, kSignedA, kSignedB, Parts::kTruncate>(sink, types, "");
  define_differences<kBits, kSigned, kSignedA, kSignedB, Parts::kSaturate>(sink, types, ".sat");
  define_differences<kBits, kSigned, kSignedA, kSignedB, Parts::kSum>(sink, types, ".add");
}
template <u32 kBits>
void define_all_differences(OperationSink& sink) {
  define_differences<kBits, false, false, false>(sink, "u32.u32.u32");
  define_differences<kBits, false, false, true>(sink, "u32.u32.s32");
  define_differences<kBits, false, true, false>(sink, "u32.s32.u32");
  define_differences<kBits, false, true, true>(sink, "u32.s32.s32");
  define_differences<kBits, true, false, false>(sink, "s32.u32.u32");
  define_differences<kBits, true, false, true>(sink, "s32.u32.s32");
  define_differences<kBits, true, true, false>(sink, "s32.s32.u32");
  define_differences<kBits, true, true, true>(sink, "s32.s32.s32");
}

}  // namespace

void define_integer(OperationSink& sink) {
  define_type<u16>(sink, "u16");
  define_type<i16>(sink, "s16");
  define_type<u32>(sink, "u32");
  define_type<i32>(sink, "s32");
  define_type<u64>(sink, "u64");
  define_type<i64>(sink, "s64");
  op(sink, "add.sat.s32", [](i32 a, i32 b) { return saturate_s32(i64{a} + b); });
  op(sink, "sub.sat.s32", [](i32 a, i32 b) { return saturate_s32(i64{a} - b); });
  op(sink, "mad.hi.sat.s32",
     [](i32 a, i32 b, i32 c) { return saturate_s32(i64{high_half(a, b)} + c); });
  define_pairs(sink);
  define_24_bits(sink);
  define_carry<u32>(sink, "carry.add32", "carry.mad.u32", "carry.mad.s32");
  define_carry<u64>(sink, "carry.add64", "carry.mad.u64", "carry.mad.s64");
  define_dot(sink);
  define_all_differences<8>(sink);
  define_all_differences<16>(sink);
}

}  // namespace vgpu::machine::VGPU_ISA
