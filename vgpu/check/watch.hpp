// SPDX-License-Identifier: Apache-2.0
// Detects reads of memory that was never written, and conflicting accesses of two blocks, or of two
// warps of a block, to one word of global memory.
//
// Unwritten memory. A load of global memory faults if any of its bytes was never written, whether
// or not the value is used. compute-sanitizer's initcheck has the same rule (Compute Sanitizer
// manual, "Initcheck Tool"). Copies between host and device copy the marks and never fault. Loads
// of shared memory that the block did not write are recorded and evaluated after the kernel
// (unwritten.hpp), and so are loads of local memory of which no byte of an element was written:
// compilers copy structures together with their padding, and load ahead of the branch that decides
// whether the value is used.
//
// Conflicts. Two warps conflict if both access one word with plain accesses of at least 4 bytes, at
// least one of them writes, and they have no order, unless all that write store the value that the
// word holds; several that do so, and all others, may then read it. Warps of different clusters
// have no order; those of one cluster, or of a block outside clusters, have that of race.hpp. A
// block that has read memory with an atomic or a strong load (volatile, relaxed, acquire) may be
// ordered behind others, so its later accesses are not checked. A word has the mark of one access:
// the write, or else the first read that is not ordered before the last one.
#pragma once
#include <vector>

#include "ir/launch.hpp"
#include "memory/memory.hpp"
#include "observer/races.hpp"
#include "observer/watch.hpp"

namespace vgpu::check {

using ir::u32;
using ir::u64;
using ir::u8;

class UnwrittenReads;

observer::LaunchMarks launch_marks(const Memory& memory, const LaunchConfig& config);

class BlockWatch final : public observer::Watch {
 public:
  // `shared_bytes`: 0 if reads of unwritten shared memory are not checked.
  BlockWatch(const observer::LaunchMarks& marks, const Memory& memory, const LaunchConfig& config,
             const observer::Races* races, UnwrittenReads& unwritten, u32 shared_begin,
             u64 shared_bytes);
  void start_block(u64 linear) override;
  void touch_word(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                  bool is_write, u32 mine, const u32* stored) override;
  void report_global(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                     u32 bytes) override;
  void note_shared(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u32 offset,
                   u32 bytes) override;
  void note_local(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u64 offset,
                  u32 bytes) override;

 private:
  bool is_own(u32 touched) const { return touched - mark < global.moments; }
  void report_conflict(const observer::Lane& at, u64 address, u32 other, bool other_writes,
                       bool writes) const;

  // Whether the whole allocation at the address counts as written.
  bool counts_as_written(u64 address);

  const Memory& memory_;
  const Shadow* shadow_;
  const LaunchConfig& config_;
  const observer::Races* races_;
  UnwrittenReads& unwritten_;
  std::vector<u32> shared_;
  u64 known_begin_ = 0, known_end_ = 0;  // the allocation looked up last
  bool known_written_ = false;
};

}  // namespace vgpu::check
