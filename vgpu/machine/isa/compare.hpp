// SPDX-License-Identifier: Apache-2.0
// Comparisons: a test of two values, combined with a predicate, with one or two destinations.
#pragma once
#include <iterator>
#include <utility>

#include "ir/compare_kind.hpp"
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
      case kCombineAnd:
        result &= c, complement &= c;
        break;
      case kCombineOr:
        result |= c, complement |= c;
        break;
      default:
        result ^= c, complement ^= c;
        break;
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

// The tests of floating-point values. Those with a u are also true if a value is NaN.
enum class Test { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
inline constexpr const char* kTestNames[] = {"eq.",  "ne.",  "lt.",  "le.",  "gt.",
                                             "ge.",  "equ.", "neu.", "ltu.", "leu.",
                                             "gtu.", "geu.", "num.", "nan."};
using AllTests = std::make_index_sequence<std::size(kTestNames)>;

template <class V>
[[gnu::always_inline]] inline bool holds(Test test, V x, V y) {
  switch (test) {
    case Test::kEq:
      return x == y;
    case Test::kNe:
      return x < y || x > y;
    case Test::kLt:
      return x < y;
    case Test::kLe:
      return x <= y;
    case Test::kGt:
      return x > y;
    case Test::kGe:
      return x >= y;
    case Test::kEqu:
      return !(x < y || x > y);
    case Test::kNeu:
      return !(x == y);
    case Test::kLtu:
      return !(x >= y);
    case Test::kLeu:
      return !(x > y);
    case Test::kGtu:
      return !(x <= y);
    case Test::kGeu:
      return !(x < y);
    case Test::kNum:
      return !is_nan(x) && !is_nan(y);
    default:
      return is_nan(x) || is_nan(y);
  }
}

template <Test kTest, class Value>
struct Tested {
  template <class T>
  [[gnu::always_inline]] bool operator()(T a, T b) const {
    return holds(kTest, Value{}(a), Value{}(b));
  }
};

// `value` converts a stored T to the compared value (flush of subnormals, half to float, or
// identity).
template <class T, class Value>
void define_float_tests(OperationSink& sink, const char* type, Value) {
  constexpr Shape kShape{Arg::kAbsent, {arg_of<T>(), arg_of<T>()}};
  const auto define = [&]<std::size_t... K>(std::index_sequence<K...>) {
    (sink.add_joined("setp.", kTestNames[K], type, kShape,
                     &compare<T, Tested<static_cast<Test>(K), Value>>),
     ...);
  };
  define(AllTests());
}

}  // namespace vgpu::machine::VGPU_ISA
