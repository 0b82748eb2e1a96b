// SPDX-License-Identifier: Apache-2.0
// Classes of instructions that Nsight Compute's counters distinguish.
#pragma once
#include <cstdint>

namespace vgpu::ir {

// Classes that Nsight Compute's metrics distinguish.
enum class Counted : std::uint8_t {
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
  kTensorBit,
  kTensorDouble,
  kTensorWarpgroup,  // of 16-bit types and tf32
  kTensorWarpgroupByte,
  kTensorWarpgroupInteger,
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
  kBulkReduce,
  kBulkSend,    // to the shared memory of a block of the cluster
  kAsyncStore,  // of registers to such memory: st.async, STAS
  kTexture,     // fetches and queries
  kSurfaceLoad,
  kSurfaceStore,
  kSurfaceReduction,
  kMemoryControl,  // fences, cache control, address queries
  kBranch,         // what smsp__inst_executed_op_branch counts
  kControl,        // other control flow
  kBarrier,        // of the block
  kMbarrier,
  kMbarrierWait,  // a test of an mbarrier: test_wait, try_wait
  kMisc,          // moves, reads of special registers, waits for copies
  kGridWait,      // griddepcontrol.wait; like the hardware, counts no thread as predicated on
};
inline constexpr int kCounted = static_cast<int>(Counted::kGridWait) + 1;

// The state space that the instruction names. For generic accesses the memory counts (SiteCount)
// still distinguish global, shared and local memory.
enum class Space : std::uint8_t { kNone, kGlobal, kShared, kLocal, kGeneric, kConstant };
inline constexpr int kSpaces = static_cast<int>(Space::kConstant) + 1;

// Pipes of a multiprocessor, by Nsight Compute's names. An instruction may count for several.
// kPipeFma without a half: for either of them.
enum Pipe : std::uint16_t {
  kNoPipe = 0,
  kPipeAdu = 1,
  kPipeAlu = 2,
  kPipeCbu = 4,
  kPipeFma = 8,
  kPipeFmaHeavy = 16,
  kPipeFmaLite = 32,
  kPipeFp64 = 64,
  kPipeLsu = 128,
  kPipeTma = 256,
  kPipeUniform = 512,
  kPipeXu = 1024,
  kPipeTex = 2048,
};
using Pipes = std::uint16_t;  // bits of Pipe

// The pipes of most instructions of a class, as measured on an H200 and an H100.
constexpr Pipes pipes_of(Counted operation, Space space) {
  if (space == Space::kConstant) return kPipeAdu;
  switch (operation) {
    case Counted::kFadd:
    case Counted::kFmul:
    case Counted::kFfma:
      return kPipeFma;
    case Counted::kHalf:
      return kPipeFma | kPipeFmaHeavy | kPipeFmaLite;
    case Counted::kDadd:
    case Counted::kDmul:
    case Counted::kDfma:
    case Counted::kDouble:
      return kPipeFp64;
    case Counted::kFloat:
    case Counted::kInteger:
    case Counted::kBit:
      return kPipeAlu;
    case Counted::kConversion:
      return kPipeXu;
    case Counted::kExchange:
    case Counted::kLoad:
    case Counted::kStore:
    case Counted::kAtomic:
    case Counted::kReduction:
    case Counted::kAsyncGroup:
    case Counted::kAsyncCopy:
    case Counted::kMatrixLoad:
    case Counted::kMatrixStore:
    case Counted::kAsyncStore:
    case Counted::kMemoryControl:
      return kPipeLsu;
    case Counted::kBulkLoad:
    case Counted::kBulkStore:
    case Counted::kBulkReduce:
    case Counted::kBulkSend:
      return kPipeTma;
    case Counted::kTexture:
    case Counted::kSurfaceLoad:
    case Counted::kSurfaceStore:
    case Counted::kSurfaceReduction:
      return kPipeTex;
    case Counted::kBranch:
    case Counted::kControl:
      return kPipeCbu;
    case Counted::kBarrier:
    case Counted::kMbarrier:
    case Counted::kMbarrierWait:
      return kPipeAdu;
    default:
      return kNoPipe;
  }
}

struct Class {
  Counted operation = Counted::kOther;
  Space space = Space::kNone;
  std::uint8_t bytes = 0;  // memory: bytes per lane
  Pipes pipes = kNoPipe;
};

// Properties of an instruction that may make counts inexact.
enum Trait : std::uint16_t {
  kPollsMemory = 1,  // may wait for another thread's write
  kWaits = 2,        // repeats an unknown number of times
  kNotMeasured = 4,  // its class was not measured on hardware
  kCalls = 8,
  kReturns = 16,
  // PTX, which ptxas changes. Those of sums, products and expansion: for f32; for f64 the next bit.
  kMovesFragment = 32,
  kSelects = 64,  // between floating-point values
  kLooseSum = 128,
  kLooseProduct = 512,
  kExpands = 2048,    // into a sequence of arithmetic
  kLooseLoad = 8192,  // ptxas merges it with an earlier one, or drops elements that are not used
  kPipeNotMeasured = 16384,
};

}  // namespace vgpu::ir
