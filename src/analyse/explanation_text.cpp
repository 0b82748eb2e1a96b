// SPDX-License-Identifier: Apache-2.0
// Writes an explanation as sections of plain text whose lines fit a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyse/explanation.hpp"

namespace ladder::analyse {
namespace {

using Lines = std::vector<std::string>;
constexpr double kMilli = 1e3;

template <class... Args>
void add(Lines& lines, fmt::format_string<Args...> text, Args&&... args) {
  lines.push_back(fmt::format(text, std::forward<Args>(args)...));
}

void problem(Lines& lines, const Explanation& e) {
  const Machine& m = e.machine;
  const Work& w = e.work;
  add(lines, "{}, {} on {}", e.id, to_string(e.problem), m.name);
  add(lines, "{}", e.idea);
  lines.emplace_back();
  add(lines, "THE PROBLEM");
  add(lines, "  work           {}", with_unit(w.flop, "FLOP"));
  add(lines, "  matrices       A {}, B {}, C {}", with_unit(w.a_bytes, "B"),
      with_unit(w.b_bytes, "B"), with_unit(w.c_bytes, "B"));
  add(lines, "  least traffic  {}: {} read, {} written{}", with_unit(w.least_bytes(), "B"),
      with_unit(w.read_bytes, "B"), with_unit(w.write_bytes, "B"),
      reads_c(e.problem) ? " (beta C is read)" : " (beta = 0: C is not read)");
  add(lines, "  intensity      {:.0f} FLOP/B at the least", std::floor(w.intensity()));
  lines.emplace_back();
  add(lines, "THE MACHINE");
  add(lines, "  FP32 peak      {:.1f} TFLOP/s: {} SMs x {} lanes x 2 x {:.2f} GHz",
      m.peak_flops() / 1e12, m.sm_count, m.fp32_lanes, m.clock_hz / 1e9);
  if (e.peak != m.peak_flops())
    add(lines,
        "  binds here     {:.1f} TFLOP/s, {}, at the same clock; under the power cap it is lower",
        e.peak / 1e12, e.peak_name);
  add(lines, "  memory         {:.0f} GB/s", m.bandwidth / 1e9);
  add(lines, "  ridge          {:.0f} FLOP/B: {} binds at the least traffic", e.bounds.ridge,
      e.bounds.compute_binds() ? "arithmetic" : "memory");
  add(lines, "  no faster than {:.3g} ms by arithmetic, {:.2g} ms by memory",
      e.bounds.compute_s * kMilli, e.bounds.memory_s * kMilli);
}

void code_only(Lines& lines, const Explanation& e) {
  const Observation& seen = e.subject.seen;
  const CodeOnly& own = *e.code_only;
  add(lines, "{} on {}", e.id, e.machine.name);
  add(lines, "from its machine code, not launched: accesses count as coalesced, without conflicts");
  lines.emplace_back();
  add(lines, "THE KERNEL");
  add(lines, "  block          {} threads{}, {} registers each, {} bytes of static shared memory",
      seen.threads, own.block_assumed ? " (assumed: --block)" : "", seen.registers,
      seen.shared_bytes);
  add(lines, "  local memory   {} bytes per thread (spilled registers, arrays), {} accesses",
      own.local_bytes, own.local_accesses);
  add(lines, "  code           {} instructions; explained below: {}", e.subject.code.size(),
      own.loop);
}

void kernel(Lines& lines, const Explanation& e) {
  const Observation& seen = e.subject.seen;
  const auto k = e.problem.k;
  lines.emplace_back();
  add(lines, "THE KERNEL");
  std::string parameters;
  if (e.subject.tile) {
    for (const auto& [name, value] : e.subject.tile->parameters)
      parameters += fmt::format(" {} {}", name, value);
  }
  add(lines, "  tile          {}", parameters.empty() ? " not known for this kernel" : parameters);
  add(lines,
      "  block          {} x {} x {} = {} threads, {} registers each, {} bytes of shared memory",
      seen.block_shape[0], seen.block_shape[1], seen.block_shape[2], seen.threads, seen.registers,
      seen.shared_bytes);
  if (!e.subject.tile) return;
  const Loads loads = loads_per_result(*e.subject.tile, k);
  const Traffic traffic = uncached_traffic(e.problem, loads.global_loads);
  add(lines, "  per result     {} = {:.6g} global loads, {} = {:.6g} shared loads",
      loads.global_formula, loads.global_loads, loads.shared_formula, loads.shared_loads);
  add(lines, "  without caches {}, {:.3g} FLOP/B, {:.3g} times the least traffic",
      with_unit(traffic.bytes, "B"), traffic.intensity, traffic.over_least);
  const Quantisation q =
      quantisation_of(e.problem.m, e.problem.n, e.subject.tile->bm, e.subject.tile->bn);
  add(lines, "  tiles          {} x {} of {} x {}; C fills {:.1f}% of them", q.tiles_m, q.tiles_n,
      e.subject.tile->bm, e.subject.tile->bn, 100 * q.used);
}

void occupancy(Lines& lines, const Explanation& e) {
  const Observation& seen = e.subject.seen;
  if (seen.registers == 0) return;
  const Machine& m = e.machine;
  const Occupancy o = occupancy_of({seen.threads, seen.registers, seen.shared_bytes}, m);
  lines.emplace_back();
  add(lines, "OCCUPANCY: {} of {} warps, {:.1f}%", o.warps, m.warps, 100 * o.occupancy);
  const auto limit = [&](const char* name, int blocks, const std::string& why) {
    add(lines, "  {:<15}{:>3} blocks  {}{}", name, blocks, why,
        blocks == o.blocks ? "  <- binds" : "");
  };
  limit("threads", o.by_threads,
        fmt::format("{} warps per block, {} per SM", o.warps_per_block, m.warps));
  limit("registers", o.by_registers,
        fmt::format("{} per thread, {} per warp, {} per block, {} per SM", seen.registers,
                    o.registers_per_warp, o.registers_per_block, m.registers));
  limit("shared memory", o.by_shared,
        fmt::format("{} + {} B per block, {} per SM", seen.shared_bytes, m.reserved_shared,
                    m.shared_bytes));
  limit("blocks", o.by_blocks, "per SM");
  if (e.code_only) return;
  if (o.blocks > 0) {
    const Waves w = waves_of(blocks_for(e.subject, e.problem), o.blocks, m);
    add(lines,
        "  waves          {:.0f} blocks, {:.0f} resident: {:.2f} waves, so {:.0f}, which are "
        "{:.1f}% "
        "full",
        w.blocks, w.slots, w.waves, w.full, 100 * w.used);
  }
  if (m.cc != 90) add(lines, "  (registers as ptxas gives them for compute capability 9.0)");
}

std::string short_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

void accesses(Lines& lines, const Explanation& e) {
  lines.emplace_back();
  add(lines, "ACCESSES OF A WARP ({}; the first of each kind, most frequent first)",
      e.subject.seen.engine == "sass" ? "machine code" : "PTX, shared loads merged as ptxas does");
  for (const LoopAccess& a : kinds_of_access(e)) {
    const Cost c = cost_of(a.access);
    const bool shared = a.access.memory == Memory::kShared;
    const std::string elements = elements_of(a.access, e.subject.seen.matrices);
    const std::string what =
        fmt::format("{} {} memory, {} B per lane, {}:{}", a.access.store ? "store to" : "load from",
                    shared ? "shared" : "global", a.access.bytes, short_name(a.file), a.line);
    add(lines, "  {}", what);
    if (shared) {
      add(lines, "    {} wavefront{}, at least {}; {}", c.wavefronts, c.wavefronts == 1 ? "" : "s",
          c.least_wavefronts,
          c.broadcast    ? "a broadcast"
          : c.degree > 1 ? fmt::format("{}-way bank conflict", c.degree)
                         : std::string("no bank conflict"));
    } else {
      add(lines,
          "    {} lanes access {} B: {} sector{} in {} line{}, {:.0f}% used, {} L1 cycle{}{}",
          c.lanes, c.bytes, c.sectors, c.sectors == 1 ? "" : "s", c.lines, c.lines == 1 ? "" : "s",
          100 * c.sector_use, c.l1_cycles(), c.l1_cycles() == 1 ? "" : "s",
          c.broadcast ? "; a broadcast" : "");
      if (!elements.empty()) add(lines, "    {}", elements.substr(0, 200));
    }
    for (const std::string& row : draw(a.access)) add(lines, "      {}", row);
  }
}

void machine_code(Lines& lines, const Explanation& e) {
  if (e.subject.code.empty()) return;
  const auto body = e.subject.body();
  std::vector<std::pair<int, std::string>> mix;
  for (const auto& [name, count] : mix_of(body)) mix.emplace_back(count, name);
  std::sort(mix.rbegin(), mix.rend());
  lines.emplace_back();
  add(lines, "THE HOT LOOP, {} instructions", body.size());
  for (const auto& [count, name] : mix)
    add(lines, "  {:<12}{:>6}  {:>5.1f}%", name, count,
        100.0 * count / static_cast<double>(body.size()));
}

void schedule(Lines& lines, const Explanation& e) {
  const Schedule& s = e.schedule;
  if (s.pipes.empty()) return;
  const int warps = looping_warps(e.subject);
  const auto ffma = std::ranges::find(s.pipes, "FP32", &PipeSlots::name);
  const bool fp32 = e.peak == e.machine.peak_flops() && ffma != s.pipes.end();
  lines.emplace_back();
  add(lines, "THE SCHEDULE of an iteration: a block's {} warps, from control codes and pipe rates",
      warps);
  add(lines, "  {:<14}{:>8}{:>12}  {}", "pipe", "slots", "SM cycles",
      fp32 ? "FP32 pipe busy if this bound were reached" : "");
  for (const PipeSlots& p : s.pipes) {
    const double bound = p.bound(warps, e.machine);
    if (bound == 0) {
      add(lines, "  {:<14}{:>8}{:>12}", p.name, p.slots, "-");
    } else if (fp32) {
      add(lines, "  {:<14}{:>8}{:>12.1f}  {:>5.1f}%", p.name, p.slots, bound,
          std::min(100.0, 100 * ffma->bound(warps, e.machine) / bound));
    } else {
      add(lines, "  {:<14}{:>8}{:>12.1f}", p.name, p.slots, bound);
    }
  }
  if (const PipeSlots* const busiest = s.binding(warps, e.machine))
    add(lines, "  bound by       {}", busiest->name);
  add(lines, "  stall counts   {} cycles at least for a warp; {} barrier{}, {} wait{} for copies",
      s.stall, s.barriers, s.barriers == 1 ? "" : "s", s.copy_waits, s.copy_waits == 1 ? "" : "s");
  add(lines, "  scoreboards    {} waits; {} follow one another, so that their latencies add up:",
      s.waits.size(), s.chain.size());
  constexpr std::size_t kShown = 12;
  const auto at = [&](std::size_t i) -> const MachineInstruction& {
    return e.subject.code[e.subject.loop.first + i];
  };
  for (std::size_t i = 0; i < std::min(kShown, s.chain.size()); ++i) {
    const ScoreboardWait& wait = s.chain[i];
    add(lines, "    {:04x} {} {} {} at {:04x}", at(wait.waiter).offset,
        mnemonic_of(at(wait.waiter)),
        wait.for_reads ? "waits until operands are read by" : "waits for",
        mnemonic_of(at(wait.setter)), at(wait.setter).offset);
  }
  if (s.chain.size() > kShown) add(lines, "    and {} more", s.chain.size() - kShown);
  if (s.lines.empty()) return;
  add(lines, "  {:<36}{:>6}{:>7}{:>7}  {}", "source line", "slots", "stalls", "waits", "for");
  for (const LineSchedule& line : s.lines) {
    std::string causes;
    for (const auto& [name, count] : line.waits_for)
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", count, name);
    const std::string place =
        line.line == 0 ? "unknown" : fmt::format("{}:{}", short_name(line.file), line.line);
    add(lines, "  {:<36}{:>6}{:>7}{:>7}  {}", place, line.slots, line.stall, line.waits, causes);
  }
}

void pace(Lines& lines, const Explanation& e) {
  lines.emplace_back();
  add(lines, "PREDICTION");
  if (!e.prediction) {
    add(lines, "  none: {}", e.no_prediction);
    return;
  }
  const Prediction& p = *e.prediction;
  add(lines, "  {:<28}{:>10}  share of the predicted time", "pipe", "ms busy");
  for (const Pipe& pipe : p.pipes)
    add(lines, "  {:<28}{:>10.3g}  {:>5.1f}%", pipe.name, pipe.ms, 100 * pipe.ms / p.ms);
  add(lines, "  predicted      {:.4g} ms, {:.3g} TFLOP/s, {:.1f}% of the peak; limited by {}", p.ms,
      p.tflops, 100 * p.tflops * 1e12 / e.peak, p.limiter);
  add(lines, "  {}", p.why);
  if (e.measured) {
    add(lines, "  measured       {:.4g} ms, {:.3g} TFLOP/s ({}); predicted {:+.1f}%",
        e.measured->ms, e.measured->tflops, e.measured->where,
        100 * (p.tflops / e.measured->tflops - 1));
    if (const double at_clock = at_measured_clock(e); std::abs(at_clock / p.tflops - 1) > 1e-3)
      add(lines, "  at its clock   {:.0f} MHz, {:.3g} TFLOP/s predicted, {:+.1f}%",
          *e.measured->clock_mhz, at_clock, 100 * (at_clock / e.measured->tflops - 1));
  }
}

void counters(Lines& lines, const Explanation& e) {
  if (e.counters.empty()) return;
  const bool profiled =
      std::ranges::any_of(e.counters, [](const auto& c) { return c.profiled.has_value(); });
  lines.emplace_back();
  add(lines, "COUNTERS of this problem, from smaller ones (~ an estimate, * of the hot loop){}",
      profiled ? ", and Nsight Compute's" : "");
  for (const Compared& c : e.counters) {
    // The finer instruction classes appear only in the JSON.
    if (c.metric.find("thread_inst_executed_op_") != std::string::npos &&
        c.metric.find("ffma") == std::string::npos)
      continue;
    add(lines, "  {:<72}{}{:>17.0f}{}", c.metric,
        c.certain    ? ' '
        : c.modelled ? '*'
                     : '~',
        c.modelled.value_or(c.predicted), c.profiled ? fmt::format("{:>17.0f}", *c.profiled) : "");
  }
}

}  // namespace

std::string with_unit(double value, const std::string& unit) {
  for (const auto& [scale, prefix] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (value >= scale) return fmt::format("{:.3g} {}{}", value / scale, prefix, unit);
  }
  return fmt::format("{:.3g} {}", value, unit);
}

std::vector<LoopAccess> kinds_of_access(const Explanation& e) {
  std::vector<LoopAccess> list = merged_accesses(e.subject.seen.trace);
  std::ranges::stable_sort(list, std::greater(), &LoopAccess::executions);
  std::vector<std::string> known;
  std::erase_if(list, [&](const LoopAccess& a) {
    const Cost c = cost_of(a.access);
    const bool shared = a.access.memory == Memory::kShared;
    const std::string place = shared ? fmt::format("{}", a.line)
                                     : elements_of(a.access, e.subject.seen.matrices).substr(0, 1);
    const std::string key = fmt::format("{} {} {} {} {} {}", shared, a.access.store, a.access.bytes,
                                        c.wavefronts, c.sectors, place);
    if (std::ranges::find(known, key) != known.end()) return true;
    known.push_back(key);
    return false;
  });
  return list;
}

std::vector<std::string> to_text(const Explanation& e) {
  Lines lines;
  if (e.code_only) {
    code_only(lines, e);
    occupancy(lines, e);
    machine_code(lines, e);
    schedule(lines, e);
    return lines;
  }
  problem(lines, e);
  kernel(lines, e);
  occupancy(lines, e);
  accesses(lines, e);
  machine_code(lines, e);
  schedule(lines, e);
  pace(lines, e);
  counters(lines, e);
  return lines;
}

}  // namespace ladder::analyse
