// SPDX-License-Identifier: Apache-2.0
#include "check/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/unwritten.hpp"
#include "memory/shadow.hpp"
#include "observer/findings.hpp"

namespace vgpu::check {
void BlockWatch::report_conflict(const observer::Lane& at, u64 address, u32 other,
                                 bool other_writes, bool writes) const {
  observer::find(at, FaultKind::kRace, ir::kNone, [&]() -> observer::Description {
    std::string who = "several blocks";
    const bool several = other == global.first;
    if (!several) {
      const u64 linear = other - global.first - 1;
      who = fmt::format("block ({}, {}, {})", linear % grid_.x, linear / grid_.x % grid_.y,
                        linear / grid_.x / grid_.y);
    }
    const char* const did =
        other_writes ? (several ? "write" : "writes") : (several ? "read" : "reads");
    return {
        fmt::format("{} {} and this block {} one word of global memory, and blocks have no order",
                    who, did, writes ? "writes" : "reads"),
        fmt::format("address 0x{:x}: {}", address, memory_.describe(address))};
  });
}

observer::LaunchMarks launch_marks(const Memory& memory, const LaunchConfig& config) {
  observer::LaunchMarks marks;
  Shadow* const shadow = memory.shadow();
  if (shadow == nullptr) return marks;
  marks.begin = shadow->begin();
  marks.bytes = shadow->bytes();
  if (config.check_init) marks.written = shadow->written();
  if (config.check_race && config.grid.count() > 1) {
    marks.first = shadow->new_marks(config.grid.count() + 1);
    if (marks.first != 0) {
      marks.touched = shadow->touched();
      marks.rows = shadow->rows();
    }
  }
  return marks;
}

BlockWatch::BlockWatch(const observer::LaunchMarks& marks, const Memory& memory, const Dim3& grid,
                       UnwrittenReads& unwritten, u32 begin, u64 shared_bytes)
    : Watch(marks), memory_(memory), grid_(grid), unwritten_(unwritten) {
  shared_begin = begin;
  if (shared_bytes == 0) return;
  shared_.resize((shared_bytes + 3) / 4);
  shared_written = shared_.data();
  shared_words = static_cast<u32>(shared_.size());
}

void BlockWatch::start_block(u64 linear) {
  mark = global.first + 1 + static_cast<u32>(linear);
  synchronised = false;
  known_begin_ = known_end_ = 0;
  std::fill(shared_.begin(), shared_.end(), 0);
  shared_unwritten = shared_words;
}

void BlockWatch::touch_word(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                            bool is_write, const u32* stored) {
  const observer::LaunchMarks& marks = global;
  u32* const entry = marks.touched + (address - marks.begin) / 4;
  const u64 row = (address - marks.begin) / 4 / Shadow::kRowWords;
  Shadow::part(marks.rows + row, marks.touched + row * Shadow::kRowWords, marks.first);
  u32* const word = reinterpret_cast<u32*>(address);  // NOLINT: device memory is host memory
  const u32 mine = mark;
  u32 old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
  for (;;) {
    const u32 toucher = old & Shadow::kMarkBits, how = old & ~Shadow::kMarkBits;
    if (how == Shadow::kStoring) {
      old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
      continue;
    }
    const bool touched = toucher >= marks.first;  // ignore marks of earlier launches
    const bool written = touched && how == Shadow::kWritten;
    const bool foreign = !synchronised && touched && toucher != mine;
    bool agrees = false;
    if (foreign && (written || is_write)) {
      const bool holds_it = stored != nullptr && __atomic_load_n(word, __ATOMIC_RELAXED) == *stored;
      agrees = written && (is_write ? holds_it : toucher == marks.first);
      if (!agrees) report_conflict({warp, insn, lane}, address, toucher, written, is_write);
    }
    u32 next = old;
    if (is_write) {
      next = Shadow::kWritten | (agrees ? marks.first : mine);
    } else if (!touched) {
      next = Shadow::kReadByOne | mine;
    } else if (!written && toucher != mine) {
      next = Shadow::kReadBySeveral | marks.first;
    }
    if (next == old) return;
    const u32 first = stored != nullptr ? Shadow::kStoring | mine : next;
    if (!__atomic_compare_exchange_n(entry, &old, first, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    if (first != next) {
      __atomic_store_n(word, *stored, __ATOMIC_RELAXED);
      __atomic_store_n(entry, next, __ATOMIC_RELEASE);
    }
    return;
  }
}

bool BlockWatch::counts_as_written(u64 address) {
  if (address >= known_begin_ && address < known_end_) return known_written_;
  const std::shared_ptr<const AllocationMap> now = memory_.map();
  const Allocation* const allocation = now->find(address);
  if (allocation == nullptr) return false;
  known_begin_ = allocation->begin;
  known_end_ = allocation->end;
  known_written_ = allocation->written;
  return known_written_;
}

void BlockWatch::report_global(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                               u64 address, u32 bytes) {
  if (counts_as_written(address)) return;
  const Shadow& shadow = *memory_.shadow();
  u64 first = address;
  while (first != address + bytes && shadow.is_written(first, 1)) ++first;
  if (first == address + bytes) return;  // another block has written them since
  const bool any_half = shadow.is_written(address, 2) || shadow.is_written(address + 2, 2);
  if ((insn.flags & ir::kFlagHalf) != 0 && any_half) return;
  const observer::Lane at{warp, insn, lane};
  observer::find(at, FaultKind::kUninitialized, ir::kNone, [&]() -> observer::Description {
    const std::string where = fmt::format("address 0x{:x}: {}", first, memory_.describe(first));
    if (const auto doubt = memory_.doubt_in(reinterpret_cast<const void*>(first), 1)) {  // NOLINT
      return {
          fmt::format(
              "read of {} bytes of global memory that hold what came of unwritten shared memory",
              bytes),
          where + "\n" + doubt->why->what()};
    }
    return {fmt::format("read of {} bytes of global memory that was never written", bytes), where};
  });
}

void BlockWatch::note_shared(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u32 offset,
                             u32 bytes) {
  if ((insn.flags & ir::kFlagHalf) != 0) {
    constexpr u32 kLower = 3, kUpper = 12;
    const u32 written = shared_written[(offset - shared_begin) / 4];
    if ((written & kLower) == kLower || (written & kUpper) == kUpper) return;
  }
  unwritten_.note_shared(warp, insn, lane, offset, bytes);
}

void BlockWatch::note_local(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u64 offset,
                            u32 bytes) {
  unwritten_.note_local(warp, insn, lane, offset, bytes);
}

}  // namespace vgpu::check
