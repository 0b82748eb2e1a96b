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
    case 0:
      return result & predicate;
    case 1:
      return result | predicate;
    default:
      return result ^ predicate;
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

// Mask of the lanes for which the comparison given by the modifiers is true.
template <class T, class A, class B>
[[gnu::always_inline]] inline u32 compare(Modifiers m, A a, B b) {
  u32 less = 0, equal = 0, greater = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const T x = a(i), y = b(i);
    less |= static_cast<u32>(x < y) << i;
    equal |= static_cast<u32>(x == y) << i;
    greater |= static_cast<u32>(x > y) << i;
  }
  const u32 unordered = ~(less | equal | greater);
  const unsigned how = bits_of(m, kCompareAt, 4);
  u32 result = (how & 8) != 0 ? unordered : 0;
  if ((how & 1) != 0) result |= less;
  if ((how & 2) != 0) result |= equal;
  if ((how & 4) != 0) result |= greater;
  return result;
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

void define_sass_float(OperationSink& sink);
void define_sass_half(OperationSink& sink);
void define_sass_integer(OperationSink& sink);
void define_sass_bits(OperationSink& sink);
void define_sass_warp(OperationSink& sink);
void define_sass_control(OperationSink& sink);

}  // namespace vgpu::machine::VGPU_ISA
