// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, bit fields, permutation of bytes, and logic on predicates.
#include "machine/isa/bit_functions.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <class T>
inline constexpr u32 kBits = 8 * sizeof(T);

template <class T>
[[gnu::always_inline]] inline T shift_left(T a, u32 by) {
  using U = std::conditional_t<sizeof(T) == 8, u64, u32>;
  return by >= kBits<T> ? T(0) : static_cast<T>(static_cast<U>(a) << (by & (kBits<T> - 1)));
}
template <class T>
[[gnu::always_inline]] inline T shift_right(T a, u32 by) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (by >= kBits<T> ? kBits<T> - 1 : by));
  return by >= kBits<T> ? T(0) : static_cast<T>(a >> (by & (kBits<T> - 1)));
}

template <class T>
void define_logic(OperationSink& sink, const char* type) {
  op(sink, "and.", type, [](T a, T b) { return static_cast<T>(a & b); });
  op(sink, "or.", type, [](T a, T b) { return static_cast<T>(a | b); });
  op(sink, "xor.", type, [](T a, T b) { return static_cast<T>(a ^ b); });
  op(sink, "not.", type, [](T a) { return static_cast<T>(~a); });
  op(sink, "cnot.", type, [](T a) { return static_cast<T>(a == 0); });
  op(sink, "shl.", type, [](T a, u32 by) { return shift_left(a, by); });
  op(sink, "shr.", type, [](T a, u32 by) { return shift_right(a, by); });
}

// Position of the most significant bit that differs from the sign, all ones if none does.
template <class T>
[[gnu::always_inline]] inline u32 find_bit(T value) {
  std::make_unsigned_t<T> bits = static_cast<std::make_unsigned_t<T>>(value);
  if constexpr (std::is_signed_v<T>) {
    if (value < 0) bits = ~bits;
  }
  return bits == 0 ? kNone : kBits<T> - 1 - static_cast<u32>(std::countl_zero(bits));
}

// A position or a length of bfe and bfi: the lower 8 bits. An H100 does not cut them off where the
// value has 64 bits, in which 256 is beyond its end, too.
template <class T>
[[gnu::always_inline]] inline u32 field_bound(u32 bound) {
  if constexpr (sizeof(T) == 8) return bound < 0xff ? bound : 0xff;
  return bound & 0xff;
}

template <class T>
[[gnu::always_inline]] inline T extract(T a, u32 position, u32 length) {
  position = field_bound<T>(position);
  length = field_bound<T>(length);
  using U = std::make_unsigned_t<T>;
  if (length == 0) return 0;
  const u32 last = position + length - 1;
  const bool fill = std::is_signed_v<T> &&
                    (static_cast<U>(a) >> (last < kBits<T> ? last : kBits<T> - 1) & 1) != 0;
  const U field = shift_right(static_cast<U>(a), position);
  const U keep = length >= kBits<T> ? static_cast<U>(~U(0)) : static_cast<U>((U(1) << length) - 1);
  const u32 inside =
      position >= kBits<T> ? 0 : kBits<T> - position;  // bits of the field inside the value
  const U exist = inside >= kBits<T> ? static_cast<U>(~U(0)) : static_cast<U>((U(1) << inside) - 1);
  return static_cast<T>((field & keep & exist) | (fill ? static_cast<U>(~(keep & exist)) : U(0)));
}

template <class T>
[[gnu::always_inline]] inline T insert(T a, T b, u32 position, u32 length) {
  position = field_bound<T>(position);
  length = field_bound<T>(length);
  const T field = length >= kBits<T> ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << length) - 1);
  const T mask = shift_left(field, position);
  return static_cast<T>((b & ~mask) | (shift_left(a, position) & mask));
}

