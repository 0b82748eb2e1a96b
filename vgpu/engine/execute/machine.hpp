// SPDX-License-Identifier: Apache-2.0
// The state of a running grid: warps with their groups of lanes, blocks with their barriers, and
// what all blocks of a launch share. The layouts are plain because code compiled for several
// instruction sets works on them.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/count/counters.hpp"
#include "engine/execute/address.hpp"
#include "engine/execute/ir.hpp"
#include "engine/execute/print_fifo.hpp"
#include "engine/memory/access.hpp"
#include "engine/memory/memory.hpp"

namespace vgpu::check {
class RaceCheck;
class UnwrittenReads;
class Watch;
struct LaunchMarks;
struct SharedFill;
}  // namespace vgpu::check

namespace vgpu::execute {

struct Block;
struct Warp;
class BulkGroups;  // bulk.hpp
class Cluster;     // cluster.hpp
class CopyQueue;   // async.hpp
class Mbarriers;   // mbarrier.hpp
class Warpgroups;  // wgmma.hpp

// An activation of a function: the lanes in it share a window. Lanes that call from different
// places get frames of their own, so that lanes are only ever merged where their call stacks are
// the same.
struct Frame {
  Frame* parent = nullptr;
  std::byte* window = nullptr;
  u32 function = 0;
  u32 depth = 0;
  u32 return_pc = 0;   // the call; lanes go on behind it
  u32 lanes = 0;       // still inside, in this frame or in one that it called
  u32 local_base = 0;  // of the function's local memory, in each lane's
  std::vector<std::byte> storage;
};

enum class GroupState : u8 {
  kReady,
  kBarrier,         // at a block barrier: `pc` is the barrier, `wait` its number
  kWarpBarrier,     // at bar.warp.sync: `wait` is its mask
  kReconverge,      // at a BSYNC of machine code: `wait` is the row of its convergence barrier
  kClusterBarrier,  // at barrier.cluster.wait: `pc` is the wait
  // at a .sync instruction whose other lanes have not arrived: `wait` is the lanes it needs
  kConverge,
};

// Lanes of a warp that are at one place.
struct Group {
  u32 pc = 0, mask = 0;
  Frame* frame = nullptr;
  GroupState state = GroupState::kReady;
  u32 wait = 0;
  u64 since = 0;  // Warp::instructions when it last ran
};

enum class WarpStatus : u8 { kReady, kWaiting, kDone };

// The wait for an mbarrier that a warp tried last and that failed.
struct MbarrierWait {
  u32 address = kNone;  // kNone: none
  u32 pc = 0;
};

// The memo of one memory instruction, per worker.
struct SiteMemo {
  u64 begin = ~u64{0}, end = 0;  // of the allocation it hit last
  bool written =
      false;  // ... all of which was written before the launch, as was what it hit beside
  GlobalMemo global;
  SharedMemo shared;
};

struct Warp {
  // The group that runs.
  u32 pc = 0, mask = 0;
  u32 limit =
      kNone;  // at this instruction or behind it, another group of the frame has to be looked at
  Frame* frame = nullptr;
  std::byte* window = nullptr;

  u32 live = 0;          // lanes that have not exited
  i64 budget = 0;        // instructions until the warp yields
  u64 instructions = 0;  // executed, for %clock
  u64 progress = 0;      // memory changed, a clock was read, a strong load looked somewhere else
  u64 polls = 0;         // strong loads and atomics that found what they had found before
  u64 polled[4] = {};    // where the last ones looked
  u32 polled_next = 0;
  WarpStatus status = WarpStatus::kReady;

  u32 parked_count = 0;
  Group parked[kLanes];  // the other groups

  const Insn* code = nullptr;
  const Run* runs = nullptr;
  const u32* run_at = nullptr;
  const u32* lists = nullptr;
  count::RunCount* run_counts = nullptr;
  count::GuardCount* guard_counts = nullptr;
  count::SiteCount* site_counts = nullptr;
  AccessSample* samples = nullptr;  // by site; null unless the launch is traced
  SiteMemo* memos = nullptr;

  std::byte* shared =
      nullptr;  // host address of shared address 0 (of which the first bytes may not be mapped)
  u32 shared_begin = 0, shared_end = 0;
  std::byte* local = nullptr;  // words of the 32 lanes interleaved
  u32 local_bytes = 0;         // of a lane
  const std::byte* params = nullptr;
  u32 param_bytes = 0;
  u64 shared_window = 0;  // windows().shared
  check::RaceCheck* race = nullptr;
  check::Watch* watch = nullptr;
  u8* local_written = nullptr;  // marks of local memory, if they are kept
  CopyQueue* copies = nullptr;  // if the program has any
  BulkGroups* bulk = nullptr;   // likewise

  MbarrierWait waits_for;
  u32 registers = 0;             // a thread; 0: not known
  u32 register_moves = 0;        // setmaxnreg that it has executed
  bool wants_registers = false;  // it waits for some at setmaxnreg
  bool wants_warpgroup = false;  // it waits at wgmma.wait_group for warps that have not begun
  // By convergence barrier: lanes that took it from a register, as calls do that return.
  std::array<u32, 16> restored{};
  bool machine_code = false;  // groups meet where the code says so, not where they are at one place

  u32 id = 0;  // in the block
  Block* block = nullptr;
  alignas(64) u32 tid[3][kLanes] = {};

