// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory that run asynchronously to the thread that issues
// them. The launch's CopySchedule decides when they complete; a correctly synchronised program
// cannot observe the difference. PTX ISA, "Data Movement and Conversion Instructions: cp.async,
// cp.async.commit_group, cp.async.wait_group".
//
// A thread's copies are numbered by epoch. A new epoch begins when the thread commits a group, and
// when it has an mbarrier track its copies. No program can distinguish when copies of one epoch
// complete.
#pragma once
#include <vector>

#include "machine/machine.hpp"

namespace vgpu::machine {

// The copies of one warp's threads.
class CopyQueue {
 public:
  explicit CopyQueue(Warp& warp) : warp_(&warp) {}

  void start_block();
  // Starts one copy of `bytes` bytes per lane of `mask` to shared address `to`. The first `sizes`
  // bytes come from `from`, the rest are zeros. The caller has checked all addresses.
  void begin(const Insn& insn, u32 mask, const u32* to, const u64* from, const u32* sizes);
  void commit(u32 mask);
  // Completes copies until at most `pending` groups of each lane are incomplete.
  void wait(u32 mask, u64 pending);
  // Ends the current epoch of these lanes. Stores to `ended` the epoch that holds their copies so
  // far.
  void end_epoch(u32 mask, u32* ended);
  // Completes the lanes' copies up to and including these epochs.
  void land(u32 mask, const u32* epochs);
  // Whether the schedule delays the next event that it may delay.
  bool delays();

 private:
  struct Copy {  // that is not complete
    const Insn* insn = nullptr;
    u32 mask = 0;  // lanes whose copy is not complete
    u32 to[kLanes] = {};
    u64 from[kLanes] = {};
    u32 sizes[kLanes] = {};
    u32 epochs[kLanes] = {};
  };
  void write(u32 bytes, u32 to, u64 from, u32 size) const;

  Warp* warp_;
  u32 epoch_[kLanes] = {};  // current epoch per lane
  // Last epoch of each group that is committed and not yet waited for, oldest first.
  std::vector<u32> groups_[kLanes];
  std::vector<Copy> under_way_;  // in order of issue
  u64 draws_ = 0;
};

// Whether the schedule delays the next event at `place`. For a random schedule the answer depends
// on `draw`, the number of the event.
bool schedule_delays(const CopySchedule& schedule, u64 place, u64 draw);
// 64 random bits of a random schedule, per place and draw.
u64 schedule_bits(const CopySchedule& schedule, u64 place, u64 draw);

// For copies that read fewer bytes than they write: faults at the first lane with a bad source
// address. The address must be aligned for the full size, but only the bytes that are read must be
// allocated.
void verify_parts(Warp& warp, const Insn& insn, u32 mask, const u64* from, const u32* sizes);

}  // namespace vgpu::machine
