// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory that run beside the thread that begins them. When
// their data land is the launch's CopySchedule; what a program may rely on is the same under each.
// PTX ISA, "Data Movement and Conversion Instructions: cp.async, cp.async.commit_group,
// cp.async.wait_group".
//
// A thread's copies are numbered by epochs: a new one begins where it commits a group and where it
// has an mbarrier track its copies. Copies of one epoch land together as far as anybody can tell.
#pragma once
#include <vector>

#include "engine/execute/machine.hpp"

namespace vgpu::execute {

// The copies of one warp's threads.
class CopyQueue {
 public:
  explicit CopyQueue(Warp& warp) : warp_(&warp) {}

  void start_block();
  // The lanes of `mask` begin a copy of `bytes` bytes each to shared addresses `to`, of which the
  // first `sizes` come from `from` and the rest are zeros. All addresses have been checked.
  void begin(const Insn& insn, u32 mask, const u32* to, const u64* from, const u32* sizes);
  void commit(u32 mask);
  // Until at most `pending` of each lane's groups are under way.
  void wait(u32 mask, u64 pending);
  // Ends an epoch of these lanes: `ended` is the one that holds their copies so far.
  void end_epoch(u32 mask, u32* ended);
  // Lets the lanes' copies up to these epochs land.
  void land(u32 mask, const u32* epochs);
  // Whether the next thing that may happen late does, as the schedule says.
  bool delays();

 private:
  struct Copy {  // that has not landed
    const Insn* insn = nullptr;
    u32 mask = 0;  // lanes still under way
    u32 to[kLanes] = {};
    u64 from[kLanes] = {};
    u32 sizes[kLanes] = {};
    u32 epochs[kLanes] = {};
  };
  void write(u32 bytes, u32 to, u64 from, u32 size) const;

  Warp* warp_;
  u32 epoch_[kLanes] = {};  // of the copies that a lane begins now
  std::vector<u32>
      groups_[kLanes];  // last epoch of each group committed and not waited for, the oldest first
  std::vector<Copy> under_way_;  // in the order in which they began
  u64 draws_ = 0;
};

// Whether the next thing of `place` that may happen late does: the draw that is meant counts where
// the schedule is random.
bool schedule_delays(const CopySchedule& schedule, u64 place, u64 draw);
// Of a random schedule, 64 bits for each draw at each place.
u64 schedule_bits(const CopySchedule& schedule, u64 place, u64 draw);

// Faults at the first of these lanes, which copy fewer bytes than they write, whose source is bad:
// aligned as for all bytes, but only those that are copied must exist.
void verify_parts(Warp& warp, const Insn& insn, u32 mask, const u64* from, const u32* sizes);

}  // namespace vgpu::execute
