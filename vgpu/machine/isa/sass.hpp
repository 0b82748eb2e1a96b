// SPDX-License-Identifier: Apache-2.0
// Common parts of machine-code instructions. Registers are rows of 32 lanes, 128 bytes apart; a
// 64-bit value is a row of lower halves followed by a row of upper halves. Predicates are masks.
// Instructions of the uniform datapath operate on rows whose lanes are equal, and always on all
// lanes.
#pragma once
#include "ir/modifiers.hpp"
#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {

inline constexpr u32 kRow = 4 * kLanes;  // bytes of a register

[[gnu::always_inline]] inline Modifiers modifiers(const Insn& insn) {
  return static_cast<Modifiers>(insn.imm);
}

// All ones if the modifier is set, else 0; used to flip bits by XOR.
[[gnu::always_inline]] inline u32 mask_if(Modifiers m, Modifiers bit) {
  return has(m, bit) ? kAllLanes : 0;
}

[[gnu::always_inline]] inline u32 predicate(const std::byte* window, u32 offset, Modifiers m,
                                            Modifiers negation) {
  return *reinterpret_cast<const u32*>(window + offset) ^ mask_if(m, negation);
}

// Calls write(f), where f(lane) is whether the lane's bit of `p` is set: a constant where all lanes
// of the mask agree.
template <class Write>
[[gnu::always_inline]] inline void by_predicate(u32 p, u32 mask, Write write) {
  if ((p & mask) == mask)
    write([](u32) VGPU_INLINE { return true; });
  else if ((p & mask) == 0)
    write([](u32) VGPU_INLINE { return false; });
  else
    write([p](u32 i) VGPU_INLINE { return (p >> i & 1) != 0; });
}

// 64-bit values, one per lane, in two rows.
struct Pair {
  Pair(const std::byte* window, u32 offset)
      : low(reinterpret_cast<const u32*>(window + offset)), high(low + kLanes) {}
  [[gnu::always_inline]] u64 operator[](u32 i) const { return low[i] | u64{high[i]} << 32; }
  const u32 *low, *high;
};

// Writes f(lane), 64 bits, to two rows. Computes all lanes before it writes any, because the rows
// may also be sources.
template <class F>
[[gnu::always_inline]] inline void write_pairs(std::byte* window, u32 offset, u32 mask, F f) {
  alignas(64) u32 low[kLanes], high[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 value = f(i);
    low[i] = static_cast<u32>(value);
    high[i] = static_cast<u32>(value >> 32);
  }
  blend(slot<u32>(window, offset), low, mask);
  blend(slot<u32>(window, offset + kRow), high, mask);
}

// Applies the modifiers "negate" and "absolute" to a floating-point operand's bits.
template <class U>
struct Sign {
  Sign(Modifiers m, Modifiers negate, Modifiers absolute)
      : keep(has(m, absolute) ? ~kTop : ~U{0}), flip(has(m, negate) ? kTop : U{0}) {}
  [[gnu::always_inline]] U operator()(U bits) const { return (bits & keep) ^ flip; }
  static constexpr U kTop = U{1} << (8 * sizeof(U) - 1);
  U keep, flip;
};

// Combines a comparison's result with a predicate.
[[gnu::always_inline]] inline u32 combined(u32 result, u32 predicate, Modifiers m) {
  switch (bits_of(m, kCombineAt, 2)) {
    case 0: return result & predicate;
    case 1: return result | predicate;
    default: return result ^ predicate;
  }
}

// Writes the comparison's result, combined with predicate s[3], to d, and its complement, combined
// likewise, to list.
[[gnu::always_inline]] inline void combine(std::byte* window, const Insn& insn, Modifiers m,
                                           u32 result, u32 lanes) {
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  if (insn.d != kNone) set_predicate(window, insn.d, combined(result, p, m), lanes);
  if (insn.list != kNone) set_predicate(window, insn.list, combined(~result, p, m), lanes);
}

// Mask of the lanes for which the comparison given by the modifiers is true: bits 0 to 3 say
// whether it is for less, equal, greater, unordered.
template <class T, class A, class B>
[[gnu::always_inline]] inline u32 compare(Modifiers m, A a, B b) {
  const auto where = [&](auto holds) VGPU_INLINE {
    return lanes_where([&](u32 i) VGPU_INLINE { return holds(a(i), b(i)); });
  };
  const unsigned how = bits_of(m, kCompareAt, 4);
  const u32 flip = (how & 8) != 0 ? kAllLanes : 0;  // the complement is of ordered values
  switch ((how & 8) != 0 ? ~how & 7 : how & 7) {
    case 0: return flip;
    case 1: return flip ^ where([](T x, T y) { return x < y; });
    case 2: return flip ^ where([](T x, T y) { return x == y; });
    case 3: return flip ^ where([](T x, T y) { return x <= y; });
    case 4: return flip ^ where([](T x, T y) { return x > y; });
    case 5: return flip ^ where([](T x, T y) { return (x < y) | (x > y); });
    case 6: return flip ^ where([](T x, T y) { return x >= y; });
    default: return flip ^ where([](T x, T y) { return (x <= y) | (x > y); });
  }
}

// Registers `name` and its counterpart of the uniform datapath, "u." + name.
[[gnu::always_inline]] inline void define_twins(OperationSink& sink, const char* name,
                                                Handler plain, Handler uniform) {
  sink.add(name, "", Shape{}, plain);
  sink.add_joined("u.", name, "", Shape{}, uniform);
}

template <bool kUniform>
[[gnu::always_inline]] inline u32 lanes_of(u32 mask) {
  return kUniform ? kAllLanes : mask;
}

// Writes f(lane) to a row, of the uniform datapath to all lanes.
template <bool kUniform, class F>
[[gnu::always_inline]] inline void write_row(std::byte* window, u32 offset, u32 mask, F f) {
  if constexpr (kUniform) {
    const u32 value = f(0);
    u32* const d = slot<u32>(window, offset);
    for (u32 i = 0; i < kLanes; ++i) d[i] = value;
  } else {
    write_lanes<u32>(window, offset, mask, f);
  }
}

template <bool kUniform, class F>
[[gnu::always_inline]] inline u32 where(F f) {
  if constexpr (kUniform) return f(0) ? kAllLanes : 0;
  return lanes_where(f);
}

void define_sass_float(OperationSink& sink);
void define_sass_half(OperationSink& sink);
void define_sass_integer(OperationSink& sink);
void define_sass_bits(OperationSink& sink);
void define_sass_warp(OperationSink& sink);
void define_sass_control(OperationSink& sink);

}  // namespace vgpu::machine::VGPU_ISA
