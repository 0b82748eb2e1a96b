// SPDX-License-Identifier: Apache-2.0
// What the machine counts while a kernel runs. Every worker has its own counters, and they are
// added after the launch. Counting needs no locks, and the result does not depend on the
// distribution of blocks over workers.
#pragma once
#include <array>
#include <vector>

#include "ir/program.hpp"
#include "observer/exchanges.hpp"

namespace vgpu {

// The first access of a memory instruction in the lowest block that executes it.
struct AccessSample {
  std::uint64_t block = ~std::uint64_t{0};  // linear index
  std::uint32_t warp = 0;                   // in the block
  std::uint32_t mask = 0;                   // active lanes; 0: no access
  std::uint32_t bytes = 0;                  // per lane
  bool shared = false;                      // addresses are offsets in shared memory, else global
  std::array<std::uint64_t, 32> addresses{};
};

}  // namespace vgpu

namespace vgpu::observer {

using ir::u32;
using ir::u64;

// Counts of a memory instruction. Executions without an active lane are not counted. A byte counts
// once per request, even if several lanes access it.
struct SiteCount {
  std::uint64_t global_requests = 0, global_sectors = 0, global_bytes = 0;
  std::uint64_t shared_requests = 0, shared_wavefronts = 0, shared_bytes = 0;
  std::uint64_t local_requests = 0, local_sectors = 0, local_bytes = 0;
  // Bulk copies: bytes of shared memory read or written (multicast: in every destination block),
  // destination blocks of loads, and loads with several destination blocks.
  std::uint64_t bulk_bytes = 0, bulk_deliveries = 0, bulk_multicasts = 0;
  // Bytes that bulk loads bring to all blocks, whole sectors; of those for several blocks; and
  // loads of which a row begins, or ends at the tensor's edge, within a sector, or stores without a
  // tensor map that begin so.
  std::uint64_t bulk_reads = 0, bulk_multicast_reads = 0, uneven_boxes = 0;
  // Shared memory accessed by addresses of the cluster: executions; lanes whose address belongs to
  // another block, and their bytes; executions whose traffic was not measured (other widths, lanes
  // apart).
  std::uint64_t remote_requests = 0, remote_lanes = 0, remote_bytes = 0, remote_apart = 0;
  std::uint64_t failed_waits = 0;  // tests of an mbarrier that found a phase incomplete
  // Executions of asynchronous copies of 16 bytes per lane in which two neighbouring lanes do not
  // copy one whole sector to one whole sector. The hardware moves sectors and may count such a
  // sector several times or not at all.
  std::uint64_t torn_copies = 0;

  void add(const SiteCount& other);
  // Counts an access of `lanes` lanes, `bytes` each, to shared memory of other blocks. `measured`:
  // its traffic is known from hardware.
  void add_remote(u32 lanes, u32 bytes, bool measured);
};

struct RunCount {      // of a straight-line sequence of instructions
  u64 executions = 0;  // by warps
  u64 lanes = 0;       // active lanes, summed over executions
};

struct GuardCount {    // of a guarded instruction
  u64 executions = 0;  // with the guard true in at least one lane
  u64 lanes = 0;       // with the guard true, summed over executions
};

// Executions that the hardware performs in addition to those counted in RunCount, and their lanes.
// repeated: lanes that execute the instruction a second time; they may be lanes counted here or in
// RunCount. refused: lanes of a branch or EXIT whose guard is true and whose condition is false;
// only the counters of classes count them as executing it.
struct Repetition {
  u64 executions = 0, lanes = 0, repeated = 0, refused = 0;
};

// What a warp did in its block, as bits: the index of Counters::roles.
enum Role : std::uint8_t { kCopies = 1, kMultiplies = 2 };
inline constexpr std::size_t kRoles = 4;

// The most cache lines of an atomic whose sectors the hardware was seen to count once each.
inline constexpr u32 kLinesOfAtomic = 4;

struct Counters {
  explicit Counters(const ir::Program& program, bool traced = false);
  void add(const Counters& other);

  std::vector<RunCount> runs;
  std::vector<GuardCount> guards;
  std::vector<SiteCount> sites;
  std::vector<u64> divergent;         // by instruction
  std::vector<Repetition> again;      // by instruction; empty for PTX
  std::vector<AccessSample> samples;  // by site; empty unless traced
  std::array<u64, kRoles> roles{};    // warps by Role
  bool retried = false;               // the exchange of a compare-and-swap loop failed
  Exchanges exchanges;                // of global memory by such loops
  bool waited = false;                // a thread polled memory for a value that was not there yet
  bool called_driver = false;         // vprintf, malloc or free
  bool read_clock = false;            // %clock or %globaltimer
  bool parted = false;                // kParted
  // Machine code: lanes arrived early at a BSYNC (machine/converge.hpp) after a BREAK, or a
  // WARPSYNC.EXCLUSIVE parted lanes.
  bool broke = false;
  // An atomic of lanes in more than kLinesOfAtomic cache lines, with several words of a sector: the
  // hardware counts some such sectors twice. Which ones depends on their physical addresses.
  bool scattered_atomics = false;
};

}  // namespace vgpu::observer
