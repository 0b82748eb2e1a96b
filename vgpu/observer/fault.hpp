// SPDX-License-Identifier: Apache-2.0
// What observers know of the running warps, and the faults that are reported for one of their
// lanes.
#pragma once
#include <string>

#include "ir/fault.hpp"
#include "ir/program.hpp"

namespace vgpu::observer {

using ir::u16;
using ir::u32;
using ir::u64;
using ir::u8;

class FindingLog;

struct Block {
  Block(const ir::Program& of, u32 rank_in_cluster) : program(of), rank(rank_in_cluster) {}

  const ir::Program& program;
  u32 rank;  // in the cluster
  Dim3 index;
  u64 linear = 0;
  FindingLog* findings = nullptr;  // null: the first finding ends the launch
};

struct Warp {
  const ir::Insn* code = nullptr;
  const Block* home = nullptr;
  u32 id = 0;  // in the block
  u32 shared_begin = 0, shared_end = 0;
  u32 local_bytes = 0;                        // per lane
  const u32 (*thread)[ir::kLanes] = nullptr;  // x, y, z of each lane
};

struct Lane {
  const Warp& warp;
  const ir::Insn& insn;
  u32 lane;
};

// The fault that reports what the lane did: `what` is its first line, `details` further lines;
// `other` is another instruction that it is about, or kNone.
Fault made_fault(const Lane& at, FaultKind kind, const std::string& what,
                 const std::string& details, u32 other = ir::kNone);
// Throws it.
[[noreturn]] void fault(const Lane& at, FaultKind kind, const char* what);
[[noreturn]] void fault(const Lane& at, FaultKind kind, const std::string& what,
                        const std::string& details);

// The instruction as reports show it: "st.shared.f32 [%r1], %f2" (PTX line 12; k.cu:34).
std::string place(const ir::Program& program, u32 pc);

}  // namespace vgpu::observer
