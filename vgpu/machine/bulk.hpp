// SPDX-License-Identifier: Apache-2.0
// Bulk copies: cp.async.bulk, cp.async.bulk.tensor and their reductions; st.async. They run
// asynchronously to the thread that issues them, and complete through an mbarrier or the thread's
// bulk groups. The launch's CopySchedule decides when. PTX ISA, "Data Movement and Conversion
// Instructions: Asynchronous copy operations".
#pragma once
#include <functional>
#include <vector>

#include "ir/bulk.hpp"
#include "machine/machine.hpp"

namespace vgpu::machine {

void bulk_copy(Warp& warp, const Insn& insn, u32 mask);
// prefetch.tensormap: faults unless s[0] is the address of a tensor map.
void check_tensor_map(Warp& warp, const Insn& insn, u32 mask);

// The bulk groups of one warp's threads.
class BulkGroups {
 public:
  explicit BulkGroups(Warp& warp) : warp_(&warp) {}
  void start_block();
  // Starts a copy for one lane. `read` fetches the data from shared memory, `write` stores it at
  // the destination.
  void begin(const Insn& insn, u32 lane, std::function<std::vector<std::byte>()> read,
             std::function<void(const std::vector<std::byte>&)> write);
  void commit(u32 mask);
  // Completes copies until at most `pending` groups of each lane are incomplete. `reads`: it
  // suffices that the sources have been read.
  void wait(u32 mask, u64 pending, bool reads);
  // Called when the block ends: completes all remaining copies. Faults if shared memory still had
  // to be read.
  void finish();
  // The lane's current epoch. The race check identifies its copies by it.
  u32 epoch(u32 lane) const { return epoch_[lane]; }

 private:
  struct Copy {
    const Insn* insn = nullptr;
    u32 lane = 0, epoch = 0;
    bool is_read = false, is_written = false;
    std::vector<std::byte> data;
    std::function<std::vector<std::byte>()> read;
    std::function<void(const std::vector<std::byte>&)> write;
  };
  static void advance(Copy& copy, bool writes);
  void advance(u32 lane, u32 epoch, bool writes);

  Warp* warp_;
  u32 epoch_[kLanes] = {};
  // Last epochs of the committed groups, oldest first.
  std::vector<u32> unread_[kLanes], unwritten_[kLanes];
  u32 waited_[kLanes] = {};   // sources up to this epoch are known to be read
  std::vector<Copy> copies_;  // incomplete, or not known to be read
};

}  // namespace vgpu::machine
