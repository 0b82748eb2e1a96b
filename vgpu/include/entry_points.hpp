// SPDX-License-Identifier: Apache-2.0
// Entry points that are defined from their declarations in a header of CUDA, without repeating
// their parameters: these are a0, a1, ... in the order of the declaration.
#pragma once
#include <cstddef>
#include <tuple>

namespace vgpu {

template <class Function>
struct Signature;
template <class Returned, class... Arguments>
struct Signature<Returned(Arguments...)> {
  using Result = Returned;
  template <std::size_t i>
  using Argument = std::tuple_element_t<i, std::tuple<Arguments...>>;
  static constexpr std::size_t kCount = sizeof...(Arguments);
};

}  // namespace vgpu

#define VGPU_RESULT(name) vgpu::Signature<decltype(name)>::Result
#define VGPU_PARAMETER(name, i) [[maybe_unused]] vgpu::Signature<decltype(name)>::Argument<i> a##i
#define VGPU_PARAMETERS_0(name)
#define VGPU_PARAMETERS_1(name) VGPU_PARAMETER(name, 0)
#define VGPU_PARAMETERS_2(name) VGPU_PARAMETERS_1(name), VGPU_PARAMETER(name, 1)
#define VGPU_PARAMETERS_3(name) VGPU_PARAMETERS_2(name), VGPU_PARAMETER(name, 2)
#define VGPU_PARAMETERS_4(name) VGPU_PARAMETERS_3(name), VGPU_PARAMETER(name, 3)
#define VGPU_PARAMETERS_5(name) VGPU_PARAMETERS_4(name), VGPU_PARAMETER(name, 4)
#define VGPU_PARAMETERS_6(name) VGPU_PARAMETERS_5(name), VGPU_PARAMETER(name, 5)
#define VGPU_PARAMETERS_7(name) VGPU_PARAMETERS_6(name), VGPU_PARAMETER(name, 6)
#define VGPU_PARAMETERS_8(name) VGPU_PARAMETERS_7(name), VGPU_PARAMETER(name, 7)
#define VGPU_PARAMETERS_9(name) VGPU_PARAMETERS_8(name), VGPU_PARAMETER(name, 8)
#define VGPU_PARAMETERS_10(name) VGPU_PARAMETERS_9(name), VGPU_PARAMETER(name, 9)
#define VGPU_PARAMETERS_11(name) VGPU_PARAMETERS_10(name), VGPU_PARAMETER(name, 10)
#define VGPU_PARAMETERS_12(name) VGPU_PARAMETERS_11(name), VGPU_PARAMETER(name, 11)
#define VGPU_PARAMETERS_13(name) VGPU_PARAMETERS_12(name), VGPU_PARAMETER(name, 12)
#define VGPU_PARAMETERS_14(name) VGPU_PARAMETERS_13(name), VGPU_PARAMETER(name, 13)
#define VGPU_PARAMETERS_15(name) VGPU_PARAMETERS_14(name), VGPU_PARAMETER(name, 14)
#define VGPU_PARAMETERS_16(name) VGPU_PARAMETERS_15(name), VGPU_PARAMETER(name, 15)
#define VGPU_PARAMETERS_17(name) VGPU_PARAMETERS_16(name), VGPU_PARAMETER(name, 16)
#define VGPU_PARAMETERS_18(name) VGPU_PARAMETERS_17(name), VGPU_PARAMETER(name, 17)
#define VGPU_PARAMETERS_19(name) VGPU_PARAMETERS_18(name), VGPU_PARAMETER(name, 18)
#define VGPU_PARAMETERS_20(name) VGPU_PARAMETERS_19(name), VGPU_PARAMETER(name, 19)
#define VGPU_PARAMETERS_21(name) VGPU_PARAMETERS_20(name), VGPU_PARAMETER(name, 20)
#define VGPU_PARAMETERS_22(name) VGPU_PARAMETERS_21(name), VGPU_PARAMETER(name, 21)
#define VGPU_PARAMETERS_23(name) VGPU_PARAMETERS_22(name), VGPU_PARAMETER(name, 22)
#define VGPU_PARAMETERS_24(name) VGPU_PARAMETERS_23(name), VGPU_PARAMETER(name, 23)
#define VGPU_ARGUMENTS_0
#define VGPU_ARGUMENTS_1 a0
#define VGPU_ARGUMENTS_2 VGPU_ARGUMENTS_1, a1
#define VGPU_ARGUMENTS_3 VGPU_ARGUMENTS_2, a2
#define VGPU_ARGUMENTS_4 VGPU_ARGUMENTS_3, a3
#define VGPU_ARGUMENTS_5 VGPU_ARGUMENTS_4, a4
#define VGPU_ARGUMENTS_6 VGPU_ARGUMENTS_5, a5
#define VGPU_ARGUMENTS_7 VGPU_ARGUMENTS_6, a6
#define VGPU_ARGUMENTS_8 VGPU_ARGUMENTS_7, a7
#define VGPU_ARGUMENTS_9 VGPU_ARGUMENTS_8, a8
#define VGPU_ARGUMENTS_10 VGPU_ARGUMENTS_9, a9
#define VGPU_ARGUMENTS_11 VGPU_ARGUMENTS_10, a10
#define VGPU_ARGUMENTS_12 VGPU_ARGUMENTS_11, a11
#define VGPU_ARGUMENTS_13 VGPU_ARGUMENTS_12, a12
#define VGPU_ARGUMENTS_14 VGPU_ARGUMENTS_13, a13
#define VGPU_ARGUMENTS_15 VGPU_ARGUMENTS_14, a14
#define VGPU_ARGUMENTS_16 VGPU_ARGUMENTS_15, a15
#define VGPU_ARGUMENTS_17 VGPU_ARGUMENTS_16, a16
#define VGPU_ARGUMENTS_18 VGPU_ARGUMENTS_17, a17
#define VGPU_ARGUMENTS_19 VGPU_ARGUMENTS_18, a18
#define VGPU_ARGUMENTS_20 VGPU_ARGUMENTS_19, a19
#define VGPU_ARGUMENTS_21 VGPU_ARGUMENTS_20, a20
#define VGPU_ARGUMENTS_22 VGPU_ARGUMENTS_21, a21
#define VGPU_ARGUMENTS_23 VGPU_ARGUMENTS_22, a22
#define VGPU_ARGUMENTS_24 VGPU_ARGUMENTS_23, a23
// Defines `name` by an expression of its `count` parameters a0, a1, ...: for functions that consist
// of a call of another one.
#define VGPU_BY(name, count, expression)                               \
  VGPU_RESULT(name) name(VGPU_PARAMETERS_##count(name)) {              \
    static_assert(vgpu::Signature<decltype(name)>::kCount == (count)); \
    return expression;                                                 \
  }                                                                    \
  static_assert(true)
