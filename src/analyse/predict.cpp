// SPDX-License-Identifier: Apache-2.0
#include "analyse/predict.hpp"
#include "analyse/predict_warpgroups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace ladder::analyse {
namespace {

constexpr const char* kCopyWavefronts =
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum";
constexpr const char* kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

bool matches(const MachineInstruction& i, const LoopAccess& access) {
  if (access.access.bytes != i.bytes) return false;
  const bool shared = access.access.memory == Memory::kShared;
  switch (i.kind) {
    case Kind::kLoadShared: return shared && !access.access.store;
    case Kind::kStoreShared: return shared && access.access.store;
    case Kind::kLoadGlobal:
    case Kind::kAsyncCopy: return !shared && !access.access.store;
    case Kind::kStoreGlobal: return !shared && access.access.store;
    default: return false;
  }
}

MemoryCost cost_in_pipe(const LoopAccess& access) {
  const Cost cost = cost_of(access.access);
  return {static_cast<double>(std::max(1, cost.l1_cycles())), static_cast<double>(cost.sectors)};
}

// Selects the accesses that belong to the loop: for each kind of memory, those executed at least
// half as often as the most frequent one.
std::vector<LoopAccess> frequent(std::vector<LoopAccess> accesses) {
  for (const Memory memory : {Memory::kGlobal, Memory::kShared}) {
    for (const bool store : {false, true}) {
      const auto same = [&](const LoopAccess& a) {
        return a.access.memory == memory && a.access.store == store;
      };
      std::uint64_t most = 0;
      for (const LoopAccess& a : accesses) most = same(a) ? std::max(most, a.executions) : most;
      std::erase_if(accesses,
                    [&](const LoopAccess& a) { return same(a) && 2 * a.executions < most; });
    }
  }
  return accesses;
}

double seconds(double cycles, const Machine& machine) { return cycles / machine.clock_hz; }

// A trace of machine code identifies every instruction by its offset; its counts are averaged per
// execution.
std::vector<MemoryCost> costs_by_offset(const Subject& subject) {
  std::map<std::uint32_t, const TracedInstruction*> traced;
  for (const TracedInstruction& i : subject.seen.trace.instructions) traced[i.place] = &i;
  std::vector<MemoryCost> costs(subject.loop.size());
  for (std::size_t at = 0; at < costs.size(); ++at) {
    const auto found = traced.find(subject.code[subject.loop.first + at].offset);
    if (found == traced.end() || found->second->access.mask == 0) continue;
    const TracedInstruction& i = *found->second;
    const Cost first = cost_of(i.access);
    const auto mean = [](std::uint64_t sum, std::uint64_t requests) {
      return static_cast<double>(sum) / static_cast<double>(requests);
    };
    if (i.global_requests > 0) {
      costs[at].pipe = std::max(1, first.l1_cycles());
      costs[at].sectors = mean(i.global_sectors, i.global_requests);
    } else if (i.shared_requests > 0) {
      costs[at].pipe = std::max(1.0, mean(i.shared_wavefronts, i.shared_requests));
    }
  }
  return costs;
}

}  // namespace

std::vector<MemoryCost> loop_costs(const Subject& subject) {
  if (subject.seen.trace.engine == "sass") return costs_by_offset(subject);
  const std::vector<LoopAccess> accesses = frequent(merged_accesses(subject.seen.trace));
  std::vector<MemoryCost> costs;
  std::map<std::pair<Kind, int>, std::size_t> next;
  for (std::size_t at = subject.loop.first; at <= subject.loop.last; ++at) {
    const MachineInstruction& i = subject.code[at];
    std::vector<const LoopAccess*> candidates;
    for (const LoopAccess& access : accesses) {
      if (matches(i, access)) candidates.push_back(&access);
    }
    MemoryCost cost;
    if (!candidates.empty()) {
      cost = cost_in_pipe(*candidates[next[{i.kind, i.bytes}]++ % candidates.size()]);
    } else if (i.kind == Kind::kLoadShared || i.kind == Kind::kStoreShared) {
      cost.pipe = std::max(1, i.bytes / 4);
    } else if (i.kind == Kind::kLoadGlobal || i.kind == Kind::kAsyncCopy ||
               i.kind == Kind::kStoreGlobal) {
      cost.pipe = std::max(1, i.bytes / 4);
      cost.sectors = i.bytes;
    }
    costs.push_back(cost);
  }
  return costs;
}

namespace {

// Warps per block that execute wgmma: the counted products of a step of a tile, over those in the
// loop. 0: not known.
int multiplying_by_counts(const Subject& subject) {
  const auto scale = subject.seen.scales.find(kTensorInstructions);
  if (scale == subject.seen.scales.end() || subject.code.empty() || !subject.seen_tile) return 0;
  const TileShape& tile = *subject.seen_tile;
  const auto body = subject.body();
  const auto slots =
      std::ranges::count_if(body, [](const auto& i) { return i.kind == Kind::kWarpgroup; });
  if (slots == 0) return 0;
  const Quantisation tiles =
      quantisation_of(subject.seen.problem.m, subject.seen.problem.n, tile.bm, tile.bn);
  const double per_step = scale->second.per_k * tile.bk * subject.seen.blocks /
                          static_cast<double>(tiles.tiles_m * tiles.tiles_n);
  return static_cast<int>(std::lround(per_step / static_cast<double>(slots)));
}

}  // namespace

