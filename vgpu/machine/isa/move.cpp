// SPDX-License-Identifier: Apache-2.0
// mov: between registers, of special registers, and the packing and unpacking of vectors.
#include "ir/operations.hpp"
#include "machine/cluster.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// Time is simulated: one instruction of the warp counts as one cycle and as one nanosecond, so runs
// are reproducible.
u64 uniform_special(const Warp& warp, Special special) {
  const Block& block = *warp.block;
  const LaunchConfig& config = block.launch.config;
  switch (special) {
    case Special::kNtidX: return config.block.x;
    case Special::kNtidY: return config.block.y;
    case Special::kNtidZ: return config.block.z;
    case Special::kCtaidX: return block.index.x;
    case Special::kCtaidY: return block.index.y;
    case Special::kCtaidZ: return block.index.z;
    case Special::kNctaidX: return config.grid.x;
    case Special::kNctaidY: return config.grid.y;
    case Special::kNctaidZ: return config.grid.z;
    case Special::kWarpid: return warp.id;
    case Special::kNwarpid: return kMostWarps;
    case Special::kVirtualConfiguration: return kMostWarps << 8;
    case Special::kSmid: return block.linear % kMultiprocessors;
    case Special::kNsmid: return kMultiprocessors;
    case Special::kDynamicSmem: return config.dynamic_shared_bytes;
    case Special::kTotalSmem:
    case Special::kAggrSmem: return warp.shared_end - warp.shared_begin;
    case Special::kReservedSmemEnd:
    case Special::kReservedSmemCap: return warp.shared_begin;
    case Special::kSharedEnd: return warp.shared_end;
    case Special::kSharedWindowHi: return windows().ranks >> 32;
    case Special::kGridWorkspaceLow: return block.launch.grid_workspace & 0xffffffff;
    case Special::kGridWorkspaceHigh: return block.launch.grid_workspace >> 32;
    case Special::kOne: return 1;
    case Special::kClusteridX: return block.index.x / config.cluster.x;
    case Special::kClusteridY: return block.index.y / config.cluster.y;
    case Special::kClusteridZ: return block.index.z / config.cluster.z;
    case Special::kNclusteridX: return config.grid.x / config.cluster.x;
    case Special::kNclusteridY: return config.grid.y / config.cluster.y;
    case Special::kNclusteridZ: return config.grid.z / config.cluster.z;
    case Special::kClusterCtaidX: return block.index.x % config.cluster.x;
    case Special::kClusterCtaidY: return block.index.y % config.cluster.y;
    case Special::kClusterCtaidZ: return block.index.z % config.cluster.z;
    case Special::kClusterNctaidX: return config.cluster.x;
    case Special::kClusterNctaidY: return config.cluster.y;
    case Special::kClusterNctaidZ: return config.cluster.z;
    case Special::kClusterCtarank: return block.rank;
    case Special::kClusterNctarank: return config.cluster.count();
    case Special::kExplicitCluster: return config.in_clusters ? 1 : 0;
    default: return 0;
  }
}

u32 lane_special(Special special, u32 lane) {
  const u32 bit = 1u << lane;
  switch (special) {
    case Special::kLaneid: return lane;
    case Special::kLanemaskEq: return bit;
    case Special::kLanemaskLe: return bit | (bit - 1);
    case Special::kLanemaskLt: return bit - 1;
    case Special::kLanemaskGe: return ~(bit - 1);
    default: return ~(bit | (bit - 1));  // kLanemaskGt
  }
}

// A warp's clock advances by one per instruction. A warp that is behind the latest value read takes
// that value and counts on from there. Runs are counted when they begin, so instructions after this
// one are subtracted. A warp that waits for a time polls its clock: after many polls each one adds
// their number, so that a wait of n takes some sqrt(2 n) polls.
u64 clock(Warp& warp, const Insn& insn) {
  const u32 pc = static_cast<u32>(&insn - warp.code);
  const Run& run = warp.runs[warp.run_at[pc]];
  ++warp.progress;
  warp.block->counters.read_clock = true;
  const u64 executed = warp.instructions - run.counted + (pc - run.first);
  constexpr u64 kNear = 64, kManyPolls = 64;  // instructions between polls; polls
  warp.clock_polls = executed - warp.clock_read <= kNear ? warp.clock_polls + 1 : 0;
  warp.clock_read = executed;
  if (warp.clock_polls > kManyPolls) warp.clock_lead += warp.clock_polls;
  const u64 own = warp.clock_lead + executed;
  u64& latest = warp.block->cluster.device_clock.latest;
  if (own < latest) warp.clock_lead += latest - own;
  latest = std::max(own, latest);
  return latest;
}