  Frame root;
  std::vector<std::unique_ptr<Frame>> frames;  // all that were ever made
  std::vector<Frame*> free_frames;
  std::vector<std::byte> local_storage;
  std::unordered_map<u64, u32>
      stray_local;  // words outside it, where these are forgiven (local.cpp)
  std::vector<u8> local_marks;
};

struct Launch;

// One block's resources, used again for the next block.
struct Block {
  Block(const Launch& launch, count::Counters& counters, SiteMemo* memos, Cluster& cluster,
        u32 rank);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void start(u64 linear_index);
  // Runs until the block is done (true), all warps that can run only poll memory, none can
  // (`blocked`), or `quantum` instructions.
  bool run(i64 quantum);
  // How many instructions a warp, or kLanes for all of the block, kLanes + 1 for all of its
  // cluster, runs before the next one has its turn: `most`, and under a random schedule 1, 2, 4 or
  // so on up to that.
  i64 turn(u32 who, i64 most);

  struct Barrier {
    u32 expected = 0;  // threads; 0: all that have not exited
    bool pending = false;
    u32 arrived[kLanes] = {};  // by warp
    u32 first_pc = 0;
    u32 ones = 0, zeros = 0;  // lanes that came with a true, a false predicate
  };
  static constexpr u32 kBarriers = 16;
  static constexpr u32 kWarpsOfGroup = 4;  // of a warpgroup

  const Launch& launch;
  count::Counters& counters;
  Cluster& cluster;
  u32 rank;  // in the cluster
  Dim3 index;
  u64 linear = 0;
  u32 warp_count = 0;
  std::unique_ptr<Warp[]> warps;
  Barrier barriers[kBarriers];
  PrintFifo output;
  check::RaceCheck* race = nullptr;  // of the cluster
  std::unique_ptr<check::Watch> watch;
  std::vector<CopyQueue> copies;  // by warp, if the program has any
  std::vector<BulkGroups> bulk;   // likewise
  std::unique_ptr<Mbarriers> mbarriers;
  std::unique_ptr<Warpgroups> warpgroups;        // if the program has wgmma
  std::vector<std::vector<u32>> register_moves;  // by warpgroup: its setmaxnreg in order
  u64 free_registers = 0;                        // given back by setmaxnreg, if they are counted
  bool done = false;                             // all threads have exited
  bool blocked = false;  // no warp can run before another block does something
  bool ran = false;      // some did in the last run()
  u64 idle_rounds = 0;   // without a break, in which all warps that can run only polled memory

 private:
  bool run_warps(i64 quantum);

  u64 turns_ = 0;  // that warps have had
  std::unique_ptr<std::byte[]> windows_, shared_;
};

struct Isa;  // operations.hpp

struct Launch {
  const Program& program;
  LaunchConfig config;
  std::vector<std::byte> params;
  Memory& memory;
  std::shared_ptr<const AllocationMap> map;
  const Isa& isa;
  u32 shared_end = 0;      // first shared address behind static and dynamic shared memory
  u64 grid_workspace = 0;  // of a cooperative launch
  const check::LaunchMarks* marks = nullptr;         // of global memory
  std::array<std::vector<std::byte>, 5> banks = {};  // of constants, for machine code
  check::UnwrittenReads* unwritten =
      nullptr;                              // of shared memory; null where they are not looked for
  const check::SharedFill* fill = nullptr;  // null: the usual one
  u64 most_instructions = ~u64{0};          // of a cluster's warps
};

// Keep the first access of a site in a traced launch.
void sample_global(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes);
void sample_shared(Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes);

// Whether a strong load of this address is one of the last ones again: then the warp waits.
inline void note_poll(Warp& warp, const Insn& insn, u64 address) {
  const u64 key = address * 0x9e3779b97f4a7c15 + reinterpret_cast<u64>(&insn);
  for (u64 known : warp.polled) {
    if (known == key) {
      ++warp.polls;
      warp.block->counters.waited = true;
      return;
    }
  }
  warp.polled[warp.polled_next++ % 4] = key;
  ++warp.progress;
}

// warp.cpp: groups of lanes. What takes the running group away picks the next one, or leaves the
// warp waiting.
void start_warp(Warp& warp, const FunctionCode& kernel, u32 lanes);
void select_group(Warp& warp);             // puts the running group back, merges, picks the next
void rotate_groups(Warp& warp);            // the group that has waited longest runs
void split(Warp& warp, u32 mask, u32 pc);  // these lanes of the running group are at `pc` now
void park(Warp& warp, GroupState state, u32 wait);  // the running group waits at warp.pc
void exit_lanes(Warp& warp);                        // of the running group
// For a .sync instruction whose lanes wait for each other, members[i] being lane i's mask: the
// lanes that can execute it now (they are the running group then), 0 if all wait.
u32 converge(Warp& warp, const Insn& insn, const u32* members);
void warp_barrier(Warp& warp, const Insn& insn, const u32* members);

// local.cpp: accesses outside the local memory that a thread's functions declare.
bool forgives_local(const Warp& warp, u64 offset, u32 bytes);
u8& stray_local_byte(Warp& warp, u32 lane, u64 offset);

// call.cpp: of all lanes of the running group.
void call(Warp& warp, const Insn& insn);
void return_lanes(Warp& warp);
void ensure_local(Warp& warp, const Insn& insn, u64 bytes);  // of local memory a lane
void free_frame(Warp& warp, Frame* frame);

// barrier.cpp
void barrier_arrive(Warp& warp, const Insn& insn);
void barrier_exit(Block& block);  // lanes have exited: what waits for all may be complete

// registers.cpp
void set_max_registers(Warp& warp, const Insn& insn);  // setmaxnreg

// stuck.cpp
[[noreturn]] void report_stuck(const Block& block);  // no warp can run
// Every warp that can run only waits for others.
[[noreturn]] void report_waiting(const Block& block, const char* why);

}  // namespace vgpu::execute
