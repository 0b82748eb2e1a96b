// SPDX-License-Identifier: Apache-2.0
// State of a running grid: warps with their groups of lanes, blocks with their barriers, and the
// state that all blocks of a launch share. Layouts are plain because code compiled for several
// instruction sets accesses them.
#pragma once
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/address.hpp"
#include "ir/launch.hpp"
#include "ir/program.hpp"
#include "ir/set_bits.hpp"
#include "machine/print_fifo.hpp"
#include "memory/access.hpp"
#include "memory/memory.hpp"
#include "memory/trial.hpp"
#include "observer/counters.hpp"
#include "observer/observer.hpp"

namespace vgpu::machine {

using namespace ir;

struct Block;
struct Warp;
class BulkGroups;     // bulk.hpp
class Cluster;        // cluster.hpp
class ClusterSums;    // sums.hpp
class CopyQueue;      // async.hpp
class DeviceRuntime;  // device_runtime.hpp
class Mbarriers;      // mbarrier.hpp
class Warpgroups;     // wgmma.hpp

// An activation of a function. The lanes in it share a window. Lanes that call from different
// places get separate frames, so that lanes merge only if their call stacks are equal.
struct Frame {
  Frame* parent = nullptr;
  std::byte* window = nullptr;
  u32 function = 0;
  u32 depth = 0;
  u32 return_pc = 0;   // the call; lanes resume after it
  u32 lanes = 0;       // lanes in this frame or in one called from it
  u32 local_base = 0;  // start of the function's local memory within each lane's
  std::vector<std::byte> storage;
};

enum class GroupState : u8 {
  kReady,
  kBarrier,         // at a block barrier: `pc` is the barrier, `wait` its number
  kWarpBarrier,     // at bar.warp.sync: `wait` is its member mask
  kReconverge,      // at a BSYNC of machine code: `wait` is the row of its convergence barrier
  kClusterBarrier,  // at barrier.cluster.wait: `pc` is the wait
  // at a .sync instruction that other lanes have not reached: `wait` is the mask of the lanes it
  // needs
  kConverge,
};

// Lanes of a warp at the same instruction and in the same frame.
struct Group {
  u32 pc = 0, mask = 0;
  Frame* frame = nullptr;
  GroupState state = GroupState::kReady;
  u32 wait = 0;
  u64 since = 0;       // value of Warp::instructions when it last ran
  bool early = false;  // waits at a BSYNC that it has not executed (arrive_early)
};

// The latest value that a warp has read from %clock or %globaltimer. Later reads, also by other
// warps, are at least as large. Blocks that may depend on each other share one clock.
struct DeviceClock {
  u64 latest = 0;
};

enum class WarpStatus : u8 { kReady, kWaiting, kDone };

// The last mbarrier wait of a warp that failed.
struct MbarrierWait {
  u32 address = kNone;  // kNone: none
  u32 pc = 0;
};

// The memo of one memory instruction, per worker.
struct SiteMemo {
  u64 begin = ~u64{0}, end = 0;  // bounds of the allocation it accessed last
  // Whether that allocation, and all others that the lanes accessed since it was stored here, were
  // completely written before the launch.
  bool written = false;
  GlobalMemo global;
  SharedMemo shared;
};

struct Warp : observer::Warp {
  // The running group.
  u32 pc = 0, mask = 0;
  // From this instruction on, another group of the frame has to be considered.
  u32 limit = kNone;
  Frame* frame = nullptr;
  std::byte* window = nullptr;

  u32 live = 0;          // lanes that have not exited
  i64 budget = 0;        // instructions until the warp yields
  u64 instructions = 0;  // executed
  u64 clock_lead = 0;    // value of %clock minus `instructions`
  // Reads of %clock in a row with few instructions between, and `instructions` at the last read.
  u64 clock_polls = 0, clock_read = 0;
  u64 progress = 0;  // counts changes of memory, clock reads, and strong loads of new addresses
  // Counts repeated strong loads and atomics, failed waits and sleeps.
  u64 polls = 0;
  u64 polled[4] = {};     // hashes of the last of these (address and instruction)
  u64 polled_at[4] = {};  // their addresses
  u32 polled_next = 0;
  WarpStatus status = WarpStatus::kReady;

  u32 parked_count = 0;
  Group parked[kLanes];  // the other groups