// Insn::sub is the Special.
template <class T>
void special(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const Special which = static_cast<Special>(insn.sub);
  switch (which) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ: {
      const u32* const ids = warp.tid[insn.sub - static_cast<u8>(Special::kTidX)];
      write_lanes<T>(window, insn.d, mask, [&](u32 i) { return static_cast<T>(ids[i]); });
      return;
    }
    case Special::kLaneid:
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      write_lanes<T>(window, insn.d, mask,
                     [&](u32 i) { return static_cast<T>(lane_special(which, i)); });
      return;
    default: {
      u64 wide = 0;
      switch (which) {
        case Special::kClock:
        case Special::kClock64:
        case Special::kGlobaltimer:
        case Special::kGlobaltimerLo: wide = clock(warp, insn); break;
        case Special::kClockHi:
        case Special::kGlobaltimerHi: wide = clock(warp, insn) >> 32; break;
        default: wide = uniform_special(warp, which);
      }
      const T value = static_cast<T>(wide);
      write_lanes<T>(window, insn.d, mask, [&](u32) VGPU_INLINE { return value; });
    }
  }
}

}  // namespace

void define_move(OperationSink& sink) {
  op(sink, "mov.b16 mov.u16 mov.s16 mov.f16 mov.bf16", [](u16 a) { return a; });
  op(sink, "mov.b32 mov.u32 mov.s32 mov.f32 mov.f16x2 mov.bf16x2", [](u32 a) { return a; });
  op(sink, "mov.b64 mov.u64 mov.s64 mov.f64", [](u64 a) { return a; });
  op(sink, "pack.16x2", [](u16 a, u16 b) { return static_cast<u32>(a | u32{b} << 16); });
  op(sink, "pack.32x2", [](u32 a, u32 b) { return a | u64{b} << 32; });
  op(sink, "pack.16x4",
     [](u16 a, u16 b, u16 c, u16 d) { return a | u64{b} << 16 | u64{c} << 32 | u64{d} << 48; });
  op(sink, "pack.8x2", [](u16 a, u16 b) { return static_cast<u16>((a & 0xff) | b << 8); });
  op(sink, "pack.8x4", [](u16 a, u16 b, u16 c, u16 d) {
    return (a & 0xffu) | (b & 0xffu) << 8 | (c & 0xffu) << 16 | u32{d} << 24;
  });
  op(sink, "unpack.16.8.0", [](u16 a) { return static_cast<u16>(a & 0xff); });
  op(sink, "unpack.16.8.1", [](u16 a) { return static_cast<u16>(a >> 8); });
  op(sink, "unpack.32.8.0", [](u32 a) { return static_cast<u16>(a & 0xff); });
  op(sink, "unpack.32.8.1", [](u32 a) { return static_cast<u16>(a >> 8 & 0xff); });
  op(sink, "unpack.32.8.2", [](u32 a) { return static_cast<u16>(a >> 16 & 0xff); });
  op(sink, "unpack.32.8.3", [](u32 a) { return static_cast<u16>(a >> 24); });
  op(sink, "unpack.32.16.0", [](u32 a) { return static_cast<u16>(a); });
  op(sink, "unpack.32.16.1", [](u32 a) { return static_cast<u16>(a >> 16); });
  op(sink, "unpack.64.32.0", [](u64 a) { return static_cast<u32>(a); });
  op(sink, "unpack.64.32.1", [](u64 a) { return static_cast<u32>(a >> 32); });
  op(sink, "unpack.64.16.0", [](u64 a) { return static_cast<u16>(a); });
  op(sink, "unpack.64.16.1", [](u64 a) { return static_cast<u16>(a >> 16); });
  op(sink, "unpack.64.16.2", [](u64 a) { return static_cast<u16>(a >> 32); });
  op(sink, "unpack.64.16.3", [](u64 a) { return static_cast<u16>(a >> 48); });
  op_special(sink, "special.16", &special<u16>);
  op_special(sink, "special.32", &special<u32>);
  op_special(sink, "special.64", &special<u64>);
}

}  // namespace vgpu::machine::VGPU_ISA
