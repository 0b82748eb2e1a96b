// SPDX-License-Identifier: Apache-2.0
// Makes warp instructions from functions of one lane. op(sink, "add.u32", [](u32 a, u32 b) { return
// a + b; }) defines an operation: the lambda's parameters are its source operands in order, with
// their types; its result is the destination. bool is a predicate. The loops over lanes are written
// to be vectorised: they compute all lanes, including inactive ones, and blend in the result.
// Lambdas must therefore be total (defined for all operands). Everything here is compiled once per
// instruction set, each in its own namespace.
#pragma once
#include <cstring>
#include <type_traits>
#include <utility>

#include "ir/half.hpp"
#include "machine/operations.hpp"
#include "memory/lane_sets.hpp"

// Of a lambda.
#define VGPU_INLINE __attribute__((always_inline))

namespace vgpu::machine::VGPU_ISA {

template <class T>
[[gnu::always_inline]] inline T* slot(std::byte* window, u32 offset) {
  return reinterpret_cast<T*>(window + offset);
}

template <class T>
[[gnu::always_inline]] inline bool is_nan(T value) {
  return __builtin_isnan(value) != 0;
}

// The modes of prmt other than the general one: selectors of the result's four bytes, by the two
// lower bits of the selector operand.
constexpr u16 kPermuteModes[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // .f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // .b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // .rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // .ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // .ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // .rc16
};

template <class T>
constexpr Arg arg_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Arg::kPred;
  else if constexpr (std::is_same_v<T, float>)
    return Arg::kFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return Arg::kFloat64;
  else if constexpr (sizeof(T) == 2)
    return Arg::kInt16;
  else if constexpr (sizeof(T) == 4)
    return Arg::kInt32;
  else {
    static_assert(sizeof(T) == 8);
    return Arg::kInt64;
  }
}

// One source operand, all lanes.
template <class T>
struct Source {
  [[gnu::always_inline]] Source(std::byte* window, u32 offset) : values(slot<T>(window, offset)) {}
  [[gnu::always_inline]] T operator[](u32 lane) const { return values[lane]; }
  const T* values;
};
template <>
struct Source<bool> {
  [[gnu::always_inline]] Source(std::byte* window, u32 offset) : mask(*slot<u32>(window, offset)) {}
  [[gnu::always_inline]] bool operator[](u32 lane) const { return (mask >> lane & 1) != 0; }
  u32 mask;
};

template <class T>
[[gnu::always_inline]] inline void blend(T* to, const T* from, u32 mask) {
  for (u32 i = 0; i < kLanes; ++i) to[i] = (mask >> i & 1) != 0 ? from[i] : to[i];
}

[[gnu::always_inline]] inline void set_predicate(std::byte* window, u32 offset, u32 value,
                                                 u32 mask) {
  u32& p = *slot<u32>(window, offset);
  p = (p & ~mask) | (value & mask);
}

// Writes f(lane) to slot `offset` for the lanes of `mask`.
template <class D, class F>
[[gnu::always_inline]] inline void write_lanes(std::byte* window, u32 offset, u32 mask, F f) {
  if constexpr (std::is_same_v<D, bool>) {
    set_predicate(window, offset, lanes_where(f), mask);
  } else {
    D* const d = slot<D>(window, offset);
    if (mask == kAllLanes) {
      // A destination is either the same slot as a source or disjoint from it, so lanes are
      // independent.
#pragma GCC ivdep
      for (u32 i = 0; i < kLanes; ++i) d[i] = f(i);
    } else {
      alignas(64) D result[kLanes];
      for (u32 i = 0; i < kLanes; ++i) result[i] = f(i);
      blend(d, result, mask);
    }
  }
}

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class D, class... S>
struct Signature<D (C::*)(S...) const> {
  static constexpr Shape shape() {
    Shape made{arg_of<D>(), {}};
    u32 n = 0;
    ((made.sources[n++] = arg_of<S>()), ...);
    return made;
  }
  template <class F>
  static void all(Warp&, std::byte* window, const Insn& insn, u32 mask) {
    apply<F, false>(window, insn, mask, std::index_sequence_for<S...>());
  }
  template <class F>
  static void each(Warp&, std::byte* window, const Insn& insn, u32 mask) {
    apply<F, true>(window, insn, mask, std::index_sequence_for<S...>());
  }

 private:
  template <class F, bool kEach, std::size_t... K>
  [[gnu::always_inline]] static void apply(std::byte* window, const Insn& insn, u32 mask,
                                           std::index_sequence<K...>) {
    [&](const Source<S>... s) VGPU_INLINE {
      if constexpr (kEach) {
        D* const d = slot<D>(window, insn.d);
        for (const u32 i : SetBits(mask)) d[i] = F{}(s[i]...);
      } else {
        write_lanes<D>(window, insn.d, mask,
                       [&](u32 i) VGPU_INLINE { return static_cast<D>(F{}(s[i]...)); });
      }
    }(Source<S>(window, insn.s[K])...);
  }
};

template <class F>
void op(OperationSink& sink, const char* names, const char* suffix, F) {
  sink.add(names, suffix, Signature<F>::shape(), &Signature<F>::template all<F>);
}
template <class F>
void op(OperationSink& sink, const char* names, F f) {
  op(sink, names, "", f);
}

// For functions that do not vectorise or are expensive: computes only the active lanes.
template <class F>
void op_each(OperationSink& sink, const char* names, const char* suffix, F) {
  sink.add(names, suffix, Signature<F>::shape(), &Signature<F>::template each<F>);
}
template <class F>
void op_each(OperationSink& sink, const char* names, F f) {
  op_each(sink, names, "", f);
}

// For instructions whose operands lowering places itself.
inline void op_special(OperationSink& sink, const char* names, Handler handler,
                       bool control = false) {
  sink.add(names, "", Shape{}, handler, control);
}

void define_integer(OperationSink& sink);
void define_bits(OperationSink& sink);
void define_compare(OperationSink& sink);
void define_float(OperationSink& sink);
void define_half(OperationSink& sink);
void define_convert(OperationSink& sink);
void define_move(OperationSink& sink);
void define_memory(OperationSink& sink);
void define_atomic(OperationSink& sink);
void define_warp(OperationSink& sink);
void define_control(OperationSink& sink);
void define_async(OperationSink& sink);
void define_matrix(OperationSink& sink);
void define_matrix_integer(OperationSink& sink);
void define_wgmma(OperationSink& sink);
void define_texture(OperationSink& sink);
void define_video(OperationSink& sink);

}  // namespace vgpu::machine::VGPU_ISA