int looping_warps(const Subject& subject) {
  const int all = (subject.seen.threads + kWarp - 1) / kWarp;
  const int multiplying = !subject.tile              ? 0
                          : subject.tile->warpgroups ? multiplying_by_counts(subject)
                                                     : subject.tile->multiplying();
  return multiplying > 0 ? std::min(all, multiplying) : all;
}

double blocks_for(const Subject& subject, const Problem& problem) {
  if (subject.tile) {
    const Quantisation q =
        quantisation_of(problem.m, problem.n, subject.tile->bm, subject.tile->bn);
    return static_cast<double>(q.tiles_m * q.tiles_n);
  }
  const Problem& seen = subject.seen.problem;
  const double outputs =
      static_cast<double>(seen.m) * static_cast<double>(seen.n) / subject.seen.blocks;
  return std::ceil(static_cast<double>(problem.m) * static_cast<double>(problem.n) / outputs);
}

double counted_blocks_for(const Subject& subject, const Problem& problem) {
  if (!subject.tile || !subject.tile->evenly) return blocks_for(subject, problem);
  return subject.seen.blocks * blocks_for(subject, problem) /
         blocks_for(subject, subject.seen.problem);
}

namespace {

// Elements of A and B that one block needs per step of k.
double needed_per_step(const Subject& subject) {
  if (subject.tile) return subject.tile->bm + subject.tile->bn;
  const Problem& seen = subject.seen.problem;
  return 2 *
         std::sqrt(static_cast<double>(seen.m) * static_cast<double>(seen.n) / subject.seen.blocks);
}

struct Totals {
  double blocks = 0, warps = 0, k = 0;
  double counted = 0;   // blocks that the counts are multiplied by
  double products = 0;  // warp-level multiply-adds or tensor core products
  double l2_bytes = 0;
};

// Whether the loop uses warp-level tensor core instructions.
bool on_tensor_cores(const Subject& subject) {
  const auto body = subject.body();
  return std::ranges::any_of(body, [](const auto& i) { return i.kind == Kind::kTensor; });
}

Totals totals_of(const Subject& subject, const Problem& problem) {
  Totals t;
  t.k = static_cast<double>(problem.k);
  t.blocks = blocks_for(subject, problem);
  t.counted = counted_blocks_for(subject, problem);
  t.warps = t.blocks * looping_warps(subject);
  t.products = on_tensor_cores(subject)
                   ? scaled(subject.seen, kTensorInstructions, t.counted, t.k)
                   : scaled(subject.seen, kMultiplyAdds, t.counted, t.k) / kWarp;
  const double requested = scaled(subject.seen, kLoadSectors, t.counted, t.k) * kBytesPerSector;
  t.l2_bytes = std::min(requested, t.blocks * needed_per_step(subject) * t.k *
                                       static_cast<double>(bytes_of(problem.in))) +
               static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                   static_cast<double>(bytes_of(problem.out));
  return t;
}

std::string sentence(const Prediction& p, const Subject& subject) {
  const Pipe& top = p.pipes.front();
  if (p.limiter != "latency") {
    return fmt::format("{} is busy {:.0f}% of the time: {:.3g} of {:.3g} ms.", top.name,
                       100 * p.busiest, top.ms, p.ms);
  }
  return fmt::format(
             "No pipe is busy all the time (the busiest, {}, {:.0f}%): {} resident warp{} of {} "
             "block{} wait for memory and at barriers.",
             top.name, 100 * p.busiest, p.occupancy.warps, p.occupancy.warps == 1 ? "" : "s",
             p.occupancy.blocks, p.occupancy.blocks == 1 ? "" : "s") +
         (subject.seen.launches > 1
              ? fmt::format(" Only the largest of {} launches is modelled.", subject.seen.launches)
              : "");
}

}  // namespace

double Prediction::pipe_ms(std::string_view name) const {
  const auto found = std::ranges::find(pipes, name, &Pipe::name);
  return found == pipes.end() ? 0 : found->ms;
}

