// SPDX-License-Identifier: Apache-2.0
// Machine code: exchange between lanes of a warp, indexed constants, uniform registers. Unlike
// PTX's .sync forms these operate on the active lanes: the code reconverges them beforehand.
#include "machine/fault.hpp"
#include "machine/isa/access.hpp"
#include "machine/isa/sass.hpp"
#include "machine/isa/shuffle.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// s: value, lane operand, clamp and segment; list: whether the source is in range.
void shuffle(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  constexpr ShuffleMode kModes[] = {ShuffleMode::kIndex, ShuffleMode::kUp, ShuffleMode::kDown,
                                    ShuffleMode::kButterfly};
  alignas(64) u32 result[kLanes];
  const u32 in_range = shuffled(kModes[insn.sub], slot<u32>(window, insn.s[0]),
                                slot<u32>(window, insn.s[1]), slot<u32>(window, insn.s[2]), result);
  if (insn.d != kNone) blend(slot<u32>(window, insn.d), result, mask);
  if (insn.list != kNone) set_predicate(window, insn.list, in_range, mask);
}

// s[3]: the predicate; d: mask of the lanes where it is true (written to every lane if uniform);
// list: all, any, equal.
template <bool kUniform>
void vote(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 voters = kUniform ? warp.mask : mask;
  const u32 ballot = predicate(window, insn.s[3], m, kNegateP) & voters;
  const u32 to = lanes_of<kUniform>(mask);
  if (insn.d != kNone)
    write_lanes<u32>(window, insn.d, to, [&](u32) VGPU_INLINE { return ballot; });
  if (insn.list == kNone) return;
  const bool all = ballot == voters, any = ballot != 0;
  const bool result = insn.sub == 0 ? all : insn.sub == 1 ? any : all || !any;
  set_predicate(window, insn.list, result ? kAllLanes : 0, to);
}

// bytes 4 or 8. .ANY: the lanes with the same value; .ALL: all active lanes if their values are
// equal.
void match(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32* const low = slot<u32>(window, insn.s[0]);
  const u32* const high = insn.bytes == 8 ? low + kLanes : nullptr;
  alignas(64) u32 result[kLanes] = {};
  u32 agreed = 0;
  for (const u32 i : SetBits(mask)) {
    for (u32 k = 0; k < kLanes; ++k) {
      const bool same = low[k] == low[i] && (high == nullptr || high[k] == high[i]);
      result[i] |= static_cast<u32>(same) << k;
    }
    result[i] &= mask;
    if (!has(m, kHigh)) continue;
    agreed |= static_cast<u32>(result[i] == mask) << i;
    if (result[i] != mask) result[i] = 0;
  }
  if (insn.d != kNone) blend(slot<u32>(window, insn.d), result, mask);
  if (insn.list != kNone) set_predicate(window, insn.list, agreed, mask);
}

void reduce(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const bool is_signed = has(modifiers(insn), kSigned);
  const u32* const a = slot<u32>(window, insn.s[0]);
  u32 sum = a[__builtin_ctz(mask)];
  for (u32 left = mask & (mask - 1); left != 0; left &= left - 1) {
    const u32 v = a[__builtin_ctz(left)], top = is_signed ? 0x80000000 : 0;
    const bool less = (v ^ top) < (sum ^ top);
    switch (insn.sub) {
      case 0: sum &= v; break;
      case 1: sum |= v; break;
      case 2: sum ^= v; break;
      case 3: sum += v; break;
      case 4: sum = less ? v : sum; break;
      default: sum = less ? sum : v;
    }
  }
  write_lanes<u32>(window, insn.d, kAllLanes, [&](u32) VGPU_INLINE { return sum; });
}

// Elects one active lane; d: its index, list: whether it is this lane.
void elect(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 leader = static_cast<u32>(__builtin_ctz(mask));
  if (insn.d != kNone)
    write_lanes<u32>(window, insn.d, kAllLanes, [&](u32) VGPU_INLINE { return leader; });
  if (insn.list != kNone) set_predicate(window, insn.list, 1u << leader, mask);
}

// Writes the value of the first active lane to a uniform register; list: whether this lane's value
// differs (sub 1: or the predicate is set already).
void to_uniform(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  const u32 value = a[__builtin_ctz(mask)];
  if (insn.list != kNone) {
    u32 other = insn.sub != 0 ? *slot<u32>(window, insn.list) : 0;
    for (u32 i = 0; i < kLanes; ++i) other |= static_cast<u32>(a[i] != value) << i;
    set_predicate(window, insn.list, other, mask);
  }
  write_lanes<u32>(window, insn.d, kAllLanes, [&](u32) VGPU_INLINE { return value; });
}

// d = constant bank `sub` at s[0] + imm; bytes, sign and width as in loads.
template <bool kUniform>
void load_constant(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const std::vector<std::byte>& bank = warp.block->launch.banks[insn.sub];
  const u32* const index = slot<u32>(window, insn.s[0]);
  const u32 lanes = lanes_of<kUniform>(mask), first = static_cast<u32>(__builtin_ctz(lanes));
  const auto load = [&](u32 lane) {
    const u32 at = index[lane] + static_cast<u32>(insn.imm);
    if (at > bank.size() || insn.bytes > bank.size() - at || at % insn.bytes != 0)
      fault_constant({warp, insn, lane}, at, static_cast<u32>(bank.size()));
    u64 value = 0;
    __builtin_memcpy(&value, bank.data() + at, insn.bytes);
    return insn.bytes < 4 ? extend(value, insn.bytes, (insn.flags & kFlagSigned) != 0) : value;
  };
  alignas(64) u32 apart[kLanes];
  for (u32 i = 0; i < kLanes; ++i) apart[i] = (lanes >> i & 1) != 0 ? index[i] ^ index[first] : 0;
  alignas(64) u64 values[kLanes] = {};
  if (kUniform || !any_set(apart)) {
    const u64 value = load(first);
    for (u64& v : values) v = value;
  } else {
    for (const u32 i : SetBits(lanes)) values[i] = load(i);
  }
  if (insn.d == kNone) return;
  const auto write = [&](u32 offset, u32 shift) VGPU_INLINE {
    write_lanes<u32>(window, offset, lanes,
                     [&](u32 i) VGPU_INLINE { return static_cast<u32>(values[i] >> shift); });
  };
  write(insn.d, 0);
  if (insn.bytes == 8) write(insn.d + kRow, 32);
}

// Whether a generic address (two rows) is in the state space `sub`.
void query_space(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const Pair address(window, insn.s[0]);
  u32 result = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const AddressSpace space =
        space_of(address[i] + static_cast<u64>(insn.imm), warp.shared_window);
    result |= static_cast<u32>(static_cast<u8>(space) == insn.sub) << i;
  }
  set_predicate(window, insn.list, result, mask);
}

}  // namespace

void define_sass_warp(OperationSink& sink) {
  op_special(sink, "sass.shfl", &shuffle);
  define_twins(sink, "sass.vote", &vote<false>, &vote<true>);
  op_special(sink, "sass.match", &match);
  op_special(sink, "sass.redux", &reduce);
  op_special(sink, "sass.elect", &elect);
  op_special(sink, "sass.r2ur", &to_uniform);
  define_twins(sink, "sass.ldc", &load_constant<false>, &load_constant<true>);
  op_special(sink, "sass.qspc", &query_space);
}

}  // namespace vgpu::machine::VGPU_ISA
