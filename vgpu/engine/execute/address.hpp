// SPDX-License-Identifier: Apache-2.0
// Generic addresses. Device memory is host memory and its addresses are the host's; shared memory, local memory,
// kernel parameters and functions get ranges that the process reserves without access, so that no allocation can
// ever have an address in them.
#pragma once
#include "engine/execute/ir.hpp"

namespace vgpu::execute {

inline constexpr u64 kWindowBytes = u64{1} << 24;  // of each: more than any of them can be long

struct Windows {
  u64 shared = 0, local = 0, param = 0, function = 0;  // first addresses, kWindowBytes apart in this order
};
// Reserved once a process. The shared one begins at a multiple of 4 GB: machine code makes a generic address by setting
// the upper half.
const Windows& windows();

enum class AddressSpace : u8 { kGlobal, kShared, kLocal, kParam, kFunction };

// `base` is windows().shared.
inline AddressSpace space_of(u64 address, u64 base) {
  const u64 distance = address - base;
  return distance >= 4 * kWindowBytes ? AddressSpace::kGlobal
                                      : static_cast<AddressSpace>(1 + distance / kWindowBytes);
}

// A function's address is a handle: its number in the module, 16 bytes apart, never 0.
inline u64 function_address(u32 index) { return windows().function + 16 * (u64{index} + 1); }

}  // namespace vgpu::execute