Result<Prediction> predict(const Subject& subject, const Problem& problem, const Machine& machine) {
  const auto missing = [](const std::string& what) {
    return Status(Code::kUnsupportedProblem, what);
  };
  if (!reads_ab(problem)) return missing("nothing is multiplied: k, m or n is 0, or alpha is");
  if (subject.seen.registers == 0)
    return missing("registers are unknown: no machine code was found");
  const bool warpgroups = subject.tile && subject.tile->warpgroups;
  const bool split =
      std::ranges::any_of(subject.code, [](const auto& i) { return i.kind == Kind::kMbarrier; });
  if (split && !warpgroups && looping_warps(subject) == (subject.seen.threads + kWarp - 1) / kWarp)
    return missing(
        "its warps wait on mbarriers for what others do, and which warps multiply is not known");
  Prediction p;
  p.occupancy = occupancy_of(
      {subject.seen.threads, subject.seen.registers, subject.seen.shared_bytes}, machine);
  if (p.occupancy.blocks == 0)
    return missing(
        fmt::format("no block fits on an SM of {}: {} bind", machine.id, p.occupancy.binds));
  if (warpgroups) return predict_warpgroups(subject, problem, machine, std::move(p));
  const Totals totals = totals_of(subject, problem);
  p.waves = waves_of(totals.blocks, p.occupancy.blocks, machine);

  const auto body = subject.body();
  const Kind product = on_tensor_cores(subject) ? Kind::kTensor : Kind::kFfma;
  const auto products = static_cast<double>(
      std::ranges::count_if(body, [&](const auto& i) { return i.kind == product; }));
  p.rounds = totals.products / totals.warps / products;

  const double requested =
      scaled(subject.seen, kLoadSectors, totals.counted / totals.blocks, totals.k) *
      kBytesPerSector;
  const double needed =
      needed_per_step(subject) * totals.k * static_cast<double>(bytes_of(problem.in));
  if (requested < 0)
    return missing(
        "counts of smaller problems do not extend to this one: it takes other tiles there");
  SmLoad load;
  load.warps_per_block = looping_warps(subject);
  load.blocks = p.occupancy.blocks;
  load.l1_hits = p.l1_hits = std::clamp(1 - needed / requested, 0.0, 1.0);
  load.from_memory = std::clamp(work_of(problem).read_bytes / totals.l2_bytes, 0.0, 1.0);
  if (product == Kind::kTensor) {
    // The problem's products at the tensor core rate that mma.sync reaches.
    const double of_one = flops(problem) / totals.products;
    const double rate = machine.tensor_rate(bytes_of(problem.in));
    load.tensor_cycles = of_one / (rate / machine.schedulers * machine.mma_sync_share);
  }
  const std::vector<MemoryCost> costs = loop_costs(subject);
  p.round = simulate(body, costs, load, machine);

  // Full waves at full occupancy, then the remaining blocks spread over the SMs.
  const bool evenly = subject.tile && subject.tile->evenly && totals.blocks > p.waves.slots;
  const double whole =
      evenly ? totals.blocks / p.waves.slots : std::floor(totals.blocks / p.waves.slots);
  double cycles = whole * p.rounds * p.round.cycles * load.blocks;
  if (const double left = totals.blocks - whole * p.waves.slots; left > 0) {
    load.blocks = static_cast<int>(std::ceil(left / machine.sm_count));
    const SmRound last =
        load.blocks == p.occupancy.blocks ? p.round : simulate(body, costs, load, machine);
    cycles += p.rounds * last.cycles * load.blocks;
  }
  // Per wave, the first tile's load from memory and the store of C are not overlapped.
  cycles += p.waves.full * (machine.memory_latency + machine.l2_latency);

  const double sm_rounds = totals.blocks * p.rounds / machine.sm_count;
  const auto pipe = [&](const char* name, double s) {
    p.pipes.push_back({name, s * kMsPerSecond});
  };
  pipe("FP32 pipe", seconds(sm_rounds * p.round.ffma, machine));
  if (product == Kind::kTensor)
    pipe("tensor cores by mma.sync", seconds(sm_rounds * p.round.tensor, machine));
  pipe("instruction issue", seconds(sm_rounds * p.round.issue, machine));
  const double warps_a_scheduler = static_cast<double>(load.warps_per_block) / machine.schedulers;
  pipe("issue with register reads",
       seconds(sm_rounds * issue_cycles(body) * warps_a_scheduler, machine));
  // The producer warps' copies into shared memory use the same pipe.
  const double brought =
      split ? scaled(subject.seen, kCopyWavefronts, totals.counted, totals.k) / machine.sm_count
            : 0;
  pipe("L1 and shared memory",
       seconds(sm_rounds * p.round.l1 + (brought > 0 ? brought : 0), machine));
  pipe("L2", totals.l2_bytes / (machine.l2_bytes_per_cycle * machine.sm_count * machine.clock_hz));
  pipe("device memory", work_of(problem).least_bytes() / machine.bandwidth);
  std::ranges::stable_sort(p.pipes, std::greater(), &Pipe::ms);

  p.ms = std::max(seconds(cycles, machine) * kMsPerSecond, p.pipes.front().ms);
  p.tflops = flops(problem) / p.ms / 1e9;
  p.busiest = p.pipes.front().ms / p.ms;
  p.limiter = p.busiest >= kBinds ? p.pipes.front().name : "latency";
  p.why = sentence(p, subject);
  return p;
}

}  // namespace ladder::analyse
