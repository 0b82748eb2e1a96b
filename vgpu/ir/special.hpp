// SPDX-License-Identifier: Apache-2.0
// The special registers.
#pragma once
#include <optional>
#include <string_view>

#include "ir/program.hpp"

namespace vgpu::ir {

enum class Special : u8 {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kDynamicSmem,
  kTotalSmem,
  kAggrSmem,
  kReservedSmemBegin,
  kReservedSmemEnd,
  kReservedSmemCap,
  kZero,
  kSharedEnd,       // size of shared memory, with what is reserved at its beginning
  kSharedWindowHi,  // upper half of generic addresses of shared memory
  // address of the workspace with which cooperative groups synchronise the grid; 0 in other
  // launches
  kGridWorkspaceLow,
  kGridWorkspaceHigh,
  kOne,
  kVirtualConfiguration,  // %nwarpid, in bits 8 to 15
  kClusteridX,            // index of the cluster in the grid
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,  // index of the block in the cluster
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
};

struct SpecialRegister {
  Special special;
  bool wide;  // 64 bits (a 32-bit read takes the low half)
};

// Looks up a name such as "%tid.x"; none if there is no such register or it is unsupported.
std::optional<SpecialRegister> find_special(std::string_view name);

// Value of %nsmid, an H100's or H200's number of SMs; blocks are assigned to SMs round-robin.
inline constexpr u32 kMultiprocessors = 132;
// Value of %nwarpid: warps that a multiprocessor can have.
inline constexpr u32 kMostWarps = 64;

}  // namespace vgpu::ir
