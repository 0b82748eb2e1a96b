// SPDX-License-Identifier: Apache-2.0
// Detects kernels whose results depend on shared memory that the block did not write, or on local
// memory that the thread did not write. Reading such memory is no fault in itself: a pipeline may
// prefetch beyond its last stage, a tile at a ragged edge may multiply rows whose products are not
// stored, and a compiler may load what only one branch uses. The check therefore records these
// reads and, if there are any, executes the kernel again, once per fill pattern for the unwritten
// memory. If device memory, printed output and faults are the same every time, nothing depends on
// the unwritten values. A difference proves a dependence, whether the value passed through
// registers, tensor cores, memory, a branch or an address. If only bytes of device memory differ,
// they can be marked as in doubt (Memory::doubt), and the fault is reported when they are read:
// they may be padding in a workspace that is never used.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "memory/image.hpp"
#include "observer/watch.hpp"

namespace vgpu::check {

// The reads of unwritten shared and local memory in one launch. Thread-safe.
class UnwrittenReads {
 public:
  // Records that the lane reads `bytes` bytes at an address, some of them unwritten.
  void note_shared(const observer::Warp& warp, const ir::Insn& insn, ir::u32 lane, ir::u32 offset,
                   ir::u32 bytes);
  void note_local(const observer::Warp& warp, const ir::Insn& insn, ir::u32 lane, ir::u64 offset,
                  ir::u32 bytes);
  bool any() const { return !sites_.empty(); }

  struct Site {  // an instruction that reads unwritten memory
    ir::u64 block = 0;
    ir::u32 pc = 0;
    Fault fault{FaultKind::kUninitialized, ""};  // in the block with the lowest index
    std::vector<bool> words;                     // of shared memory, that it reads in any block
    bool local = false;                          // it reads local memory
  };
  // Sorted by block, then by instruction, so that the order does not depend on host threads.
  std::vector<const Site*> sites() const;
  std::string first() const { return sites().front()->fault.what(); }

 private:
  // `describe` returns the fault that reports the read.
  template <class Describe>
  Site& site_of(const observer::Warp& warp, const ir::Insn& insn, Describe describe);

  std::mutex mutex_;
  std::map<ir::u32, Site> sites_;  // by instruction
};

// How a run of the kernel ended.
struct Ending {
  std::string fault;  // "" if the kernel completed
  std::string output;
};

// Returns a Fault (kUninitialized) if the kernel's effect depends on the values that `reads`
// records. With `defer`, differences in device memory alone are none, provided that Memory can mark
// all those bytes as in doubt. `before` is memory before the first run, `first` its ending; `run`
// executes the kernel again with the given fill. Restores memory to its state after the first run.
std::optional<Fault> effect_of(const UnwrittenReads& reads, Memory& memory,
                               const MemoryImage& before, const Ending& first, bool defer,
                               const std::function<Ending(const observer::UnwrittenFill&)>& run);

}  // namespace vgpu::check
