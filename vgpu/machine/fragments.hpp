// SPDX-License-Identifier: Apache-2.0
// Layout of matrix fragments: from lane and element to row and column. PTX ISA, "Matrix
// Multiply-Accumulate Operation using mma instruction" (Matrix Fragments for mma.m16n8k4, .m16n8k8,
// .m16n8k16, .m8n8k4 with .f64) and "ldmatrix". PTX leaves wmma's layout to the implementation
// ("the layout of a fragment is unspecified"). Here element i of lane l is matrix element 32 i + l
// in row-major order; fragment elements beyond the matrix's size repeat the first ones. Fragments
// of integers and of double precision are mma's.
#pragma once
#include "ir/modifiers.hpp"
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

// m8n8k4 of 16 bits, of which each quarter of the warp has one: four lanes and the four 16 lanes
// further. by_lane: a lane has a row of A or a column of B, else its elements lie across. The
// result is the row or column, and the index along it.
constexpr Place place_in_quad(bool by_lane, u32 lane, u32 i) {
  const u32 far = lane < 16 ? 0 : 4, in_quad = lane % 4;
  return by_lane ? Place{in_quad + far, i} : Place{i + far, in_quad};
}
constexpr Place place_in_quad_sums(bool single, u32 lane, u32 i) {
  const u32 far = lane < 16 ? 0 : 4;
  if (!single) return {lane % 4 + far, i};
  return {(lane & 1) + (i & 2) + far, (i & 4) + (lane & 2) + (i & 1)};
}

// Element i of a lane where wmma's fragments are mma's: integers and double precision. A and B have
// `per_register` elements of a register side by side along k.
constexpr Place place_in_mma(WmmaFragment of, u32 lane, u32 i, u32 rows, u32 columns,
                             u32 per_register) {
  const u32 line = lane / 4 + 8 * (i / per_register),
            along = lane % 4 * per_register + i % per_register;
  if (of == WmmaFragment::kA) return {line, along};
  if (of == WmmaFragment::kB) return {along, line};
  const u32 tile = i / (rows == 8 ? 2 : 4), in_tile = i % (rows == 8 ? 2 : 4);
  const Place at = place_in_c(lane, in_tile);
  return columns > 8 ? Place{at.row, at.column + 8 * tile} : Place{at.row + 16 * tile, at.column};
}

// wmma: element i of a lane, for a matrix with `columns` columns and `elements` elements.
constexpr Place place_in_wmma(u32 lane, u32 i, u32 columns, u32 elements) {
  const u32 index = (32 * i + lane) % elements;
  return {index / columns, index % columns};
}

}  // namespace vgpu::machine
