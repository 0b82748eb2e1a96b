// SPDX-License-Identifier: Apache-2.0
#include "analyse/explanation.hpp"

#include <algorithm>

namespace ladder::analyse {
namespace {

// Models the shared-memory instructions and wavefronts of the hot loop over all iterations and
// warps, after ptxas has merged PTX's accesses.
void model_shared(Explanation& e) {
  if (e.subject.seen.engine != "ptx" || !e.prediction) return;
  const std::vector<MemoryCost> costs = loop_costs(e.subject);
  double loads = 0, load_wavefronts = 0, stores = 0, store_wavefronts = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const Kind kind = e.subject.code[e.subject.loop.first + i].kind;
    loads += kind == Kind::kLoadShared ? 1 : 0;
    load_wavefronts += kind == Kind::kLoadShared ? costs[i].pipe : 0;
    stores += kind == Kind::kStoreShared ? 1 : 0;
    store_wavefronts += kind == Kind::kStoreShared ? costs[i].pipe : 0;
  }
  const double rounds =
      e.prediction->waves.blocks * e.prediction->occupancy.warps_per_block * e.prediction->rounds;
  for (const auto& [metric, value] :
       {std::pair{"smsp__inst_executed_op_shared_ld.sum", loads},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", load_wavefronts},
        {"smsp__inst_executed_op_shared_st.sum", stores},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", store_wavefronts}}) {
    for (Compared& c : e.counters) {
      if (c.metric == metric) c.modelled = rounds * value;
    }
  }
}

// For a kernel of `auto` precision: the split format that it chose for the uniform operands of the
// observed launch.
Precision chosen_precision(Precision promised, const std::optional<TileShape>& tile) {
  if (promised != Precision::kAuto || !tile) return promised;
  return tile->products == 6 ? Precision::kBf16x6 : Precision::kFp16x3;
}

// The loop's part of `list`, which is empty or has one entry per instruction.
template <class T>
std::span<const T> body_of(const Loop& loop, const std::vector<T>& list) {
  const std::span<const T> all(list);
  return all.empty() ? all : all.subspan(loop.first, loop.size());
}

// The problem's products at the tensor cores' peak, per instruction of a warp; 0 on CUDA cores.
double tensor_cycles_of(const Explanation& e) {
  const double products =
      scaled(e.subject.seen, kTensorInstructions, counted_blocks_for(e.subject, e.problem),
             static_cast<double>(e.problem.k));
  if (!(products > 0)) return 0;
  const double per_scheduler =
      e.peak / (e.machine.clock_hz * e.machine.sm_count * e.machine.schedulers);
  return flops(e.problem) / products / per_scheduler;
}

}  // namespace

double at_measured_clock(const Explanation& e) {
  const double predicted = e.prediction->tflops;
  if (!e.measured || !e.measured->clock_mhz) return predicted;
  constexpr double kHzPerMhz = 1e6;
  return predicted * *e.measured->clock_mhz * kHzPerMhz / e.machine.clock_hz;
}

Result<Explanation> explain(const KernelInfo& kernel, const Problem& problem,
                            const Machine& machine, const Device& device,
                            const ExplainOptions& options) {
  Explanation e;
  e.id = kernel.id;
  e.idea = kernel.idea;
  e.machine = machine;
  e.problem = in_types_of(kernel, problem);
  e.work = work_of(e.problem);
  auto seen = observe(kernel, device, e.problem);
  if (!seen) return seen.status();
  e.subject.seen = std::move(seen).value();
  e.subject.tile = tile_of(kernel.rung, e.subject.seen.kernel);
  const Precision chosen = chosen_precision(kernel.precision, e.subject.tile);
  e.peak = machine.peak_of(chosen, &e.peak_name);
  e.bounds = bounds_of(e.work, machine, e.peak);
  const auto seen_tile = e.subject.seen_tile = e.subject.tile;
  const auto tile =
      seen_tile ? tile_for(kernel.rung, *seen_tile, e.problem, machine.sm_count) : std::nullopt;
  if (tile) e.subject.tile = tile;
  if ((seen_tile && !tile) || plans_its_tile(kernel.rung))
    e.no_prediction =
        "the rung has several tiles, and which one it takes for this problem is not known here";

  // The counts are valid only if the problem uses the same tile as the small observed problems.
  const bool same_tile = e.no_prediction.empty() &&
                         (!e.subject.tile || e.subject.tile->parameters == seen_tile->parameters);
  const double blocks = counted_blocks_for(e.subject, e.problem);
  for (const auto& [metric, scale] : e.subject.seen.scales) {
    if (!same_tile || !metric.ends_with(".sum") || !scale.exact) continue;
    const double value = scaled(e.subject.seen, metric, blocks, static_cast<double>(problem.k));
    if (value == 0) continue;
    Compared& c = e.counters.emplace_back();
    c.metric = metric;
    c.predicted = value;
    c.certain = scale.certain;
  }
  auto code = find_code(options.code_file, e.subject.seen.kernel, device.cc);
  if (!code) {
    e.no_prediction = code.status().message();
    return e;
  }
  e.subject.code = decode(code.value());
  const auto loop = hot_loop(e.subject.code);
  if (!loop) {
    e.no_prediction = loop.status().message();
    return e;
  }
  e.subject.loop = loop.value();
  const std::vector<SourcePlace> places = places_of(code.value());
  e.schedule = schedule_of(body_of(e.subject.loop, e.subject.code), loop_costs(e.subject),
                           body_of(e.subject.loop, places), machine, tensor_cycles_of(e));
  if (!e.no_prediction.empty()) return e;
  auto prediction = predict(e.subject, e.problem, machine);
  if (prediction) {
    e.prediction = std::move(prediction).value();
    model_shared(e);
  } else {
    e.no_prediction = prediction.status().message();
  }
  return e;
}

namespace {

// The loop with the most multiply-adds; else the longest innermost loop; else all of the code.
Loop explained_loop(std::span<const MachineInstruction> code, std::string& what) {
  if (const auto hot = hot_loop(code)) {
    what = "the loop that multiplies most";
    return hot.value();
  }
  const std::vector<Loop> loops = loops_of(code);
  const Loop* longest = nullptr;
  for (const Loop& loop : loops) {
    const bool inner =
        std::ranges::none_of(loops, [&](const Loop& other) { return other.inside(loop); });
    if (inner && (longest == nullptr || loop.size() > longest->size())) longest = &loop;
  }
  what = longest != nullptr ? "the longest loop without a loop inside" : "no loop: all of the code";
  if (longest != nullptr) return *longest;
  std::size_t end = code.size();  // without the padding
  while (end > 1 && code[end - 1].mnemonic == "NOP") --end;
  return {0, end - 1};
}

}  // namespace

Explanation explain_code(const FileKernel& kernel, const Machine& machine, int threads) {
  Explanation e;
  CodeOnly& own = e.code_only.emplace();
  e.id = kernel.name;
  e.machine = machine;
  e.peak = machine.peak_flops();
  e.subject.seen.kernel = kernel.name;
  if (threads == 0) threads = kernel.max_threads;
  own.block_assumed = threads == 0;
  e.subject.seen.threads = own.block_assumed ? kAssumedThreads : threads;
  e.subject.seen.registers = kernel.registers;
  e.subject.seen.shared_bytes = kernel.shared_bytes;
  e.subject.code = decode(kernel.code);
  own.local_bytes = kernel.local_bytes;
  own.local_accesses = static_cast<int>(
      std::ranges::count_if(e.subject.code, [](const auto& i) { return i.kind == Kind::kLocal; }));
  if (e.subject.code.empty()) return e;
  e.subject.loop = explained_loop(e.subject.code, own.loop);
  const std::vector<SourcePlace> places = places_of(kernel.code);
  e.schedule = schedule_of(body_of(e.subject.loop, e.subject.code), loop_costs(e.subject),
                           body_of(e.subject.loop, places), machine);
  return e;
}

}  // namespace ladder::analyse
