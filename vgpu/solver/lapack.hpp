// SPDX-License-Identifier: Apache-2.0
// The host's LAPACK, by its Fortran interface.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "blas/value.hpp"

namespace vgpu::solver {

// A function of the library, which is loaded first; null if the host has no LAPACK, or it lacks it.
void* lapack_function(const char* name);

template <class T>
using Real = blas::Real<blas::Number<T>>;
template <class T>
constexpr bool kIsComplex = blas::kIsComplex<blas::Number<T>>;
template <class T>
constexpr char kLetter = "sdcz"[2 * kIsComplex<T> + std::is_same_v<Real<T>, double>];

// Fortran takes every argument by its address. Integers have 32 bits.
template <class A>
auto fortran(A argument) {
  if constexpr (std::is_pointer_v<A> || std::is_same_v<A, char>)
    return argument;
  else
    return static_cast<int>(argument);
}
template <class A>
auto address(A& argument) {
  if constexpr (std::is_pointer_v<A>)
    return argument;
  else
    return &argument;
}

template <class... A>
void call_fortran(const std::string& name, A... arguments) {
  using Length = std::size_t;  // of a character, behind all arguments
  void* const function = lapack_function(name.c_str());
  if (function == nullptr) throw std::runtime_error("LAPACK lacks " + name);
  reinterpret_cast<void (*)(decltype(address(arguments))..., Length, Length, Length)>(function)(
      address(arguments)..., 1, 1, 1);
}

// lapack<float>("potrf", ...) is spotrf.
template <class T, class... A>
void lapack(const char* name, A... arguments) {
  call_fortran(kLetter<T> + std::string(name) + "_", fortran(arguments)...);
}

// The same with workspaces of the types W, each before its size, and then info. LAPACK is asked for
// the sizes.
template <class T, class... W, class... A>
void lapack_with(std::tuple<W...> sizes, const char* name, int* info, A... arguments) {
  const auto call = [&](auto... workspaces) {
    std::apply([&](auto... each) { lapack<T>(name, arguments..., each..., info); },
               std::tuple_cat(workspaces...));
  };
  std::apply([&](auto&... size) { call(std::tuple(&size, -1)...); }, sizes);
  const auto number = [](const auto& size) {
    using Size = std::remove_cvref_t<decltype(size)>;
    if constexpr (std::is_same_v<Size, int>)
      return static_cast<std::size_t>(size);
    else
      // Above 2^24 a float may be less than the size.
      return static_cast<std::size_t>(reinterpret_cast<const Real<Size>&>(size) * (1 + 1e-6)) + 1;
  };
  std::apply(
      [&](const auto&... size) {
        std::tuple<std::vector<W>...> spaces{std::vector<W>(number(size))...};
        std::apply([&](auto&... each) { call(std::tuple(each.data(), each.size())...); }, spaces);
      },
      sizes);
}

}  // namespace vgpu::solver
