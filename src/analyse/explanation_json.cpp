// SPDX-License-Identifier: Apache-2.0
// Writes explanations as JSON; docs/analysis.md describes the fields.
#include <nlohmann/json.hpp>

#include "analyse/explanation.hpp"
#include "analyse/host_explanation.hpp"
#include "report/json_text.hpp"

namespace ladder::analyse {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json machine_json(const Explanation& e) {
  const Machine& m = e.machine;
  return {{"id", m.id},
          {"name", m.name},
          {"compute_capability", m.cc},
          {"sm_count", m.sm_count},
          {"clock_hz", m.clock_hz},
          {"peak_flops", m.peak_flops()},
          {"binding_peak_flops", e.peak},
          {"binding_peak", e.peak_name},
          {"bandwidth", m.bandwidth},
          {"ridge_flop_per_byte", e.bounds.ridge}};
}

Json work_json(const Explanation& e) {
  const Work& w = e.work;
  return {{"flop", w.flop},
          {"read_bytes", w.read_bytes},
          {"write_bytes", w.write_bytes},
          {"least_bytes", w.least_bytes()},
          {"flop_per_byte", w.intensity()},
          {"compute_ms", e.bounds.compute_s * 1e3},
          {"memory_ms", e.bounds.memory_s * 1e3}};
}

Json kernel_json(const Explanation& e) {
  const Observation& seen = e.subject.seen;
  Json json{{"name", seen.kernel},
            {"engine", seen.engine},
            {"threads", seen.threads},
            {"registers", seen.registers},
            {"shared_bytes", seen.shared_bytes},
            {"launches", seen.launches}};
  if (e.subject.tile) {
    Json tile;
    for (const auto& [name, value] : e.subject.tile->parameters) tile[name] = value;
    json["tile"] = std::move(tile);
    const Loads loads = loads_per_result(*e.subject.tile, e.problem.k);
    const Traffic traffic = uncached_traffic(e.problem, loads.global_loads);
    json["loads_per_result"] = {{"global", loads.global_loads},
                                {"global_formula", loads.global_formula},
                                {"shared", loads.shared_loads},
                                {"shared_formula", loads.shared_formula}};
    json["uncached_bytes"] = traffic.bytes;
    json["uncached_flop_per_byte"] = traffic.intensity;
    json["uncached_over_least"] = traffic.over_least;
  }
  return json;
}

Json occupancy_json(const Explanation& e) {
  const Observation& seen = e.subject.seen;
  if (seen.registers == 0) return {};
  const Occupancy o = occupancy_of({seen.threads, seen.registers, seen.shared_bytes}, e.machine);
  Json json{{"blocks", o.blocks},
            {"warps", o.warps},
            {"occupancy", o.occupancy},
            {"binds", o.binds},
            {"blocks_by_threads", o.by_threads},
            {"blocks_by_registers", o.by_registers},
            {"blocks_by_shared_memory", o.by_shared},
            {"blocks_by_blocks", o.by_blocks},
            {"registers_per_warp", o.registers_per_warp},
            {"registers_per_block", o.registers_per_block}};
  if (e.code_only) return json;
  const Waves w = waves_of(blocks_for(e.subject, e.problem), o.blocks, e.machine);
  json["waves"] = w.waves;
  json["places_used"] = w.used;
  return json;
}

Json accesses_json(const Explanation& e) {
  Json list = Json::array();
  for (const LoopAccess& a : merged_accesses(e.subject.seen.trace)) {
    const Cost c = cost_of(a.access);
    Json item{{"memory", a.access.memory == Memory::kShared ? "shared" : "global"},
              {"store", a.access.store},
              {"bytes_per_lane", a.access.bytes},
              {"file", a.file},
              {"line", a.line},
              {"executions", a.executions},
              {"mask", a.access.mask},
              {"addresses", a.access.addresses}};
    if (a.access.memory == Memory::kShared) {
      item["wavefronts"] = c.wavefronts;
      item["least_wavefronts"] = c.least_wavefronts;
      item["conflict_degree"] = c.degree;
    } else {
      item["sectors"] = c.sectors;
      item["lines"] = c.lines;
      item["l1_cycles"] = c.l1_cycles();
      item["elements"] = elements_of(a.access, e.subject.seen.matrices);
    }
    list.push_back(std::move(item));
  }
  return list;
}

Json prediction_json(const std::optional<Prediction>& prediction, const std::string& none) {
  if (!prediction) return {{"reason", none}};
  const Prediction& p = *prediction;
  Json pipes = Json::array();
  for (const Pipe& pipe : p.pipes) pipes.push_back({{"name", pipe.name}, {"ms", pipe.ms}});
  return {{"ms", p.ms},
          {"tflops", p.tflops},
          {"limiter", p.limiter},
          {"why", p.why},
          {"pipes", std::move(pipes)}};
}

Json schedule_json(const Explanation& e) {
  const Schedule& s = e.schedule;
  const auto offset = [&](std::size_t at) {
    return e.subject.code[e.subject.loop.first + at].offset;
  };
  const int warps = looping_warps(e.subject);
  Json pipes = Json::array(), chain = Json::array(), lines = Json::array();
  for (const PipeSlots& p : s.pipes) {
    const double bound = p.bound(warps, e.machine);
    pipes.push_back(
        {{"name", p.name}, {"slots", p.slots}, {"cycles", bound > 0 ? Json(bound) : Json()}});
  }
  for (const ScoreboardWait& wait : s.chain)
    chain.push_back({{"setter", offset(wait.setter)},
                     {"waiter", offset(wait.waiter)},
                     {"for_reads", wait.for_reads}});
  for (const LineSchedule& line : s.lines)
    lines.push_back({{"file", line.file},
                     {"line", line.line},
                     {"slots", line.slots},
                     {"stall_cycles", line.stall},
                     {"waits", line.waits},
                     {"waits_for", line.waits_for}});
  return {{"warps", warps},
          {"pipes", std::move(pipes)},
          {"stall_cycles", s.stall},
          {"barriers", s.barriers},
          {"copy_waits", s.copy_waits},
          {"scoreboard_waits", s.waits.size()},
          {"chain", std::move(chain)},
          {"lines", std::move(lines)}};
}

}  // namespace

