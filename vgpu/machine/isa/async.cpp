// SPDX-License-Identifier: Apache-2.0
// Asynchronous instructions: cp.async, mbarriers, setmaxnreg. Addresses are checked and counted
// here. The rest is common to all host instruction sets and compiled elsewhere.
#include "machine/async.hpp"
#include "machine/bulk.hpp"
#include "machine/cluster.hpp"
#include "machine/isa/watch.hpp"
#include "machine/mbarrier.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// Whether each pair of adjacent lanes copies one whole sector to one whole sector
// (SiteCount::torn_copies).
[[gnu::always_inline]] inline bool copies_whole_sectors(u32 mask, const u32* to, const u64* from) {
  constexpr u32 kPiece = 16, kSector = 32;
  if (mask != kAllLanes) return false;
  u64 bad = 0;
  for (u32 i = 0; i < kLanes; i += 2) {
    bad |= (from[i] % kSector) | (from[i + 1] - from[i] - kPiece);
    bad |= (to[i] % kSector) | (to[i + 1] - to[i] - kPiece);
  }
  return bad == 0;
}

// s: shared address, global address, bytes to read or the predicate ignore-src. imm: the offsets of
// both addresses, the global one in the upper half. Machine code: the upper half of the global
// address is in the row after s[1], and s[2] is the predicate to read (negated if sub is 1).
void copy_async(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  warp.roles |= observer::kCopies;
  const i32 to_offset = static_cast<i32>(insn.imm), from_offset = static_cast<i32>(insn.imm >> 32);
  alignas(64) u32 to[kLanes];
  alignas(64) u64 from[kLanes];
  alignas(64) u32 sizes[kLanes];
  const u32 bytes = insn.bytes;
  if ((insn.flags & kFlagAddress32) != 0) {
    const u32* const base = slot<u32>(window, insn.s[0]);
    const u32 offset = static_cast<u32>(to_offset) - warp.shared_tag;
    for (u32 i = 0; i < kLanes; ++i) to[i] = base[i] + offset;
  } else {
    const u64* const base = slot<u64>(window, insn.s[0]);
    for (u32 i = 0; i < kLanes; ++i) {
      const u64 address = base[i] + static_cast<u64>(i64{to_offset});
      to[i] = (address >> 32) == 0 ? static_cast<u32>(address) : kNone;
    }
  }
  const bool machine = (insn.flags & kFlagMachine) != 0;
  if (machine) {
    const u32 *const low = slot<u32>(window, insn.s[1]), *const high = low + kLanes;
    for (u32 i = 0; i < kLanes; ++i) {
      from[i] = (low[i] | u64{high[i]} << 32) + static_cast<u64>(i64{from_offset});
    }
  } else {
    const u64* const source = slot<u64>(window, insn.s[1]);
    for (u32 i = 0; i < kLanes; ++i) from[i] = source[i] + static_cast<u64>(i64{from_offset});
  }
  if (machine) {
    const u32 read = *slot<u32>(window, insn.s[2]) ^ (insn.sub != 0 ? kAllLanes : 0);
    for (u32 i = 0; i < kLanes; ++i) {
      const u32 zeros = insn.vector != 0 ? static_cast<u32>(from[i]) & (bytes - 1) : 0;
      from[i] -= zeros;
      sizes[i] = (read >> i & 1) != 0 ? bytes - zeros : 0;
    }
  } else if ((insn.flags & kFlagIgnore) != 0) {
    const u32 ignored = *slot<u32>(window, insn.s[2]);
    for (u32 i = 0; i < kLanes; ++i) sizes[i] = (ignored >> i & 1) != 0 ? 0 : bytes;
  } else {
    const u32* const given = slot<u32>(window, insn.s[2]);
    for (u32 i = 0; i < kLanes; ++i) sizes[i] = given[i];
  }
  u32 reads = 0, parts = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    reads |= static_cast<u32>(sizes[i] != 0) << i;
    parts |= static_cast<u32>(sizes[i] != 0 && sizes[i] != bytes) << i;
  }
  reads &= mask;
  parts &= mask;
  const Pattern pattern = pattern_of(to, mask, bytes);
  check_shared(warp, insn, mask, to, bytes, pattern);
  if (__builtin_expect(parts != 0, 0)) verify_parts(warp, insn, parts, from, sizes);
  if (const u32 whole = reads & ~parts; whole != 0) {
    check_global(warp, insn, whole, from, bytes, pattern_of(from, whole, bytes));
  }
  if (reads != 0) {
    const Pattern read = pattern_of(from, reads, bytes);
    count_global(warp, insn, reads, from, bytes, read);
    if (parts == 0) watch_global(warp, insn, reads, from, bytes, read, Touch::kCopy, false);
  }
  count_shared<true>(warp, insn, mask, to, bytes, pattern);
  if (bytes == 16 && !copies_whole_sectors(reads, to, from))
    ++warp.site_counts[insn.site].torn_copies;
  watch_shared(warp, insn, mask, to, bytes, pattern, Touch::kStore);
  warp.copies->begin(insn, mask, to, from, sizes);
}

