// SPDX-License-Identifier: Apache-2.0
// Reads of memory that was never written, and words of global memory that two blocks touch with
// nothing to order them. A block's view: where the marks of device memory lie, and the marks of its
// own shared memory. The paths that every access takes are compiled for each instruction set
// (execute/isa/watch.cpp); what finds and words a fault is here.
//
// Semantics. A load is at fault where a byte of it was never written, whether or not the value is
// used, as compute-sanitizer's initcheck has it for global memory (Compute Sanitizer manual,
// "Initcheck Tool"); copies between host and device carry the marks along and are never at fault.
// Loads of shared memory that the block did not write are noted, and judged when the kernel has
// ended (unwritten.hpp). Local memory is at fault only where no byte of an element was written:
// compilers copy structures with their padding.
//
// Two blocks conflict where both touch one word by plain accesses of 4 bytes or more and one
// writes: blocks of a grid have no order. Once a block has read by an atomic or a strong (volatile,
// relaxed, acquire) load, it may know what other blocks did, and its own accesses are no longer
// judged.
#pragma once
#include <vector>

#include "engine/execute/machine.hpp"
#include "engine/memory/shadow.hpp"

namespace vgpu::check {

using execute::u32;
using execute::u64;
using execute::u8;

// The marks of global memory for one launch.
struct LaunchMarks {
  u64 begin = 0, bytes = 0;  // of the memory that has marks
  u8* written = nullptr;     // null: not checked
  u32* touched = nullptr;    // null: not checked
  u32 first = 0;             // stands for "several blocks"; block n has first + 1 + n
};
LaunchMarks launch_marks(Memory& memory, const LaunchConfig& config);

class Watch {
 public:
  Watch(const LaunchMarks& marks, u32 shared_begin, u64 shared_bytes, bool check_init);
  void start_block(u64 linear);

  LaunchMarks global;
  u32 mark = 0;               // the block's
  bool synchronised = false;  // it may know what other blocks did
  // By word of shared memory: bits of the bytes written. Null: not checked.
  u32* shared_written = nullptr;
  u32 shared_begin = 0;
  u32 shared_unwritten = 0;  // words that lack a byte; 0 makes the check free
  u32 shared_words = 0;

 private:
  std::vector<u32> shared_;
};

// One lane's plain access to a word that another block may have touched: sets the mark, or throws
// Fault (kRace).
void touch_word(execute::Warp& warp, const execute::Insn& insn, u32 lane, u64 address,
                bool is_write);

// The lane reads bytes that may not be written. Throws Fault (kUninitialized) unless the allocation
// counts as written.
void report_global(const execute::Warp& warp, const execute::Insn& insn, u32 lane, u64 address,
                   u32 bytes);
// Notes it.
void note_shared(const execute::Warp& warp, const execute::Insn& insn, u32 lane, u32 offset,
                 u32 bytes);
[[noreturn]] void report_local(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
                               u64 offset, u32 bytes);

}  // namespace vgpu::check