std::string to_json(const Explanation& e) {
  Json json;
  json["schema"] = "ladder-explanation";
  json["version"] = 1;
  json["kernel"] = e.id;
  if (e.code_only) {
    const Observation& seen = e.subject.seen;
    json["machine"] = machine_json(e);
    json["code"] = {{"threads", seen.threads},
                    {"threads_assumed", e.code_only->block_assumed},
                    {"registers", seen.registers},
                    {"shared_bytes", seen.shared_bytes},
                    {"local_bytes", e.code_only->local_bytes},
                    {"local_accesses", e.code_only->local_accesses},
                    {"instructions", e.subject.code.size()},
                    {"loop", e.code_only->loop}};
  }
  if (!e.code_only) {
    json["problem"] = {
        {"m", e.problem.m}, {"n", e.problem.n}, {"k", e.problem.k}, {"beta", e.problem.beta}};
    json["machine"] = machine_json(e);
    json["work"] = work_json(e);
    json["launch"] = kernel_json(e);
  }
  json["occupancy"] = occupancy_json(e);
  if (!e.subject.code.empty()) json["loop_mix"] = mix_of(e.subject.body());
  if (!e.schedule.pipes.empty()) json["schedule"] = schedule_json(e);
  if (e.code_only) return json_text(json, 1) + "\n";
  json["accesses"] = accesses_json(e);
  json["prediction"] = prediction_json(e.prediction, e.no_prediction);
  if (e.measured)
    json["measured"] = {{"ms", e.measured->ms},
                        {"tflops", e.measured->tflops},
                        {"sm_clock_mhz", or_null(e.measured->clock_mhz)},
                        {"where", e.measured->where}};
  Json counters;
  for (const Compared& c : e.counters)
    counters[c.metric] = {{"predicted", c.predicted},
                          {"exact", c.certain},
                          {"modelled", or_null(c.modelled)},
                          {"counted", or_null(c.counted)},
                          {"profiled", or_null(c.profiled)}};
  json["counters"] = std::move(counters);
  return json_text(json, 1) + "\n";
}

std::string to_json(const HostExplanation& e) {
  const HostMachine& m = e.machine;
  Json json{{"schema", "ladder-explanation"},
            {"version", 1},
            {"kernel", {{"id", e.id}, {"rung", e.rung}, {"idea", e.idea}, {"place", "host"}}},
            {"problem", {{"m", e.problem.m}, {"n", e.problem.n}, {"k", e.problem.k}}}};
  json["machine"] = {{"cpu", m.cpu},
                     {"target", m.target},
                     {"threads", m.threads},
                     {"clock_hz", m.clock_hz},
                     {"fma_clock_hz", m.fma_clock_hz},
                     {"tile_clock_hz", m.tile_clock_hz},
                     {"fma_flops", m.fma_flops},
                     {"tile_flops", m.tile_flops},
                     {"add_cycles", m.add_cycles},
                     {"multiply_adds_per_cycle", m.multiply_adds_per_cycle()},
                     {"loads_per_cycle", m.loads_per_cycle()},
                     {"l1_bandwidth", m.l1_bandwidth},
                     {"l2_bandwidth", m.l2_bandwidth},
                     {"l3_bandwidth", m.l3_bandwidth},
                     {"memory_bandwidth", m.memory_bandwidth}};
  json["work"] = {
      {"flop", e.work.flop}, {"least_bytes", e.work.least_bytes()}, {"ridge", m.ridge()}};
  json["traffic"] = {{"l2", e.traffic.l2}, {"l3", e.traffic.l3}, {"memory", e.traffic.memory}};
  if (e.loop) {
    const HostMix& mix = e.loop->mix;
    json["hot_loop"] = {{"function", e.function->name}, {"instructions", mix.instructions},
                        {"arithmetic", mix.arithmetic}, {"products", mix.multiplies},
                        {"loads", mix.loads},           {"stores", mix.stores},
                        {"chained", mix.chained},       {"vector_bytes", mix.vector_bytes},
                        {"fused", mix.fused},           {"mix", mix.names}};
  }
  json["prediction"] = prediction_json(e.prediction, e.no_prediction);
  if (e.measured_ms)
    json["measured"] = {{"ms", *e.measured_ms}, {"tflops", e.measured_gflops() * 1e-3}};
  return json_text(json, 1) + "\n";
}

}  // namespace ladder::analyse
