// SPDX-License-Identifier: Apache-2.0
// Comparisons: a test of two values, combined with a predicate, with one or two destinations.
#pragma once
#include "ir/modifiers.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {

// d = result of the test, combined with s[2]. The predicate in Insn::list, if there is one,
// receives the complement, combined in the same way.
[[gnu::always_inline]] inline void combine(std::byte* window, const Insn& insn, u32 result,
                                           u32 mask) {
  u32 complement = ~result;
  if (insn.sub != kCombineNone) {
    u32 c = *slot<u32>(window, insn.s[2]);
    if ((insn.flags & kFlagNegate) != 0) c = ~c;
    switch (insn.sub) {
      case kCombineAnd: result &= c, complement &= c; break;
      case kCombineOr: result |= c, complement |= c; break;
      default: result ^= c, complement ^= c; break;
    }
  }
  if (insn.d != kNone) set_predicate(window, insn.d, result, mask);
  if (insn.list != kNone) set_predicate(window, insn.list, complement, mask);
}

template <class T, class F>
void compare(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const T* const a = slot<T>(window, insn.s[0]);
  const T* const b = slot<T>(window, insn.s[1]);
  const u32 result = lanes_where([&](u32 i) { return F{}(a[i], b[i]); });
  combine(window, insn, result, mask);
}

template <class T, class F>
void define_test(OperationSink& sink, const char* name, const char* type, F) {
  sink.add(name, type, Shape{Arg::kAbsent, {arg_of<T>(), arg_of<T>()}}, &compare<T, F>);
}

// `value` converts a stored T to the compared value (flush of subnormals, half to float, or
// identity).
template <class T, class Value>
void define_float_tests(OperationSink& sink, const char* type, Value) {
  define_test<T>(sink, "setp.eq.", type, [](T a, T b) { return Value{}(a) == Value{}(b); });
  define_test<T>(sink, "setp.ne.", type, [](T a, T b) {
    const auto x = Value{}(a), y = Value{}(b);
    return x < y || x > y;
  });
  define_test<T>(sink, "setp.lt.", type, [](T a, T b) { return Value{}(a) < Value{}(b); });
  define_test<T>(sink, "setp.le.", type, [](T a, T b) { return Value{}(a) <= Value{}(b); });
  define_test<T>(sink, "setp.gt.", type, [](T a, T b) { return Value{}(a) > Value{}(b); });
  define_test<T>(sink, "setp.ge.", type, [](T a, T b) { return Value{}(a) >= Value{}(b); });
  define_test<T>(sink, "setp.equ.", type, [](T a, T b) {
    const auto x = Value{}(a), y = Value{}(b);
    return !(x < y || x > y);
  });
  define_test<T>(sink, "setp.neu.", type, [](T a, T b) { return !(Value{}(a) == Value{}(b)); });
  define_test<T>(sink, "setp.ltu.", type, [](T a, T b) { return !(Value{}(a) >= Value{}(b)); });
  define_test<T>(sink, "setp.leu.", type, [](T a, T b) { return !(Value{}(a) > Value{}(b)); });
  define_test<T>(sink, "setp.gtu.", type, [](T a, T b) { return !(Value{}(a) <= Value{}(b)); });
  define_test<T>(sink, "setp.geu.", type, [](T a, T b) { return !(Value{}(a) < Value{}(b)); });
  define_test<T>(sink, "setp.num.", type, [](T a, T b) {
    const auto x = Value{}(a), y = Value{}(b);
    return !is_nan(x) && !is_nan(y);
  });
  define_test<T>(sink, "setp.nan.", type, [](T a, T b) {
    const auto x = Value{}(a), y = Value{}(b);
    return is_nan(x) || is_nan(y);
  });
}

}  // namespace vgpu::machine::VGPU_ISA