void define_fields(OperationSink& sink) {
  op(sink, "popc.b32", [](u32 a) { return static_cast<u32>(__builtin_popcount(a)); });
  op(sink, "popc.b64", [](u64 a) { return static_cast<u32>(__builtin_popcountll(a)); });
  op(sink, "clz.b32", [](u32 a) { return static_cast<u32>(std::countl_zero(a)); });
  op(sink, "clz.b64", [](u64 a) { return static_cast<u32>(std::countl_zero(a)); });
  op(sink, "bfind.u32", [](u32 a) { return find_bit(a); });
  op(sink, "bfind.s32", [](i32 a) { return find_bit(a); });
  op(sink, "bfind.u64", [](u64 a) { return find_bit(a); });
  op(sink, "bfind.s64", [](i64 a) { return find_bit(a); });
  // The shift that moves that bit to the most significant position.
  op(sink, "bfind.shiftamt.u32",
     [](u32 a) { return find_bit(a) == kNone ? kNone : 31 - find_bit(a); });
  op(sink, "bfind.shiftamt.s32",
     [](i32 a) { return find_bit(a) == kNone ? kNone : 31 - find_bit(a); });
  op(sink, "bfind.shiftamt.u64",
     [](u64 a) { return find_bit(a) == kNone ? kNone : 63 - find_bit(a); });
  op(sink, "bfind.shiftamt.s64",
     [](i64 a) { return find_bit(a) == kNone ? kNone : 63 - find_bit(a); });
  op(sink, "brev.b32", [](u32 a) { return reverse32(a); });
  op(sink, "brev.b64", [](u64 a) {
    return u64{reverse32(static_cast<u32>(a))} << 32 | reverse32(static_cast<u32>(a >> 32));
  });
  op(sink, "bfe.u32", [](u32 a, u32 p, u32 n) { return extract(a, p, n); });
  op(sink, "bfe.s32", [](i32 a, u32 p, u32 n) { return extract(a, p, n); });
  op(sink, "bfe.u64", [](u64 a, u32 p, u32 n) { return extract(a, p, n); });
  op(sink, "bfe.s64", [](i64 a, u32 p, u32 n) { return extract(a, p, n); });
  op(sink, "bfi.b32", [](u32 a, u32 b, u32 p, u32 n) { return insert(a, b, p, n); });
  op(sink, "bfi.b64", [](u64 a, u64 b, u32 p, u32 n) { return insert(a, b, p, n); });
  op(sink, "bmsk.clamp.b32", [](u32 a, u32 b) {
    const u32 first = a < 32 ? a : 32;
    const u32 length = b < 32 ? b : 32;
    return insert(kAllLanes, 0u, first, length);
  });
  op(sink, "bmsk.wrap.b32", [](u32 a, u32 b) { return insert(kAllLanes, 0u, a & 31, b & 31); });
  // The low bits of a, extended by zeros or by the sign; the width is the second operand.
  op(sink, "szext.clamp.u32", [](u32 a, u32 n) { return n >= 32 ? a : extract(a, 0, n); });
  op(sink, "szext.clamp.s32", [](i32 a, u32 n) { return n >= 32 ? a : extract(a, 0, n); });
  op(sink, "szext.wrap.u32", [](u32 a, u32 n) { return extract(a, 0, n & 31); });
  op(sink, "szext.wrap.s32", [](i32 a, u32 n) { return extract(a, 0, n & 31); });
}

// The upper word of (b:a) << by, the lower one of (b:a) >> by; by < 32.
[[gnu::always_inline]] inline u32 funnel_left(u32 a, u32 b, u32 by) {
  return b << by | a >> 1 >> (31 - by);
}
[[gnu::always_inline]] inline u32 funnel_right(u32 a, u32 b, u32 by) {
  return a >> by | b << 1 << (31 - by);
}

void define_funnel(OperationSink& sink) {
  op(sink, "shf.l.wrap.b32", [](u32 a, u32 b, u32 c) { return funnel_left(a, b, c & 31); });
  op(sink, "shf.r.wrap.b32", [](u32 a, u32 b, u32 c) { return funnel_right(a, b, c & 31); });
  op(sink, "shf.l.clamp.b32",
     [](u32 a, u32 b, u32 c) { return c >= 32 ? a : funnel_left(a, b, c & 31); });
  op(sink, "shf.r.clamp.b32",
     [](u32 a, u32 b, u32 c) { return c >= 32 ? b : funnel_right(a, b, c & 31); });
}

