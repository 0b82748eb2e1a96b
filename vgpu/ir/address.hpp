// SPDX-License-Identifier: Apache-2.0
// Generic addresses. Device memory is host memory, and its addresses are the host's. Shared memory,
// local memory, kernel parameters and functions have windows outside the addresses that a process
// can use, so no allocation can overlap them. The windows of the shared memories of a cluster's
// blocks follow, in order of rank. A shared::cluster address, 32-bit or generic, is the distance
// from the start of the shared window; an address within that first window refers to the executing
// block's own shared memory.
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

inline constexpr u64 kWindowBytes = u64{1} << 24;  // size of each window, larger than any content

struct Windows {
  u64 shared = 0, local = 0, param = 0,
      function = 0;  // first addresses, kWindowBytes apart in this order
};
// The shared window begins at a multiple of 4 GB, because machine code forms a generic address by
// setting the upper half.
const Windows& windows();

inline constexpr u32 kMostClusterBlocks = 16;
inline constexpr u64 kFirstOfCluster = 4, kAllWindows = kFirstOfCluster + kMostClusterBlocks;
inline constexpr u64 cluster_address(u32 rank, u64 offset) {
  return (kFirstOfCluster + rank) * kWindowBytes + offset;
}

enum class AddressSpace : u8 { kGlobal, kShared, kLocal, kParam, kFunction, kCluster };

// `base` is windows().shared.
inline AddressSpace space_of(u64 address, u64 base) {
  const u64 distance = address - base;
  if (distance >= kAllWindows * kWindowBytes) return AddressSpace::kGlobal;
  const u64 window = distance / kWindowBytes;
  return static_cast<AddressSpace>(1 + (window < kFirstOfCluster ? window : kFirstOfCluster));
}

// A function's address is a handle, never 0: 16 bytes times the function's number in the module.
inline u64 function_address(u32 index) { return windows().function + 16 * (u64{index} + 1); }

}  // namespace vgpu::ir
