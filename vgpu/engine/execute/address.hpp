// SPDX-License-Identifier: Apache-2.0
// Generic addresses. Device memory is host memory and its addresses are the host's; shared memory,
// local memory, kernel parameters and functions get ranges outside of those that a process has, so
// that no allocation can ever have an address in them. Behind them come the shared memories of a
// cluster's blocks, by rank: an address of shared::cluster is its distance from the shared window,
// in 32 bits or as a generic address alike, and one inside that window itself is the executing
// block's own.
#pragma once
#include "engine/execute/ir.hpp"

namespace vgpu::execute {

inline constexpr u64 kWindowBytes = u64{1} << 24;  // of each: more than any of them can be long

struct Windows {
  u64 shared = 0, local = 0, param = 0,
      function = 0;  // first addresses, kWindowBytes apart in this order
};
// The shared one begins at a multiple of 4 GB: machine code makes a generic address by setting
// the upper half.
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

// A function's address is a handle: its number in the module, 16 bytes apart, never 0.
inline u64 function_address(u32 index) { return windows().function + 16 * (u64{index} + 1); }

}  // namespace vgpu::execute
