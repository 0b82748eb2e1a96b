// SPDX-License-Identifier: Apache-2.0
// Shapes and types of matrix instructions.
#pragma once
#include <charconv>
#include <string_view>

#include "ir/program.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {

struct Dimensions {
  u32 m = 0, n = 0, k = 0;
};

// m16n8k16
inline bool parse(std::string_view text, Dimensions& d) {
  const auto number = [&](char name, u32& value) {
    if (text.empty() || text.front() != name) return false;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc();
  };
  return number('m', d.m) && number('n', d.n) && number('k', d.k) && text.empty();
}

inline u32 bits_of(std::string_view type) {
  if (type == "f64") return 64;
  if (is_any_of(type, {"f32", "tf32", "s32"})) return 32;
  if (is_any_of(type, {"s8", "u8", "e4m3", "e5m2"})) return 8;
  return is_any_of(type, {"s4", "u4"}) ? 4 : type == "b1" ? 1 : 16;
}

// Number of registers of a fragment with `elements` elements per warp.
inline std::size_t registers_of(u32 elements, std::string_view type) {
  return type == "f64" ? elements / kLanes : elements * bits_of(type) / (32 * kLanes);
}

}  // namespace vgpu::ptx