  const Run* runs = nullptr;
  const u32* run_at = nullptr;
  const u32* lists = nullptr;
  observer::RunCount* run_counts = nullptr;
  observer::GuardCount* guard_counts = nullptr;
  observer::SiteCount* site_counts = nullptr;
  AccessSample* samples = nullptr;  // by site; null unless LaunchConfig::trace
  SiteMemo* memos = nullptr;
  bool counted = false;  // sectors, wavefronts and bytes are counted

  // Host address of shared address 0. The first bytes of shared memory may not be mapped.
  std::byte* shared = nullptr;
  std::byte* local = nullptr;  // words of the 32 lanes interleaved
  const std::byte* params = nullptr;
  u32 param_bytes = 0;
  u64 shared_window = 0;   // generic address of the block's shared memory
  u64 cluster_window = 0;  // generic address of shared::cluster address 0
  u32 shared_tag = 0;      // what machine code adds to addresses of the block's shared memory
  observer::Races* race = nullptr;
  observer::Watch* watch = nullptr;
  u8* local_written = nullptr;  // written marks of local memory; null if not tracked
  CopyQueue* copies = nullptr;  // null if the program has none
  BulkGroups* bulk = nullptr;   // likewise

  MbarrierWait waits_for;
  u8 roles = 0;                  // bits of observer::Role
  u32 registers = 0;             // per thread; 0: unknown
  u32 register_moves = 0;        // setmaxnreg instructions executed
  bool wants_registers = false;  // waits at setmaxnreg for registers
  // Waits at wgmma.wait_group for warps that have not issued the wgmma.
  bool wants_warpgroup = false;
  // Per convergence barrier: lanes that restored it from a register, as function calls that return
  // do.
  std::array<u32, 16> restored{};
  // Groups merge at explicit BSYNC instructions, not whenever they are at the same instruction.
  bool machine_code = false;
  bool broke = false;  // lanes have executed a BREAK

  Block* block = nullptr;
  alignas(64) u32 tid[3][kLanes] = {};

  Frame root;
  std::vector<std::unique_ptr<Frame>> frames;  // all frames ever created
  std::vector<Frame*> free_frames;
  std::vector<std::byte> local_storage;
  // Words outside local memory, if such accesses are tolerated (local.cpp).
  std::unordered_map<u64, u32> stray_local;
  std::vector<u8> local_marks;
};

struct Launch;

// One block's resources, reused for the next block.
struct Block : observer::Block {
  Block(const Launch& launch, observer::Counters& counters, SiteMemo* memos, Cluster& cluster,
        u32 rank);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void start(u64 linear_index);
  // Runs until the block is done (returns true), until all warps that can run only poll memory,
  // until no warp can run (`blocked`), or for `quantum` instructions.
  bool run(i64 quantum);
  // Number of instructions that a warp runs before the next one does: `most`, or under a random
  // schedule 1, 2, 4 ... up to `most`. `who` is the warp, kLanes for the block, or kLanes + 1 for
  // the cluster.
  i64 turn(u32 who, i64 most);

  struct Barrier {
    u32 expected = 0;          // expected threads; 0: all that have not exited
    u32 arrived[kLanes] = {};  // by warp
    u32 first_pc = 0;
    u32 ones = 0, zeros = 0;  // lanes that arrived with predicate true, false
  };
  static constexpr u32 kBarriers = 16;
  static constexpr u32 kWarpsOfGroup = 4;  // warps per warpgroup

  const Launch& launch;
  observer::Counters& counters;
  Cluster& cluster;
  u32 warp_count = 0;
  std::unique_ptr<Warp[]> warps;
  Barrier barriers[kBarriers];
  u32 pending_barriers = 0;  // bit mask of those at which threads have arrived; others are empty
  PrintFifo output;
  observer::Races* race = nullptr;  // owned by the cluster
  std::unique_ptr<observer::Watch> watch;
  std::vector<CopyQueue> copies;  // by warp; empty if the program has none
  std::vector<BulkGroups> bulk;   // likewise
  observer::Exchanges exchanges;  // of shared memory, by compare-and-swap loops
  ClusterSums* sums = nullptr;    // where its float sums are kept; null: it adds at once
  std::unique_ptr<Mbarriers> mbarriers;
  std::unique_ptr<Warpgroups> warpgroups;  // null if the program has no wgmma
  // By warpgroup: its setmaxnreg instructions in order.
  std::vector<std::vector<u32>> register_moves;
  u64 free_registers = 0;  // released by setmaxnreg, if registers are counted
  bool done = false;       // all threads have exited
  bool blocked = false;    // no warp can run until another block makes progress
  bool ran = false;        // some warp ran in the last run()
  // Consecutive rounds in which all warps that could run only polled memory.
  u64 idle_rounds = 0;

