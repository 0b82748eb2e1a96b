// SPDX-License-Identifier: Apache-2.0
// The special registers.
#pragma once
#include <optional>
#include <string_view>

#include "engine/execute/ir.hpp"

namespace vgpu::execute {

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
  kSharedWindowHi,  // the upper half of generic addresses of shared memory
  // address of what cooperative groups synchronise the grid with; 0 in other launches
  kGridWorkspaceLow,
  kGridWorkspaceHigh,
  kOne,
  kClusteridX,  // of the cluster in the grid
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,  // of the block in the cluster
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

// "%tid.x"; none if there is no such register, or none that this engine has.
std::optional<SpecialRegister> find_special(std::string_view name);

// The streaming multiprocessors that %nsmid speaks of; blocks are dealt to them in turn.
inline constexpr u32 kMultiprocessors = 132;

}  // namespace vgpu::execute
