// SPDX-License-Identifier: Apache-2.0
// What is known of each instruction of a kernel after a launch: its class, its counts and its
// source line. report() computes Nsight Compute's metrics from them (metrics.hpp), per launch and
// per source line.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "count/tensor.hpp"
#include "ir/counter_class.hpp"
#include "observer/counters.hpp"

namespace vgpu::count {

using ir::Class;
using ir::Space;
using Operation = ir::Counted;
inline constexpr int kOperations = ir::kCounted;
using ir::kSpaces;

struct InstructionCount : observer::SiteCount {
  std::uint64_t executions = 0;    // by a warp
  std::uint64_t active_lanes = 0;  // summed over executions, guard off included
  std::uint64_t lanes = 0;         // summed over executions, guard on
  // Lanes, included in `lanes`, that execute the instruction a second time. The counters of
  // classes count a thread once.
  std::uint64_t repeated_lanes = 0;
  // Lanes, included in `lanes`, that only the counters of classes count (Repetition::refused).
  std::uint64_t refused_lanes = 0;
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
  TensorWork tensor;
  // It may execute in either half of the FMA pipe, and is taken for one of the lighter half.
  bool lighter = false;
};

// Reasons why counts are not exact, as a bit set.
using Doubts = std::uint64_t;
inline constexpr Doubts kNever = 0;
// PTX: ptxas expands divisions, roots and the like into sequences that contain arithmetic of this
// precision, and it may fuse products and sums without a rounding modifier.
inline constexpr Doubts kSinglePrecision = 1u << 0, kDoublePrecision = 1u << 1;
// PTX: ptxas chooses the widths of the accesses that move a wmma fragment.
inline constexpr Doubts kFragments = 1u << 2;
// Threads wait for each other: kPolls by loads or atomics, kWaits by any means. The number of
// repetitions depends on timing.
inline constexpr Doubts kPolls = 1u << 3, kWaits = 1u << 6;
inline constexpr Doubts kTornCopies = 1u << 4;  // observer::SiteCount::torn_copies
// Machine code: the class of an instruction was not measured.
inline constexpr Doubts kUnclassified = 1u << 5;
// Machine code: a compare-and-swap loop failed and was repeated, or may be on hardware
// (observer::Exchanges).
inline constexpr Doubts kRetries = 1u << 7;
// printf, malloc or free: the driver's code for them is not executed here.
inline constexpr Doubts kCalledDriver = 1u << 8;
// Machine code: the lanes of one call returned separately or to different addresses, or a BRX
// diverged to more than two targets.
inline constexpr Doubts kParted = 1u << 9;
// PTX: loads that ptxas merges or moves behind branches, or of which it loads only the elements
// that are used.
inline constexpr Doubts kLooseLoads = 1u << 10;
// Machine code: threads wait for each other by generic loads, which count as shared ones, too.
inline constexpr Doubts kGenericPolls = 1u << 11;
// observer::SiteCount::uneven_boxes
inline constexpr Doubts kUnevenBoxes = 1u << 12;
// Machine code: observer::Counters::broke.
inline constexpr Doubts kBroke = 1u << 13;
// PTX: some lanes of a warp stored (loaded) in a kernel whose lanes diverged in a loop. In PTX they
// reconverge where their paths join; in machine code they need not.
inline constexpr Doubts kStoresApart = 1u << 14, kLoadsApart = 1u << 22;
// Machine code: single-precision arithmetic was executed. Each such instruction goes to the half of
// the FMA pipe that is free.
inline constexpr Doubts kEitherHalf = 1u << 15;
// Machine code: wgmma with A in registers.
inline constexpr Doubts kProductsOfRegisters = 1u << 16;
inline constexpr Doubts kRemoteApart = 1u << 17;   // observer::SiteCount::remote_apart
inline constexpr Doubts kUnevenStores = 1u << 18;  // SiteCount::uneven_boxes of stores
// Machine code: the pipe of an instruction was not measured.
inline constexpr Doubts kUnknownPipe = 1u << 19;
// Threads waited for the preceding grid (griddepcontrol.wait, ACQBULK). Hardware counts them as
// predicated on in some launches and blocks, in others not.
inline constexpr Doubts kGridWaits = 1u << 20;
// The device's architecture was not measured: what follows from rules that were found on sm_90.
inline constexpr Doubts kOtherArchitecture = 1u << 21;
// PTX: ptxas may have moved instructions of the class behind branches (ir::Sinkable). From here on:
// kFadd, kFmul, kFfma, then kDadd, kDmul, kDfma.
inline constexpr Doubts kSunkSingle = 1u << 23, kSunkDouble = 1u << 26;
constexpr Doubts sunk(Operation operation) {
  return operation <= Operation::kFfma
             ? kSunkSingle << (static_cast<int>(operation) - static_cast<int>(Operation::kFadd))
             : kSunkDouble << (static_cast<int>(operation) - static_cast<int>(Operation::kDadd));
}
inline constexpr Doubts kScatteredAtomics = 1u << 29;  // Counters::scattered_atomics
// What the kernel does may depend on the order of its warps: LaunchReport::raced, or (machine code)
// the results of atomics decide branches.
inline constexpr Doubts kOrderOfWarps = 1u << 30;
// Machine code: the results of atomics decide addresses.
inline constexpr Doubts kDecidedAddresses = Doubts{1} << 31;
// Machine code: polled values are operands of arithmetic. How often it executes may depend on them.
inline constexpr Doubts kPolledArithmetic = Doubts{1} << 32;
inline constexpr Doubts kAlways = ~Doubts{0};

// Whether an instruction goes to the half of the FMA pipe that is free.
constexpr bool is_for_either_half(const Class& what) { return what.pipes == ir::kPipeFma; }

// The program's instructions in order. The texts are valid as long as the program.
std::vector<Instruction> instructions(const ir::Program& program,
                                      const observer::Counters& counters);
Doubts doubts(const ir::Program& program, const observer::Counters& counters);

const char* to_string(Operation operation);  // "load", "ffma", ...

}  // namespace vgpu::count
