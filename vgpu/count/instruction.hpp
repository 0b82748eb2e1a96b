// SPDX-License-Identifier: Apache-2.0
// What both engines report per instruction of a kernel after a launch: its class, its counts and
// its source line. report() computes Nsight Compute's metrics from them (metrics.hpp), per launch
// and per source line.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/engine.hpp"

namespace vgpu::count {

// Classes that Nsight Compute's metrics distinguish.
enum class Operation : std::uint8_t {
  kOther,
  kFadd,  // single precision; kFloat: all but these three (comparisons, minima...)
  kFmul,
  kFfma,
  kFloat,
  kHalf,        // 16-bit floating point
  kHalfTensor,  // 16-bit floating point that runs on the tensor pipe
  kDadd,        // double precision
  kDmul,
  kDfma,
  kDouble,
  kInteger,
  kBit,
  kConversion,
  kExchange,  // between threads of a warp: shuffles, votes, matches, reductions
  kTensorFloat,
  kTensorInteger,
  kTensorDouble,
  kTensorWarpgroup,
  kLoad,
  kStore,
  kAtomic,      // atomic operation that returns the old value
  kReduction,   // atomic operation that returns nothing
  kAsyncGroup,  // closes a group of kAsyncCopy
  kAsyncCopy,   // a thread's copy from global to shared memory: cp.async, LDGSTS
  kMatrixLoad,
  kMatrixStore,
  kBulkLoad,  // cp.async.bulk, TMA
  kBulkStore,
  kMemoryControl,  // fences, cache control, address queries
  kBranch,         // what smsp__inst_executed_op_branch counts
  kControl,        // other control flow
  kBarrier,        // of the block
  kMbarrier,
  kMisc,      // moves, reads of special registers, waits for copies
  kGridWait,  // griddepcontrol.wait; like the hardware, counts no thread as predicated on
};
inline constexpr int kOperations = static_cast<int>(Operation::kGridWait) + 1;

// The state space that the instruction names. For generic accesses the memory counts (SiteCount)
// still distinguish global, shared and local memory.
enum class Space : std::uint8_t { kNone, kGlobal, kShared, kLocal, kGeneric, kConstant };
inline constexpr int kSpaces = static_cast<int>(Space::kConstant) + 1;

struct Class {
  Operation operation = Operation::kOther;
  Space space = Space::kNone;
  std::uint8_t bytes = 0;  // memory: bytes per lane
};

// Counts of a memory instruction. Executions without an active lane are not counted. A byte counts
// once per request, even if several lanes access it.
struct SiteCount {
  std::uint64_t global_requests = 0, global_sectors = 0, global_bytes = 0;
  std::uint64_t shared_requests = 0, shared_wavefronts = 0, shared_bytes = 0;
  std::uint64_t local_requests = 0, local_sectors = 0;
  // Bulk copies: bytes of shared memory read or written (multicast: in every destination block),
  // destination blocks of loads, and loads with several destination blocks.
  std::uint64_t bulk_bytes = 0, bulk_deliveries = 0, bulk_multicasts = 0;
  // Executions of asynchronous copies of 16 bytes per lane in which two neighbouring lanes do not
  // copy one whole sector to one whole sector. The hardware moves sectors and may count such a
  // sector several times or not at all.
  std::uint64_t torn_copies = 0;
};

struct InstructionCount : SiteCount {
  std::uint64_t executions = 0;    // by a warp
  std::uint64_t active_lanes = 0;  // summed over executions, guard off included
  std::uint64_t lanes = 0;         // summed over executions, guard on
  // Lanes, included in `lanes`, that execute the instruction a second time. The counters of
  // classes count a thread once.
  std::uint64_t repeated_lanes = 0;
  std::uint64_t divergent = 0;  // branches: executions in which the lanes diverged
};

struct Instruction {
  Class what;
  InstructionCount count;
  std::string_view file;  // "" if unknown
  std::uint32_t line = 0;
  std::string_view text;                 // of the instruction; used for traces only
  std::uint32_t place = 0;               // PTX: line; machine code: offset
  const AccessSample* sample = nullptr;  // memory instructions in traced launches
};

enum class Engine : std::uint8_t { kPtx, kSass };

// Reasons why counts are not exact, as a bit set.
using Doubts = std::uint32_t;
inline constexpr Doubts kNever = 0;
// PTX: ptxas expands divisions, roots and the like into sequences that contain arithmetic of this
// precision, and it may fuse products and sums without a rounding modifier.
inline constexpr Doubts kSinglePrecision = 1, kDoublePrecision = 2;
// PTX: ptxas chooses the widths of the accesses that move a wmma fragment.
inline constexpr Doubts kFragments = 4;
// Threads wait for each other: kPolls by loads or atomics, kWaits by any means. The number of
// repetitions depends on timing.
inline constexpr Doubts kPolls = 8, kWaits = 64;
inline constexpr Doubts kTornCopies = 16;  // SiteCount::torn_copies
// Machine code: the class of an instruction was not measured.
inline constexpr Doubts kUnclassified = 32;
// Machine code: a compare-and-swap loop failed and was repeated.
inline constexpr Doubts kRetries = 128;
// printf, malloc or free: the driver's code for them is not executed here.
inline constexpr Doubts kCalledDriver = 256;
// Machine code: the lanes of one call returned separately or to different addresses, or a BRX
// diverged to more than two targets.
inline constexpr Doubts kParted = 512;
inline constexpr Doubts kAlways = ~Doubts{0};

const char* to_string(Operation operation);  // "load", "ffma", ...

// Fills exact, estimates, lane_instructions and, if config requests them, lines and instructions.
void report(Engine engine, std::span<const Instruction> instructions, Doubts doubts,
            const LaunchConfig& config, LaunchReport& into);

}  // namespace vgpu::count
