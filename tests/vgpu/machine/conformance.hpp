// SPDX-License-Identifier: Apache-2.0
// Compares one PTX instruction at a time with its definition. A case names the instruction, the
// types of its operands and a function of one thread's operands, written independently of the
// engine. Each is executed for thousands of values, including edge cases, by full warps and by
// warps with every other lane inactive, on every instruction set of the host.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace conformance {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// Operands and results as bits, in the low part of a u64. A predicate is 0 or 1.
struct Case {
  std::string
      instruction;    // "add.s32", or a body with %d, %a, %b, %c and %e where it is more than one
  std::string types;  // of d, a, b, c, e: p predicate, h 16 bits, r 32, d 64, f .f32, g .f64
  std::function<u64(u64, u64, u64, u64)> expected;
  std::vector<u64>
      values;  // more values for the operands, if the edge cases are not those of their types
};

std::string name_of(const Case& c);
inline std::string with_index(const testing::TestParamInfo<Case>& info) {
  return name_of(info.param) + "_" + std::to_string(info.index);
}
void PrintTo(const Case& c, std::ostream* out);
void check(const Case& c);  // reports by GoogleTest's expectations

// The results of an instruction with one or two operands, up to 4096 of them.
std::vector<u64> run(const std::string& instruction, const std::string& types,
                     const std::vector<u64>& a, const std::vector<u64>& b = {});

// For an integer type: its letter in Case::types, its name in PTX, and the types of an operation on
// operands of this type only.
inline char letter(std::size_t bytes) { return bytes <= 2 ? 'h' : bytes == 4 ? 'r' : 'd'; }

template <class T>
std::string ptx_name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}

template <class T>
std::string types(std::size_t operands) {
  return std::string(operands + 1, letter(sizeof(T)));
}

double as_double(u64 bits);
float as_float(u64 bits);
u64 bits_of(double value);
u64 bits_of(float value);

// NaN results: the canonical NaN of each precision.
u64 single(float value);
u64 twice(double value);  // double precision, if no operand is NaN
// Double precision, as an H100 has it: the first of these operands that is NaN, made quiet.
u64 twice(double value, std::initializer_list<u64> operands);

// An operand's bits as a value, and a result as bits.
template <class T>
T operand(u64 bits) {
  if constexpr (std::is_same_v<T, float>)
    return as_float(bits);
  else if constexpr (std::is_same_v<T, double>)
    return as_double(bits);
  else
    return static_cast<T>(bits);
}
template <class T>
u64 result(T value) {
  if constexpr (std::is_same_v<T, float>)
    return single(value);
  else if constexpr (std::is_same_v<T, double>)
    return twice(value);
  else
    return static_cast<u64>(value);
}

// A function of the first operands' values as a function of all operands' bits.
template <class Result, class... Operands>
std::function<u64(u64, u64, u64, u64)> on_bits(std::function<Result(Operands...)> f) {
  return [f](u64 a, u64 b, u64 c, u64 e) {
    const u64 all[] = {a, b, c, e};
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return result(f(operand<Operands>(all[i])...));
    }
    (std::index_sequence_for<Operands...>());
  };
}

template <class F>
void add(std::vector<Case>& cases, std::string instruction, std::string types, F definition,
         std::vector<u64> values = {}) {
  cases.push_back({std::move(instruction), std::move(types), on_bits(std::function(definition)),
                   std::move(values)});
}

}  // namespace conformance