// How many arguments the macro gets, up to 12; VGPU_JOIN: the name of both together.
#define VGPU_COUNT(...) \
  VGPU_THIRTEENTH(__VA_ARGS__ __VA_OPT__(, ) 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define VGPU_THIRTEENTH(a, b, c, d, e, f, g, h, i, j, k, l, m, ...) m
#define VGPU_JOIN(a, b) VGPU_JOIN_AS_THEY_ARE(a, b)
#define VGPU_JOIN_AS_THEY_ARE(a, b) a##b
// Defines `name` by a function of (Runtime& runtime, its parameters), whose body follows:
// within("name", function of the Runtime).
#define VGPU_ENTRY(within, name, ...)                                                          \
  static void name##_body(vgpu::runtime::Runtime& __VA_OPT__(, ) __VA_ARGS__);                 \
  VGPU_RESULT(name) name(VGPU_JOIN(VGPU_PARAMETERS_, VGPU_COUNT(__VA_ARGS__))(name)) {         \
    return within(#name, [&](vgpu::runtime::Runtime& runtime) {                                \
      name##_body(runtime __VA_OPT__(, ) VGPU_JOIN(VGPU_ARGUMENTS_, VGPU_COUNT(__VA_ARGS__))); \
    });                                                                                        \
  }                                                                                            \
  static void name##_body([[maybe_unused]] vgpu::runtime::Runtime& runtime __VA_OPT__(, )      \
                              __VA_ARGS__)
