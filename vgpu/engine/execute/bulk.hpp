// SPDX-License-Identifier: Apache-2.0
// Bulk copies: cp.async.bulk, cp.async.bulk.tensor and their reductions; st.async. They run beside
// the thread that begins them, and end by an mbarrier, or by the thread's bulk groups. PTX ISA,
// "Data Movement and Conversion Instructions: Asynchronous copy operations". When they happen is
// the launch's CopySchedule.
#pragma once
#include <functional>
#include <vector>

#include "engine/execute/machine.hpp"

namespace vgpu::execute {

enum class BulkKind : u8 {  // Insn::sub of bulk
  kLoad,                    // global memory to the shared memory of one or more blocks
  kStore,                   // shared to global memory
  kSend,                    // shared memory to that of a block of the cluster
  kSendWords,               // registers, Insn::width of Insn::bytes each, likewise (st.async)
};
enum class BulkReduction : u8 {
  kCopy,
  kAdd,
  kMin,
  kMax,
  kInc,
  kDec,
  kAnd,
  kOr,
  kXor
};  // Insn::width

// Where a bulk copy's operands are, from Insn::list on in Program::lists: slots, kNone where there
// is none. Addresses are 64-bit slots, the size and coordinates 32-bit ones, the mask of blocks a
// 16-bit one.
enum BulkOperand : u32 {
  kBulkShared,  // destination of loads and sends, source of stores
  kBulkOther,   // global memory, a tensor map, or the source of a send
  kBulkBarrier,
  kBulkSize,
  kBulkBlocks,  // multicast
  // coordinates, as many as Insn::vector says, 0 for a copy without tensor map; or the words of
  // kSendWords
  kBulkAt,
  kBulkOperands = kBulkAt + 5,
};

void bulk_copy(Warp& warp, const Insn& insn, u32 mask);
// prefetch.tensormap: s[0] is the address of what must be a tensor map.
void check_tensor_map(Warp& warp, const Insn& insn, u32 mask);

// The bulk groups of one warp's threads.
class BulkGroups {
 public:
  explicit BulkGroups(Warp& warp) : warp_(&warp) {}
  void start_block();
  // A lane begins a copy: `read` takes what it copies out of shared memory, `write` puts it where
  // it goes.
  void begin(const Insn& insn, u32 lane, std::function<std::vector<std::byte>()> read,
             std::function<void(const std::vector<std::byte>&)> write);
  void commit(u32 mask);
  // Until at most `pending` of each lane's groups still have to be done; `reads`: to be read.
  void wait(u32 mask, u64 pending, bool reads);
  // The block ends: what is not done is. Faults where shared memory still had to be read.
  void finish();
  // The epoch that a lane's copies begin in, and how the race check names them.
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
  std::vector<u32> unread_[kLanes],
      unwritten_[kLanes];     // last epochs of groups committed, the oldest first
  u32 waited_[kLanes] = {};   // copies up to this epoch are known to have been read
  std::vector<Copy> copies_;  // that are not done, or not known to be read
};

}  // namespace vgpu::execute
