// SPDX-License-Identifier: Apache-2.0
#include "check/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/unwritten.hpp"
#include "machine/fault.hpp"

namespace vgpu::check {
namespace {

Dim3 block_index(const LaunchConfig& config, u64 linear) {
  const Dim3& grid = config.grid;
  return {static_cast<u32>(linear % grid.x), static_cast<u32>(linear / grid.x % grid.y),
          static_cast<u32>(linear / grid.x / grid.y)};
}

[[noreturn]] void report_conflict(const machine::Warp& warp, const ir::Insn& insn, u32 lane,
                                  u64 address, u32 other, bool other_writes, bool writes) {
  const Watch& watch = *warp.watch;
  std::string who = "several blocks";
  if (other != watch.global.first) {
    const Dim3 index = block_index(warp.block->launch.config, other - watch.global.first - 1);
    who = fmt::format("block ({}, {}, {})", index.x, index.y, index.z);
  }
  const bool several = other == watch.global.first;
  const char* const did =
      other_writes ? (several ? "write" : "writes") : (several ? "read" : "reads");
  machine::fault(
      {warp, insn, lane}, FaultKind::kRace,
      fmt::format("{} {} and this block {} one word of global memory, and blocks have no order",
                  who, did, writes ? "writes" : "reads"),
      fmt::format("address 0x{:x}: {}", address, warp.block->launch.memory.describe(address)));
}

}  // namespace

LaunchMarks launch_marks(Memory& memory, const LaunchConfig& config) {
  LaunchMarks marks;
  Shadow* const shadow = memory.shadow();
  if (shadow == nullptr) return marks;
  marks.begin = shadow->begin();
  marks.bytes = shadow->bytes();
  if (config.check_init) marks.written = shadow->written();
  if (config.check_race && config.grid.count() > 1) {
    marks.first = shadow->new_marks(config.grid.count() + 1);
    if (marks.first != 0) marks.touched = shadow->touched();
  }
  return marks;
}

Watch::Watch(const LaunchMarks& marks, u32 begin, u64 shared_bytes, bool check_init)
    : global(marks), shared_begin(begin) {
  if (!check_init || shared_bytes == 0) return;
  shared_.resize((shared_bytes + 3) / 4);
  shared_written = shared_.data();
  shared_words = static_cast<u32>(shared_.size());
}

void Watch::start_block(u64 linear) {
  mark = global.first + 1 + static_cast<u32>(linear);
  synchronised = false;
  std::fill(shared_.begin(), shared_.end(), 0);
  shared_unwritten = shared_words;
}

void touch_word(machine::Warp& warp, const ir::Insn& insn, u32 lane, u64 address, bool is_write) {
  const Watch& watch = *warp.watch;
  const LaunchMarks& marks = watch.global;
  u32* const entry = marks.touched + (address - marks.begin) / 4;
  const u32 mine = watch.mark;
  u32 old = __atomic_load_n(entry, __ATOMIC_RELAXED);
  for (;;) {
    const u32 mark = old & Shadow::kMarkBits, how = old & ~Shadow::kMarkBits;
    const bool touched = mark >= marks.first;  // ignore marks of earlier launches
    const bool written = touched && how == Shadow::kWritten;
    if (!watch.synchronised && touched && mark != mine && (written || is_write)) {
      report_conflict(warp, insn, lane, address, mark, written, is_write);
    }
    u32 next = old;
    if (is_write) {
      next = Shadow::kWritten | mine;
    } else if (!touched) {
      next = Shadow::kReadByOne | mine;
    } else if (!written && mark != mine) {
      next = Shadow::kReadBySeveral | marks.first;
    }
    if (next == old ||
        __atomic_compare_exchange_n(entry, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return;
  }
}

void report_global(const machine::Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                   u32 bytes) {
  const machine::Launch& launch = warp.block->launch;
  const Allocation* const allocation = launch.map->find(address);
  if (allocation != nullptr && allocation->written) return;
  const Shadow& shadow = *launch.memory.shadow();
  u64 first = address;
  while (first != address + bytes && shadow.is_written(first, 1)) ++first;
  if (first == address + bytes) return;  // another block has written them since
  const bool any_half = shadow.is_written(address, 2) || shadow.is_written(address + 2, 2);
  if ((insn.flags & ir::kFlagHalf) != 0 && any_half) return;
  std::string where = fmt::format("address 0x{:x}: {}", first, launch.memory.describe(first));
  if (const auto doubt =
          launch.memory.doubt_in(reinterpret_cast<const void*>(first), 1)) {  // NOLINT
    machine::fault(
        {warp, insn, lane}, FaultKind::kUninitialized,
        fmt::format(
            "read of {} bytes of global memory that hold what came of unwritten shared memory",
            bytes),
        where + "\n" + doubt->why->what());
  }
  machine::fault({warp, insn, lane}, FaultKind::kUninitialized,
                 fmt::format("read of {} bytes of global memory that was never written", bytes),
                 where);
}

void note_shared(const machine::Warp& warp, const ir::Insn& insn, u32 lane, u32 offset, u32 bytes) {
  if ((insn.flags & ir::kFlagHalf) != 0) {
    constexpr u32 kLower = 3, kUpper = 12;
    const u32 written = warp.watch->shared_written[(offset - warp.watch->shared_begin) / 4];
    if ((written & kLower) == kLower || (written & kUpper) == kUpper) return;
  }
  warp.block->launch.unwritten->note(warp, insn, lane, offset, bytes);
}

void report_local(const machine::Warp& warp, const ir::Insn& insn, u32 lane, u64 offset,
                  u32 bytes) {
  machine::fault(
      {warp, insn, lane}, FaultKind::kUninitialized,
      fmt::format("read of {} bytes of local memory that the thread never wrote", bytes),
      fmt::format("local address 0x{:x} of the thread's {} bytes", offset, warp.local_bytes));
}

}  // namespace vgpu::check
