// SPDX-License-Identifier: Apache-2.0
// What both engines say of every instruction of a kernel when a launch is over: what it is, how
// often it ran, where it comes from. report() turns that into Nsight Compute's metrics
// (metrics.hpp), for the launch and by source line.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/engine.hpp"

namespace vgpu::count {

// Classes as Nsight Compute's metrics tell them apart.
enum class Operation : std::uint8_t {
  kOther,
  kFadd,  // single precision; kFloat: what is none of the three (comparisons, minima...)
  kFmul,
  kFfma,
  kFloat,
  kHalf,        // 16-bit floating point
  kHalfTensor,  // ... that runs on the tensor cores' pipe
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
  kAtomic,      // whose old value is used
  kReduction,   // whose is not
  kAsyncGroup,  // of such copies closed
  kAsyncCopy,   // a thread's copy from global to shared memory: cp.async, LDGSTS
  kMatrixLoad,
  kMatrixStore,
  kBulkLoad,  // by the copy engine: cp.async.bulk, TMA
  kBulkStore,
  kMemoryControl,  // fences, caches, questions about addresses
  kBranch,         // what smsp__inst_executed_op_branch counts
  kControl,        // other control flow
  kBarrier,        // of the block
  kMbarrier,
  kMisc,      // moves, reads of special registers, waits for copies
  kGridWait,  // griddepcontrol.wait: no thread's guard is on, as the hardware's counter has it
};
inline constexpr int kOperations = static_cast<int>(Operation::kGridWait) + 1;

// As the instruction names it; a generic access's memory counts still say what was touched.
enum class Space : std::uint8_t { kNone, kGlobal, kShared, kLocal, kGeneric, kConstant };
inline constexpr int kSpaces = static_cast<int>(Space::kConstant) + 1;

struct Class {
  Operation operation = Operation::kOther;
  Space space = Space::kNone;
  std::uint8_t bytes = 0;  // memory: of a lane
};

// Of a memory instruction; only accesses with a lane on. Bytes: each once a request, however many
// lanes touch it.
struct SiteCount {
  std::uint64_t global_requests = 0, global_sectors = 0, global_bytes = 0;
  std::uint64_t shared_requests = 0, shared_wavefronts = 0, shared_bytes = 0;
  std::uint64_t local_requests = 0, local_sectors = 0;
  // Bulk copies: bytes of shared memory that were written (in every block) or read, blocks that
  // loads went to, and loads for several blocks.
  std::uint64_t bulk_bytes = 0, bulk_deliveries = 0, bulk_multicasts = 0;
  // Asynchronous copies of 16 bytes a lane that are not of whole sectors to whole sectors, two
  // neighbouring lanes each: the hardware moves sectors, and looks at such ones several times or
  // not at all.
  std::uint64_t torn_copies = 0;
};

struct InstructionCount : SiteCount {
  std::uint64_t executions = 0;    // by a warp
  std::uint64_t active_lanes = 0;  // summed over executions, guard off included
  std::uint64_t lanes = 0;         // ... guard on
  // ... that came through a second time; the counters of classes see a thread once.
  std::uint64_t repeated_lanes = 0;
  std::uint64_t divergent = 0;  // branches: executions whose lanes went two ways
};

struct Instruction {
  Class what;
  InstructionCount count;
  std::string_view file;  // "" where unknown
  std::uint32_t line = 0;
  std::string_view text;                 // of the instruction; read only where a trace is asked for
  std::uint32_t place = 0;               // line of the PTX; offset of the machine code
  const AccessSample* sample = nullptr;  // of a memory instruction, where a trace is asked for
};

enum class Engine : std::uint8_t { kPtx, kSass };

// What makes counts uncertain: bits of a set.
using Doubts = std::uint32_t;
inline constexpr Doubts kNever = 0;
// Of PTX: divisions, roots and the like become sequences with such instructions of their own, and
// products and sums without a rounding modifier may be fused.
inline constexpr Doubts kSinglePrecision = 1, kDoublePrecision = 2;
inline constexpr Doubts kFragments =
    4;  // of PTX, moved by wmma: in which pieces is the assembler's choice
// Threads wait for each other: by loading or by atomics, by any means. How often they ask depends
// on time.
inline constexpr Doubts kPolls = 8, kWaits = 64;
inline constexpr Doubts kTornCopies = 16;  // SiteCount::torn_copies
inline constexpr Doubts kUnclassified =
    32;  // of machine code: instructions whose class was not measured
inline constexpr Doubts kRetries =
    128;  // of machine code: atomic operations by loops, in each other's way
inline constexpr Doubts kCalledDriver =
    256;  // printf, malloc or free: the driver's code that does this is not executed here
inline constexpr Doubts kParted =
    512;  // of machine code: lanes of one call returned apart, or to several places
inline constexpr Doubts kAlways = ~Doubts{0};

const char* to_string(Operation operation);  // "load", "ffma", ...

// Fills exact, estimates, lane_instructions and, where config asks for them, lines and
// instructions.
void report(Engine engine, std::span<const Instruction> instructions, Doubts doubts,
            const LaunchConfig& config, LaunchReport& into);

}  // namespace vgpu::count
