// SPDX-License-Identifier: Apache-2.0
// Layout of matrix fragments: from lane and element to row and column. PTX ISA, "Matrix
// Multiply-Accumulate Operation using mma instruction" (Matrix Fragments for mma.m16n8k4, .m16n8k8,
// .m16n8k16, .m8n8k4 with .f64) and "ldmatrix". PTX leaves wmma's layout to the implementation
// ("the layout of a fragment is unspecified"). Here element i of lane l is matrix element 32 i + l
// in row-major order; fragment elements beyond the matrix's size repeat the first ones.
#pragma once
#include "ir/program.hpp"

namespace vgpu::machine {

using namespace ir;

struct Place {
  u32 row, column;
};

// A of m16n8kK: 16-bit elements (kWide false) are in pairs along k, wider ones are single.
template <bool kWide>
constexpr Place place_in_a(u32 lane, u32 i) {
  if (kWide) return {lane / 4 + 8 * (i % 2), lane % 4 + 4 * (i / 2)};
  return {lane / 4 + 8 * (i / 2 % 2), lane % 4 * 2 + i % 2 + 8 * (i / 4)};
}

// B of the same shapes; the row is the index along k.
template <bool kWide>
constexpr Place place_in_b(u32 lane, u32 i) {
  if (kWide) return {lane % 4 + 4 * i, lane / 4};
  return {lane % 4 * 2 + i % 2 + 8 * (i / 2), lane / 4};
}

// C and D of all these shapes, and of m8n8k4 with .f64 (whose A and B use the wide layout).
constexpr Place place_in_c(u32 lane, u32 i) {
  return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
}

// wmma: element i of a lane, for a matrix with `columns` columns and `elements` elements.
constexpr Place place_in_wmma(u32 lane, u32 i, u32 columns, u32 elements) {
  const u32 index = (32 * i + lane) % elements;
  return {index / columns, index % columns};
}

}  // namespace vgpu::machine
