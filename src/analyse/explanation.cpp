// SPDX-License-Identifier: Apache-2.0
#include "analyse/explanation.hpp"

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
  e.problem = problem;
  e.problem.in = kernel.in;
  e.problem.out = kernel.out;
  e.work = work_of(e.problem);
  auto seen = observe(kernel, device, problem.beta);
  if (!seen) return seen.status();
  e.subject.seen = std::move(seen).value();
  e.subject.tile = tile_of(kernel.rung, e.subject.seen.kernel);
  const Precision chosen = chosen_precision(kernel.precision, e.subject.tile);
  e.peak = machine.peak_of(chosen, &e.peak_name);
  e.bounds = bounds_of(e.work, machine, e.peak);
  const auto seen_tile = e.subject.tile;
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
  e.subject.code = decode(code.value().bytes);
  const auto loop = hot_loop(e.subject.code);
  if (!loop) {
    e.no_prediction = loop.status().message();
    return e;
  }
  e.subject.loop = loop.value();
  const std::vector<SourcePlace> places = places_of(code.value());
  const auto body = [&](const auto& list) {
    return list.empty() ? std::span(list)
                        : std::span(list).subspan(e.subject.loop.first, e.subject.loop.size());
  };
  e.schedule = schedule_of(body(std::as_const(e.subject.code)), loop_costs(e.subject), body(places),
                           machine);
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

}  // namespace ladder::analyse
