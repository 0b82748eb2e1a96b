// SPDX-License-Identifier: Apache-2.0
// Detects reads of memory that was never written, and conflicting accesses of two blocks to one
// word of global memory. A Watch holds one block's pointers to the marks of global memory and the
// marks of its own shared memory. The fast path of every access is compiled per host instruction
// set (execute/isa/watch.cpp); the functions here handle the rare cases and report faults.
//
// Unwritten memory. A load of global memory faults if any of its bytes was never written, whether
// or not the value is used. compute-sanitizer's initcheck has the same rule (Compute Sanitizer
// manual, "Initcheck Tool"). Copies between host and device copy the marks and never fault. Loads
// of shared memory that the block did not write are recorded and evaluated after the kernel
// (unwritten.hpp). A load of local memory faults only if no byte of an element was written, because
// compilers copy structures together with their padding.
//
// Conflicts. The blocks of a grid are not ordered, so two blocks conflict if both access one word
// with plain accesses of at least 4 bytes and at least one of them writes. A block that has read
// memory with an atomic or a strong load (volatile, relaxed, acquire) may be synchronised with
// other blocks, so its later accesses are not checked.
#pragma once
#include <vector>

#include "machine/machine.hpp"
#include "memory/shadow.hpp"

namespace vgpu::check {

using ir::u32;
using ir::u64;
using ir::u8;

// The marks of global memory for one launch.
struct LaunchMarks {
  u64 begin = 0, bytes = 0;  // range of the memory that has marks
  u8* written = nullptr;     // null: not checked
  u32* touched = nullptr;    // null: not checked
  u32 first = 0;             // the mark for "several blocks"; block n has the mark first + 1 + n
};
LaunchMarks launch_marks(Memory& memory, const LaunchConfig& config);

class Watch {
 public:
  Watch(const LaunchMarks& marks, u32 shared_begin, u64 shared_bytes, bool check_init);
  void start_block(u64 linear);

  LaunchMarks global;
  u32 mark = 0;               // the block's mark in LaunchMarks::touched
  bool synchronised = false;  // the block may be ordered after accesses of other blocks
  // Indexed by word of shared memory: a mask of the bytes written. Null: not checked.
  u32* shared_written = nullptr;
  u32 shared_begin = 0;
  u32 shared_unwritten = 0;  // words with unwritten bytes; if 0, the check is skipped
  u32 shared_words = 0;

 private:
  std::vector<u32> shared_;
};

// One lane's plain access to a word that another block may have touched: sets the mark, or throws
// Fault (kRace).
void touch_word(machine::Warp& warp, const ir::Insn& insn, u32 lane, u64 address, bool is_write);

// The lane reads bytes of which some may be unwritten. Throws Fault (kUninitialized) if they are,
// unless the whole allocation counts as written.
void report_global(const machine::Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                   u32 bytes);
// Records the read of unwritten shared memory (UnwrittenReads).
void note_shared(const machine::Warp& warp, const ir::Insn& insn, u32 lane, u32 offset, u32 bytes);
[[noreturn]] void report_local(const machine::Warp& warp, const ir::Insn& insn, u32 lane,
                               u64 offset, u32 bytes);

}  // namespace vgpu::check