 private:
  bool run_warps(i64 quantum);

  u64 turns_ = 0;  // calls of turn(); the draw of a random schedule
  std::unique_ptr<std::byte[]> windows_, shared_;
};

struct Isa;  // operations.hpp

struct Launch {
  const Program& program;
  LaunchConfig config;
  std::vector<std::byte> params;
  Memory& memory;
  std::shared_ptr<const LaunchAllocations> map;
  const Isa& isa;
  u32 shared_end = 0;       // first shared address after static and dynamic shared memory
  u32 shared_read_end = 0;  // loads of words may read up to here
  u64 grid_workspace = 0;   // for cooperative launches
  std::array<std::vector<std::byte>, 5> banks = {};  // constant banks, for machine code
  const observer::Observer* observer = nullptr;      // null: nothing is checked
  DeviceRuntime* device_runtime = nullptr;           // of kernels that launch kernels
  Trial* trial = nullptr;                            // null: blocks with sums run in order
  observer::UnwrittenFill fill = {};
  u64 most_instructions = ~u64{0};  // limit for all warps of a cluster
};

// Record the first access of a site in a traced launch.
void sample_global(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes);
void sample_shared(Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes);

// Records a strong load. If it repeats one of the last four (same address and instruction), it
// counts as polling, otherwise as progress.
inline void note_poll(Warp& warp, const Insn& insn, u64 address) {
  const u64 key = address * 0x9e3779b97f4a7c15 + reinterpret_cast<u64>(&insn);
  for (u64 known : warp.polled) {
    if (known == key) {
      ++warp.polls;
      warp.block->counters.waited = true;
      return;
    }
  }
  warp.polled_at[warp.polled_next % 4] = address;
  warp.polled[warp.polled_next++ % 4] = key;
  ++warp.progress;
}

// warp.cpp: groups of lanes. Functions that remove the running group select the next one, or leave
// the warp waiting.
void start_warp(Warp& warp, const FunctionCode& kernel, u32 lanes);
// Returns the running group to the list, merges groups, selects the next.
void select_group(Warp& warp);
void rotate_groups(Warp& warp);            // the group that has waited longest runs
void split(Warp& warp, u32 mask, u32 pc);  // moves these lanes of the running group to `pc`
void park(Warp& warp, GroupState state, u32 wait);  // the running group waits at warp.pc
// Removes the running group's instruction from the counts: it will be executed again, which
// hardware does not do.
void count_later(const Warp& warp);
void exit_lanes(Warp& warp);  // all lanes of the running group exit
// For a .sync instruction whose lanes wait for each other; members[i] is lane i's member mask.
// Returns the lanes that can execute it now (they become the running group), or 0 if all wait.
u32 converge(Warp& warp, const Insn& insn, const u32* members);
void warp_barrier(Warp& warp, const Insn& insn, const u32* members);

// local.cpp: accesses outside the local memory that a thread's functions declare.
bool forgives_local(const Warp& warp, u64 offset, u32 bytes);
u8& stray_local_byte(Warp& warp, u32 lane, u64 offset);

// call.cpp: for all lanes of the running group.
void call(Warp& warp, const Insn& insn);
void return_lanes(Warp& warp);
void ensure_local(Warp& warp, const Insn& insn, u64 bytes);  // bytes of local memory per lane
void free_frame(Warp& warp, Frame* frame);

// barrier.cpp
void barrier_arrive(Warp& warp, const Insn& insn);
// Lanes have exited, which may complete barriers that wait for all threads.
void barrier_exit(Block& block);

// registers.cpp
void set_max_registers(Warp& warp, const Insn& insn);  // setmaxnreg

// stuck.cpp
[[noreturn]] void report_stuck(const Block& block);  // no warp can run
// Every warp that can run only polls for others.
[[noreturn]] void report_waiting(const Block& block, const char* why);
// Faults if the launch's deadline is over and a warp can run.
void check_deadline(const Block& block);

}  // namespace vgpu::machine
