// SPDX-License-Identifier: Apache-2.0
// The interface through which the machine tells checks which memory a block reads and writes. The
// fast path of every access (machine/isa/watch.cpp) works on the marks themselves; the functions
// handle the rare cases and report faults.
#pragma once
#include <cstddef>
#include <vector>

#include "observer/fault.hpp"

namespace vgpu::observer {

// The marks of global memory for one launch.
struct LaunchMarks {
  u64 begin = 0, bytes = 0;                 // range of the memory that has marks
  u8* written = nullptr;                    // null: not checked
  u32 *touched = nullptr, *rows = nullptr;  // null: not checked
  // The mark for "several blocks". Moment m (Races::moments) of cluster n has the mark
  // first + 1 + n * moments + m.
  u32 first = 0;
  u32 moments = 1;  // per cluster
  u32 epochs = 0;   // per cluster, of which each has a moment for every warp of the cluster
};

// What shared and local memory hold before a block writes to them.
struct UnwrittenFill {
  static constexpr u8 kUsual = 0xcd;
  u8 byte = kUsual;
  // The words of shared memory that hold `byte`; the others hold kUsual. Null: all words hold
  // `byte`.
  const std::vector<bool>* words = nullptr;
  bool in_local = true;  // whether local memory holds `byte`, too, or kUsual
  void apply(std::byte* shared, std::size_t bytes) const;
  std::byte local() const { return std::byte{in_local ? byte : kUsual}; }
};

// How a warp marks global memory, until the order of its cluster's warps changes.
struct WarpMarks {
  u64 changes = 0;  // Races::changes
  // What Shadow::touched holds after its accesses.
  u32 mine = 0, written = 0, storing = 0, read = 0, several = 0;
  u32 first = 0;            // the launch's first mark
  u32 base = 0, count = 0;  // the cluster's marks
  u32 seen = 0;             // the first `seen` of these are ordered before the warp
  u32 recent = 0;           // from this one on, marks of reads stay
  u32 me = 0, warps = 0;    // the warp's index in the cluster
};

// One block's pointers to the marks of global memory, and the marks of its own shared memory.
class Watch {
 public:
  explicit Watch(const LaunchMarks& marks) : global(marks) {}
  virtual ~Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  virtual void start_block(u64 linear) = 0;
  // One lane's plain access to a word that another warp may have touched: sets the mark `mine`, or
  // throws Fault (kRace). `stored`: what a store writes there, which it then does; null where that
  // is not known.
  virtual void touch_word(const Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                          bool is_write, u32 mine, const u32* stored) = 0;
  // The lane reads bytes of which some may be unwritten. Throws Fault (kUninitialized) if they are,
  // unless the whole allocation counts as written.
  virtual void report_global(const Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                             u32 bytes) = 0;
  // Records the read of unwritten shared or local memory.
  virtual void note_shared(const Warp& warp, const ir::Insn& insn, u32 lane, u32 offset,
                           u32 bytes) = 0;
  virtual void note_local(const Warp& warp, const ir::Insn& insn, u32 lane, u64 offset,
                          u32 bytes) = 0;

  LaunchMarks global;
  u32 mark = 0;   // the cluster's first mark in LaunchMarks::touched
  u32 warps = 1;  // of a cluster
  std::vector<WarpMarks> warp_marks;
  bool synchronised = false;  // the block may be ordered after accesses of other blocks
  // Indexed by word of shared memory: a mask of the bytes written. Null: not checked.
  u32* shared_written = nullptr;
  u32 shared_begin = 0;
  u32 shared_unwritten = 0;  // words with unwritten bytes; if 0, the check is skipped
  u32 shared_words = 0;
};

}  // namespace vgpu::observer