void commit(Warp& warp, std::byte*, const Insn&, u32 mask) { warp.copies->commit(mask); }

// imm: groups that may remain incomplete; sub: 1 if copies in no group count too.
void wait(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (insn.sub != 0) warp.copies->commit(mask);
  warp.copies->wait(mask, static_cast<u64>(insn.imm));
}

void copies_arrive(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  warp.block->mbarriers->copies_arrive(warp, insn, mask);
}

void mbarrier(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  warp.block->mbarriers->execute(warp, insn, mask);
}

void set_registers(Warp& warp, std::byte*, const Insn& insn, u32) { set_max_registers(warp, insn); }

void bulk(Warp& warp, std::byte*, const Insn& insn, u32 mask) { bulk_copy(warp, insn, mask); }

void bulk_commit(Warp& warp, std::byte*, const Insn&, u32 mask) { warp.bulk->commit(mask); }

// imm: groups that may remain incomplete; sub: 1 if it suffices that their sources have been read.
void bulk_wait(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  warp.bulk->wait(mask, static_cast<u64>(insn.imm), insn.sub != 0);
}

void prefetch_map(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  check_tensor_map(warp, insn, mask);
}

void fence_proxy(Warp& warp, std::byte*, const Insn&, u32) {
  if (warp.race != nullptr) warp.race->fence_proxy(warp);
}

void fence_barriers(Warp& warp, std::byte*, const Insn&, u32) {
  if (warp.race != nullptr) warp.race->fence_barriers(warp);
}

void fence(Warp& warp, std::byte*, const Insn&, u32) {
  if (warp.race != nullptr) warp.race->fence(warp);
}

// .aligned: all lanes that have not exited must arrive together.
bool is_whole(Warp& warp, const Insn& insn, u32 mask) {
  if ((insn.flags & kFlagAligned) == 0 || mask == warp.live) return true;
  u32 members[kLanes];
  for (u32& m : members) m = kAllLanes;
  return converge(warp, insn, members) != 0;
}

void cluster_arrive(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (!is_whole(warp, insn, mask)) return;
  warp.block->cluster.arrive(warp, insn);
}

void cluster_wait(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (!is_whole(warp, insn, mask)) return;
  warp.block->cluster.wait(warp, insn);
}

// s: an address in some block's shared memory, a rank.
template <class T>
void map_address(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const T* const from = slot<T>(window, insn.s[0]);
  const u32* const rank = slot<u32>(window, insn.s[1]);
  T* const to = slot<T>(window, insn.d);
  const u64 base = (insn.flags & kFlagGeneric) != 0 ? warp.shared_window : 0;
  for (const u32 i : SetBits(mask)) {
    if (rank[i] >= warp.block->cluster.size()) {
      fault({warp, insn, i}, FaultKind::kBadOperand,
            "mapa with a rank that the cluster does not have");
    }
    to[i] = static_cast<T>(base + cluster_address(warp, rank[i], (from[i] - base) % kWindowBytes));
  }
}

template <class T>
void address_rank(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const T* const from = slot<T>(window, insn.s[0]);
  u32* const to = slot<u32>(window, insn.d);
  const u64 base = (insn.flags & kFlagGeneric) != 0 ? warp.shared_window : 0;
  for (const u32 i : SetBits(mask)) to[i] = rank_of(warp, from[i] - base);
}

}  // namespace

void define_async(OperationSink& sink) {
  op_special(sink, "cp.async", &copy_async);
  op_special(sink, "cp.async.commit_group", &commit);
  op_special(sink, "cp.async.wait_group", &wait);
  op_special(sink, "cp.async.mbarrier.arrive", &copies_arrive);
  op_special(sink, "mbarrier", &mbarrier);
  op_special(sink, "setmaxnreg", &set_registers, true);
  op_special(sink, "bulk", &bulk);
  op_special(sink, "bulk.commit_group", &bulk_commit);
  op_special(sink, "bulk.wait_group", &bulk_wait);
  op_special(sink, "prefetch.tensormap", &prefetch_map);
  op_special(sink, "fence", &fence);
  op_special(sink, "fence.proxy.async", &fence_proxy);
  op_special(sink, "fence.mbarrier_init", &fence_barriers);
  op_special(sink, "barrier.cluster.arrive", &cluster_arrive, true);
  op_special(sink, "barrier.cluster.wait", &cluster_wait, true);
  op_special(sink, "mapa.32", &map_address<u32>);
  op_special(sink, "mapa.64", &map_address<u64>);
  op_special(sink, "getctarank.32", &address_rank<u32>);
  op_special(sink, "getctarank.64", &address_rank<u64>);
}

}  // namespace vgpu::machine::VGPU_ISA
