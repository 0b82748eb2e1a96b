// SPDX-License-Identifier: Apache-2.0
// Kinds of metrics: under which doubts they are exact, and how they are estimated.
#pragma once
#include <string_view>

#include "count/metrics.hpp"
#include "count/shares.hpp"

namespace vgpu::count::kinds {

using enum ir::Counted;
using namespace shares;

inline constexpr std::string_view kAssembler =
    "counted in PTX; the assembler merges, splits and unrolls";
inline constexpr std::string_view kLoops =
    "counted in PTX, which ptxas merges, splits and unrolls; or a waiting thread repeats them, how "
    "often depends on time; or the lanes of a call returned separately";
inline constexpr std::string_view kSpilled =
    "counted in PTX; which variables stay in registers is the assembler's choice";
inline constexpr std::string_view kFused =
    "counted in PTX, where products and sums may be fused or move behind branches, and divisions "
    "and roots become sequences; or polled values are operands, so that the count depends on time";
inline constexpr std::string_view kWidth =
    "wavefronts beyond one for each 4 bytes of a lane; the hardware adds arbitration with other "
    "traffic";
inline constexpr std::string_view kCarveOut =
    "with all the shared memory that a multiprocessor can have; the driver chooses how much of it "
    "a kernel needs";
inline constexpr std::string_view kClasses =
    "counted in PTX; or the lanes of a call returned apart; or instructions whose class was not "
    "measured";
inline constexpr std::string_view kCombined =
    "counted in PTX; the assembler may combine the lanes of an address first, and sends atomics "
    "whose result is not used as reductions";
inline constexpr std::string_view kAtomicSectors =
    "counted in PTX; or the results of atomics decide addresses; or as if each sector counted "
    "once: where lanes in several cache lines access several words of a sector, the hardware may "
    "count it twice";
inline constexpr std::string_view kTorn =
    "as if each sector were moved once; the hardware looks several times at 16-byte copies that "
    "are not of whole sectors to whole sectors";

inline constexpr std::string_view kPipes =
    "by the pipes of classes of instructions; or a waiting thread repeats them, how often depends "
    "on time";
inline constexpr std::string_view kHalves =
    "as if single-precision arithmetic went to the lighter half of the pipe, unless the "
    "instruction before it did; the hardware takes the half that is free";
inline constexpr std::string_view kConstants =
    "as if constants were always in their cache; the hardware counts misses, too";
inline constexpr std::string_view kRemote =
    "the data, 2 bytes for each lane of a load of 16 bytes, 8 of a narrower one, and 32 for each "
    "asynchronous store; measured where all lanes load 16 bytes in turn from one block, store or "
    "add words, or store 16 bytes asynchronously";
inline constexpr std::string_view kOperands =
    "what is in shared memory of A and B; not measured with A in registers";
inline constexpr std::string_view kSchedule =
    "as the order of warps and copies has it (--schedule); the hardware's depends on time, and "
    "Nsight Compute does not count it";

inline constexpr Section kInst = Section::kInstructions, kMem = Section::kMemory,
                         kShm = Section::kShared;
inline constexpr Section kLaunch = Section::kLaunch, kOcc = Section::kOccupancy;
inline constexpr Operations kAnyOp;
inline constexpr Operations kAnyGuarded = [] {
  Operations all;
  all.bits &= ~Operations{Operation::kGridWait}.bits;
  return all;
}();
inline constexpr Operations kProducts = {
    kTensorFloat,         kTensorInteger,         kTensorBit, kTensorDouble, kTensorWarpgroup,
    kTensorWarpgroupByte, kTensorWarpgroupInteger};
inline constexpr Operations kWarpgroupProducts = {kTensorWarpgroup, kTensorWarpgroupByte,
                                                  kTensorWarpgroupInteger};
inline constexpr Operations kBulkStores = {kBulkStore, kBulkReduce, kBulkSend};
inline constexpr Spaces kGlobal = {Space::kGlobal}, kShared = {Space::kShared},
                        kLocal = {Space::kLocal};

// A metric. `ptx`, `sass`: what makes its value an estimate, from PTX and from machine code.
constexpr Metric metric(Section section, std::string_view name, std::string_view unit,
                        std::string_view title, Share share, Operations operations, Spaces spaces,
                        Doubts ptx, Doubts sass, std::string_view method) {
  return {name, unit, section, title, share, operations, spaces, ptx, sass, method};
}

constexpr Metric of_launch(Section section, std::string_view name, std::string_view unit,
                           std::string_view title, std::string_view method = "") {
  const Doubts unless = method.empty() ? kNever : kAlways;
  return metric(section, name, unit, title, nullptr, {}, {}, unless, unless, method);
}

constexpr Metric exact(Section section, std::string_view name, std::string_view unit,
                       std::string_view title, Share share, Operations operations,
                       Spaces spaces = {}) {
  return metric(section, name, unit, title, share, operations, spaces, kNever, kNever, "");
}

// Metrics of loads. While a thread waits for another one, its number of loads depends on timing;
// and ptxas merges loads.
constexpr Metric of_loads(std::string_view name, std::string_view unit, std::string_view title,
                          Share share, Operations operations, Doubts also = kNever) {
  constexpr std::string_view kTime =
      "how often a thread looks at what it waits for depends on time; the results of atomics "
      "decide addresses; ptxas merges loads of one place, moves loads behind branches and drops "
      "unused elements; lanes that diverged in a loop may load separately";
  return metric(kMem, name, unit, title, share, operations, {},
                kPolls | kFragments | kLooseLoads | kLoadsApart | kOtherArchitecture | also,
                kPolls | kDecidedAddresses | also, also == kNever ? kTime : kTorn);
}

// What bulk loads bring to multiprocessors: whole boxes, also what lies outside the tensor.
constexpr Metric of_boxes(std::string_view name, std::string_view title, Share share) {
  return metric(
      kMem, name, "bytes", title, share, {Operation::kBulkLoad}, {},
      kUnevenBoxes | kOtherArchitecture, kUnevenBoxes | kOtherArchitecture,
      "as if rows of a box that begin within a sector took one more sector, and rows outside "
      "the tensor did not");
}

constexpr Metric of_stores(std::string_view name, std::string_view unit, std::string_view title,
                           Share share) {
  return metric(
      kMem, name, unit, title, share, {Operation::kStore}, {},
      kFragments | kStoresApart | kOtherArchitecture, kDecidedAddresses,
      "ptxas chooses in which pieces wmma moves a fragment; the results of atomics decide "
      "addresses; lanes that diverged in a loop may store separately");
}

// Exact from machine code only.
constexpr Metric from_sass(Section section, std::string_view name, std::string_view unit,
                           std::string_view title, Share share, Operations operations,
                           std::string_view method, Spaces spaces = {}, Doubts also = kNever) {
  return metric(section, name, unit, title, share, operations, spaces, kAlways, kRetries | also,
                method);
}

// Exact from machine code only, and only if no thread waits in a loop: the number of its iterations
// depends on timing.
constexpr Metric of_loops(std::string_view name, std::string_view unit, std::string_view title,
                          Share share, Operations operations, std::string_view method,
                          Doubts also = kNever) {
  return metric(kInst, name, unit, title, share, operations, {}, kAlways,
                kWaits | kParted | kBroke | kOtherArchitecture | also, method);
}

// Thread instructions of a class with their guard true; `also`: further doubts.
constexpr Metric of_class(std::string_view name, std::string_view title, Operations operations,
                          Doubts also = kWaits) {
  return metric(kInst, name, "inst", title, lanes_once, operations, {}, kAlways,
                kUnclassified | kRetries | kOtherArchitecture | also, kClasses);
}

// Executions in a pipe, where a waiting loop may use it.
constexpr Metric of_pipe(std::string_view name, std::string_view title, Share share,
                         Doubts also = kWaits | kParted | kBroke) {
  return metric(kInst, name, "inst", title, share, kAnyOp, {}, kAlways,
                kUnclassified | kUnknownPipe | kRetries | kOtherArchitecture | also,
                (also & kEitherHalf) != 0 ? kHalves : kPipes);
}

constexpr Metric of_tensor_path(std::string_view name, std::string_view title, Share share) {
  return metric(kInst, name, "ops", title, share, kProducts, {}, kAlways,
                kRetries | kOtherArchitecture, kAssembler);
}

// Products of warpgroups, which ptxas neither adds nor merges.
constexpr Metric of_warpgroups(Section section, std::string_view name, std::string_view unit,
                               std::string_view title, Share share, Doubts also = kNever) {
  return metric(section, name, unit, title, share, kWarpgroupProducts, {},
                kOtherArchitecture | also, kRetries | kOtherArchitecture | also,
                also == kNever ? kLoops : kOperands);
}

constexpr Metric arithmetic(Doubts from_ptx, std::string_view name, std::string_view title,
                            Operation operation) {
  return metric(kInst, name, "inst", title, lanes, {operation}, {},
                from_ptx | sunk(operation) | kOtherArchitecture, kRetries | kPolledArithmetic,
                kFused);
}

// What bulk stores write. Where a row begins does not matter with a tensor map.
constexpr Metric of_bulk_stores(std::string_view name, std::string_view title,
                                Operations operations) {
  return metric(kMem, name, "bytes", title, bulk_writes, operations, {}, kUnevenStores,
                kUnevenStores | kUnclassified,
                "whole sectors; not measured where a copy without tensor map begins within one");
}

constexpr Metric estimated(Section section, std::string_view name, std::string_view unit,
                           std::string_view title, Share share, Operations operations,
                           std::string_view method, Spaces spaces = {}) {
  return metric(section, name, unit, title, share, operations, spaces, kAlways, kAlways, method);
}

}  // namespace vgpu::count::kinds
