// SPDX-License-Identifier: Apache-2.0
#include "machine/bulk_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vgpu::machine {
namespace {

constexpr u32 kWhole = 15;  // bytes of a word

// Bits of the bytes of the word at `word` that lie in [begin, end).
u32 part(u64 word, u64 begin, u64 end) {
  u32 bits = 0;
  for (u32 byte = 0; byte < 4; ++byte)
    bits |= static_cast<u32>(word + byte >= begin && word + byte < end) << byte;
  return bits;
}

}  // namespace

void check_bulk_global(const Lane& lane, u64 address, u64 bytes, bool writes) {
  const Launch& launch = lane.warp.block->launch;
  const Allocation* const allocation = allocation_at(launch, address);
  if (allocation != nullptr && !allocation->freed && bytes <= allocation->end - address) {
    note_touched(launch, *allocation, address, bytes, writes);
    return;
  }
  const bool freed = allocation != nullptr && allocation->freed;
  const u64 at = allocation == nullptr || freed ? address : allocation->end;
  fault(lane, freed ? FaultKind::kUseAfterFree : FaultKind::kOutOfBounds,
        fmt::format("{} of {} bytes {} global memory", writes ? "write" : "read", bytes,
                    writes ? "to" : "from"),
        fmt::format("address 0x{:x}: {}", at, describe_global(launch, at)));
}

void watch_bulk_global(Warp& warp, const Lane& lane, u64 address, u32 bytes, BulkAccess access) {
  if (warp.watch == nullptr) return;
  const observer::LaunchMarks& marks = warp.watch->global;
  if (address - marks.begin >= marks.bytes) return;
  const u64 end = address + bytes;
  for (u64 word = address / 4 * 4; word < end; word += 4) {
    const u64 index = (word - marks.begin) / 4;
    const u32 bits = part(word, address, end);
    if (marks.written != nullptr) {
      if (access != BulkAccess::kWrite && (bits & ~u32{marks.written[index]}) != 0) {
        const u64 begin = std::max(word, address);
        warp.watch->report_global(warp, lane.insn, lane.lane, begin,
                                  static_cast<u32>(std::min(word + 4, end) - begin));
      }
      if (access != BulkAccess::kRead) {
        if (bits == kWhole)
          marks.written[index] = kWhole;
        else
          __atomic_fetch_or(marks.written + index, static_cast<u8>(bits), __ATOMIC_RELAXED);
      }
    }
    if (marks.touched != nullptr && bits == kWhole && access != BulkAccess::kUpdate) {
      // What waits for the copy is not known to be ordered behind the warp that issued it.
      warp.watch->touch_word(warp, lane.insn, lane.lane, word, access == BulkAccess::kWrite,
                             warp.watch->mark, nullptr);
    }
  }
}

void watch_bulk_shared(const Lane& lane, const SharedPlace& place, u32 bytes, bool writes) {
  observer::Watch* const watch = place.block->watch.get();
  if (watch == nullptr || watch->shared_unwritten == 0) return;
  const u64 begin = place.offset - watch->shared_begin, end = begin + bytes;
  for (u64 word = begin / 4; word * 4 < end; ++word) {
    const u32 bits = part(word * 4, begin, end);
    u32& mark = watch->shared_written[word];
    if (writes) {
      watch->shared_unwritten -= static_cast<u32>(mark != kWhole && (mark | bits) == kWhole);
      mark |= bits;
    } else if ((bits & ~mark) != 0) {
      watch->note_shared(lane.warp, lane.insn, lane.lane,
                         static_cast<u32>(watch->shared_begin + word * 4),
                         static_cast<u32>(end - word * 4));
      return;
    }
  }
}

}  // namespace vgpu::machine