template <std::size_t kMode>
void define_permute(OperationSink& sink, const char* name) {
  op(sink, name, [](u32 a, u32 b, u32 c) { return permuted(a, b, kPermuteModes[kMode][c & 3]); });
}

void lop3(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 table = *slot<u32>(window, insn.s[3]);  // an immediate, the same for all lanes
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  write_lanes<u32>(window, insn.d, mask,
                   [&](u32 i) VGPU_INLINE { return look_up(table, a[i], b[i], c[i]); });
}

// The |n|-th set bit, counted from bit `base` inclusive. n > 0: upwards; n < 0: downwards; 0: the
// base itself if set.
[[gnu::always_inline]] inline u32 find_nth_set(u32 mask, u32 base, i32 offset) {
  if (base > 31) return kNone;
  if (offset == 0) return (mask >> base & 1) != 0 ? base : kNone;
  const i32 step = offset > 0 ? 1 : -1;
  u32 left = offset > 0 ? static_cast<u32>(offset) : 0 - static_cast<u32>(offset);
  for (i32 position = static_cast<i32>(base); position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1) != 0 && --left == 0) return static_cast<u32>(position);
  }
  return kNone;
}

template <class F>
void predicate_logic(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  set_predicate(window, insn.d, F{}(*slot<u32>(window, insn.s[0]), *slot<u32>(window, insn.s[1])),
                mask);
}

template <class F>
void define_predicate(OperationSink& sink, const char* name, bool binary, F) {
  sink.add(name, "", Shape{Arg::kPred, {Arg::kPred, binary ? Arg::kPred : Arg::kAbsent}},
           &predicate_logic<F>);
}

}  // namespace

void define_bits(OperationSink& sink) {
  define_logic<u16>(sink, "b16");
  define_logic<u32>(sink, "b32");
  define_logic<u64>(sink, "b64");
  op(sink, "shr.u16", [](u16 a, u32 by) { return shift_right(a, by); });
  op(sink, "shr.s16", [](i16 a, u32 by) { return shift_right(a, by); });
  op(sink, "shr.u32", [](u32 a, u32 by) { return shift_right(a, by); });
  op(sink, "shr.s32", [](i32 a, u32 by) { return shift_right(a, by); });
  op(sink, "shr.u64", [](u64 a, u32 by) { return shift_right(a, by); });
  op(sink, "shr.s64", [](i64 a, u32 by) { return shift_right(a, by); });
  define_fields(sink);
  define_funnel(sink);
  op(sink, "prmt.b32", [](u32 a, u32 b, u32 c) { return permuted(a, b, c); });
  define_permute<0>(sink, "prmt.b32.f4e");
  define_permute<1>(sink, "prmt.b32.b4e");
  define_permute<2>(sink, "prmt.b32.rc8");
  define_permute<3>(sink, "prmt.b32.ecl");
  define_permute<4>(sink, "prmt.b32.ecr");
  define_permute<5>(sink, "prmt.b32.rc16");
  sink.add("lop3.b32", "", Shape{Arg::kInt32, {Arg::kInt32, Arg::kInt32, Arg::kInt32, Arg::kInt32}},
           &lop3);
  op_each(sink, "fns.b32",
          [](u32 a, u32 base, i32 offset) { return find_nth_set(a, base, offset); });
  define_predicate(sink, "and.pred", true, [](u32 a, u32 b) { return a & b; });
  define_predicate(sink, "or.pred", true, [](u32 a, u32 b) { return a | b; });
  define_predicate(sink, "xor.pred", true, [](u32 a, u32 b) { return a ^ b; });
  define_predicate(sink, "not.pred", false, [](u32 a, u32) { return ~a; });
  define_predicate(sink, "mov.pred", false, [](u32 a, u32) { return a; });
}

}  // namespace vgpu::machine::VGPU_ISA
