// SPDX-License-Identifier: Apache-2.0
// One block: its resources and the scheduling of its warps. A warp runs until it waits, so blocks
// whose threads only synchronise at barriers need no other switches. A warp that waits by polling
// memory is interrupted. Under a random schedule, time slices have random lengths, and some warps
// fall behind for a while, so that each warp is late from time to time.
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/async.hpp"
#include "machine/bulk.hpp"
#include "machine/cluster.hpp"
#include "machine/mbarrier.hpp"
#include "machine/operations.hpp"
#include "machine/wgmma.hpp"

namespace vgpu::machine {
namespace {

constexpr i64 kSlice = 8192;         // instructions that a warp runs before the next one does
constexpr i64 kDividedSlice = 1024;  // ... while its lanes are diverged
constexpr i64 kIdleSlice = 256;      // ... while the whole block only polls
// Random schedule: number of draw places per block, and the places for slices and for late warps.
// During every kTurnsLate slices, about one warp in kOneLateOf runs single instructions and falls
// behind.
constexpr u64 kPlaces = 64, kTurnPlace = 63, kLatePlace = 62;
constexpr u64 kTurnsLate = 1024, kOneLateOf = 4;

std::byte* aligned(std::byte* at, u64 to) {
  return at + ((reinterpret_cast<u64>(at) + to - 1) / to * to - reinterpret_cast<u64>(at));
}

void fill_bank_constants(const Launch& launch, std::byte* window) {
  for (const BankConstant& constant : launch.program.bank_constants) {
    const std::vector<std::byte>& bank = launch.banks[constant.bank];
    u32 value = 0;  // 0 beyond the end of the bank
    if (constant.offset + sizeof(value) <= bank.size()) {
      std::memcpy(&value, bank.data() + constant.offset, sizeof(value));
    }
    std::fill_n(reinterpret_cast<u32*>(window + constant.slot), kLanes, value);
  }
}

}  // namespace

Block::Block(const Launch& of, observer::Counters& into, SiteMemo* memos, Cluster& in,
             u32 rank_in_cluster)
    : observer::Block(of.program, rank_in_cluster),
      launch(of),
      counters(into),
      cluster(in),
      output(of.config.print_bytes) {
  const FunctionCode& kernel = program.functions[0];
  const u32 threads = static_cast<u32>(launch.config.block.count());
  warp_count = (threads + kLanes - 1) / kLanes;
  warps = std::make_unique<Warp[]>(warp_count);
  const u64 window_bytes = (u64{kernel.window_bytes} + 63) / 64 * 64;
  windows_ = std::make_unique<std::byte[]>(window_bytes * warp_count + 64);
  const u64 shared_bytes = launch.shared_read_end - program.shared_begin;
  shared_ = std::make_unique<std::byte[]>(shared_bytes + 1024);
  std::byte* const shared = aligned(shared_.get(), 1024);
  race = cluster.race();
  findings = cluster.findings();
  if (launch.observer != nullptr) watch = launch.observer->watch(shared_bytes, race);
  mbarriers = std::make_unique<Mbarriers>(*this);
  if (program.warpgroups) warpgroups = std::make_unique<Warpgroups>(*this);
  register_moves.resize((warp_count + kWarpsOfGroup - 1) / kWarpsOfGroup);
  for (u32 w = 0; program.copies && w < warp_count; ++w) {
    copies.emplace_back(warps[w]);
    bulk.emplace_back(warps[w]);
  }
  for (u32 w = 0; w < warp_count; ++w) {
    Warp& warp = warps[w];
    warp.id = w;
    warp.block = this;
    warp.home = this;
    warp.thread = warp.tid;
    warp.root.window = aligned(windows_.get(), 64) + window_bytes * w;
    std::copy(kernel.constants.begin(), kernel.constants.end(), warp.root.window);
    fill_bank_constants(launch, warp.root.window);
    warp.machine_code = program.machine_code.has_value();
    warp.code = program.code.data();
    warp.runs = program.runs.data();
    warp.run_at = program.run_at.data();
    warp.lists = program.lists.data();
    warp.run_counts = counters.runs.data();
    warp.guard_counts = counters.guards.data();
    warp.site_counts = counters.sites.data();
    warp.counted = launch.config.count || launch.config.trace;
    warp.samples = counters.samples.empty() ? nullptr : counters.samples.data();
    warp.memos = memos;
    warp.shared = shared - program.shared_begin;
    warp.shared_begin = program.shared_begin;
    warp.shared_end = launch.shared_end;
    warp.shared_tag = warp.machine_code ? static_cast<u32>(rank * kWindowBytes) : 0;
    warp.cluster_window = warp.machine_code ? windows().ranks : windows().shared;
    warp.shared_window = warp.cluster_window + warp.shared_tag;
    warp.local_bytes = (kernel.local_bytes + 3) / 4 * 4;
    warp.local_storage.resize(u64{warp.local_bytes} * kLanes);
    warp.local = warp.local_storage.data();
    // Machine code reads parameters, tensor maps too, at their offsets in constant bank 0.
    const std::vector<std::byte>& params = warp.machine_code ? launch.banks[0] : launch.params;
    warp.params = params.data();
    warp.param_bytes = static_cast<u32>(params.size());
    warp.race = race;
    warp.watch = watch.get();
    if (launch.config.check_init) {
      warp.local_marks.resize(u64{warp.local_bytes} / 4 * kLanes + kLanes);
      warp.local_written = warp.local_marks.data();
    }
    warp.copies = program.copies ? &copies[w] : nullptr;
    warp.bulk = program.copies ? &bulk[w] : nullptr;
    const Dim3& b = launch.config.block;
    for (u32 i = 0; i < kLanes; ++i) {
      const u32 t = w * kLanes + i;
      warp.tid[0][i] = t % b.x;
      warp.tid[1][i] = t / b.x % b.y;
      warp.tid[2][i] = t / b.x / b.y;
    }
  }
}

Block::~Block() = default;

void Block::start(u64 linear_index) {
  const Dim3& grid = launch.config.grid;
  linear = linear_index;
  index.x = static_cast<u32>(linear % grid.x);
  index.y = static_cast<u32>(linear / grid.x % grid.y);
  index.z = static_cast<u32>(linear / grid.x / grid.y);
  output.clear();
  exchanges.clear();
  idle_rounds = turns_ = 0;
  done = blocked = false;
  for (; pending_barriers != 0; pending_barriers &= pending_barriers - 1)
    barriers[__builtin_ctz(pending_barriers)] = {};
  if (watch != nullptr) watch->start_block(linear);
  mbarriers->start_block();
  if (warpgroups != nullptr) warpgroups->start_block();
  for (CopyQueue& queue : copies) queue.start_block();
  for (BulkGroups& groups : bulk) groups.start_block();
  for (std::vector<u32>& moves : register_moves) moves.clear();
  free_registers = 0;
  // The fill makes reads of unwritten memory the same in every block and on every host.
  launch.fill.apply(warps[0].shared + warps[0].shared_begin,
                    warps[0].shared_end - warps[0].shared_begin);
  const FunctionCode& kernel = launch.program.functions[0];
  const u32 threads = static_cast<u32>(launch.config.block.count());
  for (u32 w = 0; w < warp_count; ++w) {
    Warp& warp = warps[w];
    const u32 rest = threads - w * kLanes;
    start_warp(warp, kernel, rest >= kLanes ? kAllLanes : (1u << rest) - 1);
    warp.waits_for = {};
    warp.registers = launch.config.registers;
    warp.register_moves = 0;
    warp.wants_registers = false;
    warp.wants_warpgroup = false;
    for (const auto& [offset, bytes] : kernel.undefined)
      std::memset(warp.root.window + offset, 0, bytes);
    std::fill(warp.local_storage.begin(), warp.local_storage.end(), launch.fill.local());
    warp.stray_local.clear();
    std::fill(warp.local_marks.begin(), warp.local_marks.end(), u8{0});
  }
}

bool Block::run(i64 quantum) {
  blocked = ran = false;
  done = run_warps(quantum);
  if (done) {
    for (u32 w = 0; w < warp_count; ++w) ++counters.roles[warps[w].roles];
    for (BulkGroups& groups : bulk) groups.finish();
    mbarriers->finish();
    if (race != nullptr) race->end_block(warps[0]);
  }
  return done;
}

i64 Block::turn(u32 who, i64 most) {
  const CopySchedule& schedule = launch.config.schedule;
  if (schedule.kind != CopySchedule::Kind::kRandom) return most;
  const u64 place = linear * kPlaces, turn = ++turns_;
  if (schedule_bits(schedule, place + kLatePlace, turn / kTurnsLate * kPlaces + who) % kOneLateOf ==
      0)
    return 1;
  const u64 lengths = static_cast<u64>(std::bit_width(static_cast<u64>(most)));
  return i64{1} << schedule_bits(schedule, place + kTurnPlace, turn) % lengths;
}

bool Block::run_warps(i64 quantum) {
  const Handler* const handlers = launch.isa.handlers.data();
  while (quantum > 0) {
    if (launch.config.deadline) check_deadline(*this);
    bool all_done = true, any_ran = false, all_idle = true;
    for (u32 w = 0; w < warp_count; ++w) {
      Warp& warp = warps[w];
      if (warp.status == WarpStatus::kDone) continue;
      all_done = false;
      if (warp.status == WarpStatus::kWaiting) continue;
      any_ran = true;
      const u64 progress = warp.progress, polls = warp.polls, before = warp.instructions;
      warp.budget =
          idle_rounds != 0 ? kIdleSlice : turn(w, warp.parked_count != 0 ? kDividedSlice : kSlice);
      launch.isa.code.run(warp, handlers);
      quantum -= static_cast<i64>(warp.instructions - before) + 1;
      // A warp that only polls memory is waiting, possibly for its own other lanes.
      const bool idle =
          warp.status == WarpStatus::kReady && warp.progress == progress && warp.polls != polls;
      all_idle &= idle;
      if (idle && warp.parked_count != 0) rotate_groups(warp);
    }
    if (all_done) return true;
    ran |= any_ran;
    if (!any_ran) {
      blocked = true;
      return false;
    }
    idle_rounds = all_idle ? idle_rounds + 1 : 0;
    if (all_idle) return false;
  }
  return false;
}

}  // namespace vgpu::machine
