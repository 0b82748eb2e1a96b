// SPDX-License-Identifier: Apache-2.0
// Generic addresses. Device memory is host memory, and its addresses are the host's. Shared memory,
// local memory, kernel parameters and functions have windows outside the addresses that a process
// can use, so no allocation can overlap them.
//
// Shared memory of a cluster's blocks. PTX: the windows of the blocks follow the others in order of
// rank. A shared::cluster address, 32-bit or generic, is the distance from the start of the shared
// window; an address within that first window refers to the executing block's own shared memory.
// Machine code computes addresses itself: those of the block of rank r, its own ones too, have r in
// bits 24 to 27, and a generic address has an upper half that a special register holds. These
// windows are apart (Windows::ranks).
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

inline constexpr u64 kWindowBytes = u64{1} << 24;  // size of each window, larger than any content

struct Windows {
  u64 shared, local, param, function;  // first addresses, kWindowBytes apart in this order
  u64 ranks;                           // a multiple of 4 GB
};
constexpr Windows windows() {
  constexpr u64 kFirst = u64{1} << 47;  // the first address that a process cannot use on x86-64
  constexpr u64 kApart = u64{1} << 32;
  return {kFirst, kFirst + kWindowBytes, kFirst + 2 * kWindowBytes, kFirst + 3 * kWindowBytes,
          kFirst + kApart};
}

inline constexpr u32 kMostClusterBlocks = 16;
inline constexpr u64 kFirstOfCluster = 4, kAllWindows = kFirstOfCluster + kMostClusterBlocks;
// All windows lie within this distance from Windows::shared.
inline constexpr u64 kWindowsSpan =
    windows().ranks + kMostClusterBlocks * kWindowBytes - windows().shared;

enum class AddressSpace : u8 { kGlobal, kShared, kLocal, kParam, kFunction, kCluster };

// `own`: generic address of the block's shared memory (Warp::shared_window).
inline AddressSpace space_of(u64 address, u64 own) {
  const u64 distance = address - windows().shared;
  if (distance >= kWindowsSpan) return AddressSpace::kGlobal;
  if (address - own < kWindowBytes) return AddressSpace::kShared;
  const u64 window = distance / kWindowBytes;
  if (window < kFirstOfCluster) return static_cast<AddressSpace>(1 + window);
  return window < kAllWindows || address >= windows().ranks ? AddressSpace::kCluster
                                                            : AddressSpace::kGlobal;
}

// A function's address is a handle, never 0: 16 bytes times the function's number in the module.
inline u64 function_address(u32 index) { return windows().function + 16 * (u64{index} + 1); }

}  // namespace vgpu::ir
