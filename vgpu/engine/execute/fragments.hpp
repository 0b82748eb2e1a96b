// SPDX-License-Identifier: Apache-2.0
// Where the elements of matrix fragments lie: lane and element of a thread to row and column. PTX
// ISA, "Matrix Multiply-Accumulate Operation using mma instruction" (Matrix Fragments for
// mma.m16n8k4, .m16n8k8, .m16n8k16, .m8n8k4 with .f64) and "ldmatrix". wmma's fragments are for the
// implementation to choose ("the layout of a fragment is unspecified"): here element i of lane l is
// element 32 i + l of the matrix, row by row, and the elements beyond the matrix's repeat the first
// ones.
#pragma once
#include "engine/execute/ir.hpp"

namespace vgpu::execute {

struct Place {
  u32 row, column;
};

// A of m16n8kK: 16-bit elements (kWide false) lie in pairs along k, wider ones alone.
template <bool kWide>
constexpr Place place_in_a(u32 lane, u32 i) {
  if (kWide) return {lane / 4 + 8 * (i % 2), lane % 4 + 4 * (i / 2)};
  return {lane / 4 + 8 * (i / 2 % 2), lane % 4 * 2 + i % 2 + 8 * (i / 4)};
}

// B of the same: rows are steps of k.
template <bool kWide>
constexpr Place place_in_b(u32 lane, u32 i) {
  if (kWide) return {lane % 4 + 4 * i, lane / 4};
  return {lane % 4 * 2 + i % 2 + 8 * (i / 2), lane / 4};
}

// C and D of all of them, and of m8n8k4 with .f64 (whose A and B are as the wide ones').
constexpr Place place_in_c(u32 lane, u32 i) {
  return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
}

// wmma: element i of a lane, of a matrix of `columns` columns and `elements` elements.
constexpr Place place_in_wmma(u32 lane, u32 i, u32 columns, u32 elements) {
  const u32 index = (32 * i + lane) % elements;
  return {index / columns, index % columns};
}

}  // namespace vgpu::execute
