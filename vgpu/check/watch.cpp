// SPDX-License-Identifier: Apache-2.0
#include "check/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/unwritten.hpp"
#include "memory/shadow.hpp"
#include "observer/findings.hpp"

namespace vgpu::check {
namespace {

// Marks of a launch, unless its clusters alone need more.
constexpr u64 kMarks = u64{1} << 24;
constexpr u64 kMostEpochs = 1024;  // of a cluster

u32 warps_of(const LaunchConfig& config) {
  return static_cast<u32>((config.block.count() + ir::kLanes - 1) / ir::kLanes);
}

Dim3 grid_of_clusters(const LaunchConfig& config) {
  const Dim3 &grid = config.grid, &of = config.cluster;
  return {grid.x / of.x, grid.y / of.y, grid.z / of.z};
}

}  // namespace

void BlockWatch::report_conflict(const observer::Lane& at, u64 address, u32 other,
                                 bool other_writes, bool writes) const {
  observer::find(at, FaultKind::kRace, ir::kNone, [&]() -> observer::Description {
    const char *did = other_writes ? "writes" : "reads", *does = writes ? "writes" : "reads";
    const std::string where = fmt::format("address 0x{:x}: {}", address, memory_.describe(address));
    if (is_own(other)) {
      const u32 warp = (other - mark - 1) % warps, rank = warp / warps_of(config_);
      const std::string of =
          rank == at.warp.home->rank ? "" : fmt::format(" of the cluster's rank {}", rank);
      return {fmt::format("warp {}{} {} and warp {} {} one word of global memory, with no barrier "
                          "between",
                          warp % warps_of(config_), of, did, at.warp.id, does),
              where};
    }
    std::string who = "several blocks";
    if (other == global.first) {
      did = other_writes ? "write" : "read";
    } else {
      const u64 linear = (other - global.first - 1) / global.moments;
      const Dim3 grid = grid_of_clusters(config_);
      who = fmt::format("{} ({}, {}, {})", config_.cluster.count() > 1 ? "cluster" : "block",
                        linear % grid.x, linear / grid.x % grid.y, linear / grid.x / grid.y);
    }
    return {
        fmt::format("{} {} and this block {} one word of global memory, and blocks have no order",
                    who, did, does),
        where};
  });
}

observer::LaunchMarks launch_marks(const Memory& memory, const LaunchConfig& config) {
  observer::LaunchMarks marks;
  Shadow* const shadow = memory.shadow();
  if (shadow == nullptr) return marks;
  marks.begin = shadow->begin();
  marks.bytes = shadow->bytes();
  if (config.check_init) marks.written = shadow->written();
  const u64 clusters = grid_of_clusters(config).count();
  const u64 warps = warps_of(config) * config.cluster.count();
  if (config.check_race && clusters * warps > 1) {
    if (warps > 1)
      marks.epochs = static_cast<u32>(std::min(kMarks / (clusters * warps), kMostEpochs));
    marks.moments = static_cast<u32>(1 + marks.epochs * warps);
    marks.first = shadow->new_marks(clusters * marks.moments + 1);
    if (marks.first != 0) {
      marks.touched = shadow->touched();
      marks.rows = shadow->rows();
    }
  }
  return marks;
}

BlockWatch::BlockWatch(const observer::LaunchMarks& marks, const Memory& memory,
                       const LaunchConfig& config, const observer::Races* races,
                       UnwrittenReads& unwritten, u32 begin, u64 shared_bytes)
    : Watch(marks),
      memory_(memory),
      shadow_(memory.shadow()),
      config_(config),
      races_(races),
      unwritten_(unwritten) {
  warps = static_cast<u32>(warps_of(config) * config.cluster.count());
  shared_begin = begin;
  if (shared_bytes == 0) return;
  shared_.resize((shared_bytes + 3) / 4);
  shared_written = shared_.data();
  shared_words = static_cast<u32>(shared_.size());
}

void BlockWatch::start_block(u64 linear) {
  const Dim3 &grid = config_.grid, &of = config_.cluster, clusters = grid_of_clusters(config_);
  const u64 x = linear % grid.x / of.x, y = linear / grid.x % grid.y / of.y,
            z = linear / grid.x / grid.y / of.z;
  const u64 cluster = (z * clusters.y + y) * clusters.x + x;
  mark = global.first + 1 + static_cast<u32>(cluster * global.moments);
  warp_marks.assign(warps_of(config_), {});
  synchronised = false;
  known_begin_ = known_end_ = 0;
  std::ranges::fill(shared_, 0);
  shared_unwritten = shared_words;
}

void BlockWatch::touch_word(const observer::Warp& warp, const ir::Insn& insn, u32 lane, u64 address,
                            bool is_write, u32 mine, const u32* stored) {
  const observer::LaunchMarks& marks = global;
  u32* const entry = marks.touched + (address - marks.begin) / 4;
  const u64 row = (address - marks.begin) / 4 / Shadow::kRowWords;
  Shadow::part(marks.rows + row, marks.touched + row * Shadow::kRowWords, marks.first);
  u32* const word = reinterpret_cast<u32*>(address);  // NOLINT: device memory is host memory
  u32 old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
  for (;;) {
    const u32 toucher = old & Shadow::kMarkBits, how = old & ~Shadow::kMarkBits;
    if (how == Shadow::kStoring) {
      old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
      continue;
    }
    const bool touched = toucher >= marks.first;  // ignore marks of earlier launches
    const bool written = touched && how == Shadow::kWritten;
    const bool past = is_own(toucher) && races_->is_ordered(warp, toucher - mark);
    bool agrees = false;
    if (touched && !past && !synchronised && (written || is_write)) {
      const bool holds_it = stored != nullptr && __atomic_load_n(word, __ATOMIC_RELAXED) == *stored;
      agrees = written && (is_write ? holds_it : toucher == marks.first);
      if (!agrees) report_conflict({warp, insn, lane}, address, toucher, written, is_write);
    }
    u32 next = old;
    if (is_write) {
      next = Shadow::kWritten | (agrees ? (is_own(toucher) ? mark : marks.first) : mine);
    } else if (!touched || (!written && past)) {
      next = Shadow::kReadByOne | mine;
    } else if (!written && !is_own(toucher)) {
      next = Shadow::kReadBySeveral | marks.first;
    }
    if (next == old) return;
    // The instruction itself stores elements of two words, both at once.
    const bool stores = stored != nullptr && insn.bytes * insn.vector < 8;
    const u32 first = stores ? Shadow::kStoring | mine : next;
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
  const u64 first = shadow_->first_unwritten(address, bytes);
  if (first == address + bytes) return;  // another block has written them since
  if ((insn.flags & ir::kFlagHalf) != 0 &&
      (shadow_->is_written(address, 2) || shadow_->is_written(address + 2, 2)))
    return;
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
