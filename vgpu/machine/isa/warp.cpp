// SPDX-License-Identifier: Apache-2.0
// Instructions that exchange data between lanes of a warp. Those with .sync first wait for the
// lanes in their member masks.
#include "machine/isa/shuffle.hpp"
#include "machine/isa/synchronise.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// s: value, lane operand, clamp and segment, members; list: predicate "source in range".
void shuffle(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  synchronised(warp, insn, mask, slot<u32>(window, insn.s[3]), [&](u32 ready) {
    alignas(64) u32 result[kLanes];
    const u32 in_range =
        shuffled(static_cast<ShuffleMode>(insn.sub), slot<u32>(window, insn.s[0]),
                 slot<u32>(window, insn.s[1]), slot<u32>(window, insn.s[2]), result);
    if (insn.d != kNone) blend(slot<u32>(window, insn.d), result, ready);
    if (insn.list != kNone) set_predicate(window, insn.list, in_range, ready);
  });
}

// s: predicate, members.
void vote(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const members = slot<u32>(window, insn.s[1]);
  synchronised(warp, insn, mask, members, [&](u32 ready) {
    u32 p = *slot<u32>(window, insn.s[0]);
    if ((insn.flags & kFlagNegate) != 0) p = ~p;
    const VoteMode mode = static_cast<VoteMode>(insn.sub);
    if (mode == VoteMode::kBallot) {
      u32* const d = slot<u32>(window, insn.d);
      alignas(64) u32 result[kLanes];
      for (u32 i = 0; i < kLanes; ++i) result[i] = p & members[i] & ready;
      blend(d, result, ready);
      return;
    }
    u32 result = 0;
    for (u32 i = 0; i < kLanes; ++i) {
      const u32 voters = members[i] & ready;
      const bool all = (p & voters) == voters, none = (p & voters) == 0;
      const bool r = mode == VoteMode::kAll ? all : mode == VoteMode::kAny ? !none : all || none;
      result |= static_cast<u32>(r) << i;
    }
    set_predicate(window, insn.d, result, ready);
  });
}

// s: value, members; list: predicate "all have one value".
template <class T, bool kAll>
void match(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const members = slot<u32>(window, insn.s[1]);
  synchronised(warp, insn, mask, members, [&](u32 ready) {
    const T* const value = slot<T>(window, insn.s[0]);
    alignas(64) u32 result[kLanes] = {};
    u32 agreed = 0;
    for (u32 i = 0; i < kLanes; ++i) {
      u32 same = 0;
      for (u32 k = 0; k < kLanes; ++k) same |= static_cast<u32>(value[k] == value[i]) << k;
      const u32 group = members[i] & ready;
      const bool all = (same & group) == group;
      result[i] = !kAll || all ? same & group : 0;
      agreed |= static_cast<u32>(all) << i;
    }
    if (insn.d != kNone) blend(slot<u32>(window, insn.d), result, ready);
    if (kAll && insn.list != kNone) set_predicate(window, insn.list, agreed, ready);
  });
}

template <class T, class F>
void reduce(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const members = slot<u32>(window, insn.s[1]);
  synchronised(warp, insn, mask, members, [&](u32 ready) {
    const T* const value = slot<T>(window, insn.s[0]);
    alignas(64) T result[kLanes] = {};
    for (u32 left = ready; left != 0;) {  // once for every distinct set of lanes
      const u32 first = static_cast<u32>(__builtin_ctz(left));
      const u32 group = members[first] & ready;
      T sum = value[first];
      for (const u32 i : SetBits(group & ~(1u << first))) sum = F{}(sum, value[i]);
      for (const u32 i : SetBits(group)) result[i] = sum;
      left &= ~(group | 1u << first);
    }
    blend(slot<T>(window, insn.d), result, ready);
  });
}
template <class T, class F>
void define_reduction(OperationSink& sink, const char* name, F) {
  sink.add(name, "", Shape{}, &reduce<T, F>, true);
}

// s: members. The lowest lane that the mask names is elected.
void elect(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const members = slot<u32>(window, insn.s[0]);
  synchronised(warp, insn, mask, members, [&](u32 ready) {
    alignas(64) u32 leader[kLanes];
    u32 elected = 0;
    for (u32 i = 0; i < kLanes; ++i) {
      const u32 group = members[i] & ready;
      leader[i] = group == 0 ? i : static_cast<u32>(__builtin_ctz(group));
      elected |= static_cast<u32>(leader[i] == i) << i;
    }
    if (insn.d != kNone) blend(slot<u32>(window, insn.d), leader, ready);
    if (insn.list != kNone) set_predicate(window, insn.list, elected, ready);
  });
}

void active_mask(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  write_lanes<u32>(window, insn.d, mask, [&](u32) { return mask; });
  warp.pc += 1;
}

void synchronise_warp(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const members = slot<u32>(window, insn.s[0]);
  u32 missing = 0;
  for (u32 i = 0; i < kLanes; ++i) missing |= members[i] & (0u - (mask >> i & 1));
  if (__builtin_expect((missing & warp.live & ~mask) == 0, 1))
    ++warp.pc;
  else
    warp_barrier(warp, insn, members);
}

}  // namespace

void define_warp(OperationSink& sink) {
  op_special(sink, "shfl.sync", &shuffle, true);
  op_special(sink, "vote.sync", &vote, true);
  op_special(sink, "match.any.sync.b32", &match<u32, false>, true);
  op_special(sink, "match.any.sync.b64", &match<u64, false>, true);
  op_special(sink, "match.all.sync.b32", &match<u32, true>, true);
  op_special(sink, "match.all.sync.b64", &match<u64, true>, true);
  define_reduction<u32>(sink, "redux.sync.add.u32 redux.sync.add.s32",
                        [](u32 a, u32 b) { return a + b; });
  define_reduction<u32>(sink, "redux.sync.min.u32", [](u32 a, u32 b) { return a < b ? a : b; });
  define_reduction<u32>(sink, "redux.sync.max.u32", [](u32 a, u32 b) { return a > b ? a : b; });
  define_reduction<i32>(sink, "redux.sync.min.s32", [](i32 a, i32 b) { return a < b ? a : b; });
  define_reduction<i32>(sink, "redux.sync.max.s32", [](i32 a, i32 b) { return a > b ? a : b; });
  define_reduction<u32>(sink, "redux.sync.and.b32", [](u32 a, u32 b) { return a & b; });
  define_reduction<u32>(sink, "redux.sync.or.b32", [](u32 a, u32 b) { return a | b; });
  define_reduction<u32>(sink, "redux.sync.xor.b32", [](u32 a, u32 b) { return a ^ b; });
  op_special(sink, "elect.sync", &elect, true);
  op_special(sink, "activemask.b32", &active_mask, true);
  op_special(sink, "bar.warp.sync", &synchronise_warp, true);
}

}  // namespace vgpu::machine::VGPU_ISA
