// SPDX-License-Identifier: Apache-2.0
#include "analyse/predict_warpgroups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace ladder::analyse {
namespace {

constexpr double kSharedBytesPerCycle = 128;  // CUDA C++ Programming Guide: 32 banks of 4 bytes

// Cycles of one SM per stage (a step of BK along k), by resource.
struct Step {
  double products = 0, promotion = 0, shared = 0, copies = 0;
};

Step step_of(const TileShape& t, const Problem& p, const Machine& machine) {
  const std::int64_t element = t.term_bytes > 0 ? t.term_bytes : bytes_of(p.in);
  const double rate = machine.tensor_rate(element);
  const auto line = static_cast<double>(t.bk * element);
  Step step;
  step.products = 2.0 * t.products * t.bm * t.bn * t.bk / rate;
  if (t.promotes) step.promotion = static_cast<double>(t.bm) * t.bn / machine.fp32_lanes;
  const int columns = t.columns_of_product();
  const double wgmmas = static_cast<double>(t.bm) / kRowsOfProduct * t.bn / columns * t.products;
  const double read = wgmmas * (kRowsOfProduct + columns) * line,
               written = t.terms * (t.bm + t.bn) * line;
  step.shared = (read + written) / kSharedBytesPerCycle;
  // Each block of a pair copies half of the operand that the pair shares.
  const double shared_lines = t.pair > 1 ? std::max(t.bm, t.bn) : 0;
  step.copies = t.terms * (t.bm + t.bn - shared_lines * (1 - 1.0 / t.pair)) * line /
                machine.l2_bytes_per_cycle;
  return step;
}

// Seconds of the split pre-pass at device memory bandwidth: it reads A and B and writes their
// terms.
double pass_seconds(const TileShape& t, const Problem& p, const Machine& machine) {
  if (t.terms == 1) return 0;
  const Work work = work_of(p);
  const double elements = (work.a_bytes + work.b_bytes) / static_cast<double>(bytes_of(p.in));
  return (work.a_bytes + work.b_bytes + elements * t.terms * t.term_bytes) / machine.bandwidth;
}

// 128-byte lines that the warps' own loads and stores of C touch, per element; each costs one L1
// cycle. Zero if tiles are stored by tensor map.
double lines_of_results(const Subject& subject) {
  double lines = 0;
  for (const LoopAccess& a : merged_accesses(subject.seen.trace)) {
    if (a.access.memory == Memory::kGlobal)
      lines += static_cast<double>(a.executions) * std::max(1, cost_of(a.access).lines);
  }
  return lines / (static_cast<double>(subject.seen.problem.m) *
                  static_cast<double>(subject.seen.problem.n));
}

}  // namespace

Result<Prediction> predict_warpgroups(const Subject& subject, const Problem& problem,
                                      const Machine& machine, Prediction p) {
  if (machine.cc != 90)
    return Status(Code::kUnsupportedProblem, "wgmma exists on compute capability 9.0 only");
  const TileShape& t = *subject.tile;
  const double tiles = blocks_for(subject, problem);
  p.waves = waves_of(tiles, p.occupancy.blocks, machine);
  const double steps = std::ceil(static_cast<double>(problem.k) / t.bk);
  p.rounds = steps;
  const Step step = step_of(t, problem, machine);

  // A stage's cycle is copy, multiply, release. With few stages this latency exceeds the time of
  // every pipe.
  const double round_trip =
      (machine.l2_latency + step.copies + step.products) / std::max(1, t.stages);
  double step_cycles = std::max({step.products, step.shared, step.copies, round_trip});
  // If all warpgroups synchronise after each stage, the tensor cores idle from the end of one
  // product until the warpgroups have seen its completion, synchronised, and found the next stage
  // full. That is modelled as three shared memory latencies.
  const double turn = t.in_step ? 3 * machine.shared_latency : 0;
  // A warpgroup's products of a stage end before it promotes their partial sums.
  step_cycles += turn + step.promotion;

  // Per tile: the first stage's latency, unless its copy overlaps the previous tile, and the
  // stores.
  const double results = static_cast<double>(t.bm) * t.bn;
  const double own_lines = lines_of_results(subject);
  const double first = t.stores_later ? 0 : machine.memory_latency + step.copies;
  const double last =
      own_lines > 0 ? results * own_lines + machine.l2_latency
                    : results * static_cast<double>(bytes_of(problem.out)) / kSharedBytesPerCycle;
  const double tile_cycles = first + steps * step_cycles + last;
  const double share = tiles / machine.sm_count;
  const double rounds = t.evenly ? std::max(1.0, share) : std::ceil(share);
  const double cycles = rounds * tile_cycles + machine.memory_latency;

  const auto ms = [&](double c) { return c / machine.clock_hz * kMsPerSecond; };
  const double sm_steps = share * steps;
  p.pipes = {{"tensor cores", ms(sm_steps * step.products)},
             {"shared memory", ms(sm_steps * step.shared)},
             {"copies from L2", ms(sm_steps * step.copies)},
             {"device memory", work_of(problem).least_bytes() / machine.bandwidth * kMsPerSecond},
             {"results", ms(share * last)}};
  std::ranges::stable_sort(p.pipes, std::greater(), &Pipe::ms);
  const double pass_ms = pass_seconds(t, problem, machine) * kMsPerSecond;
  p.ms = std::max(ms(cycles), p.pipes.front().ms) + pass_ms;
  p.tflops = flops(problem) / p.ms / 1e9;
  p.busiest = p.pipes.front().ms / p.ms;
  p.limiter = p.busiest >= kBinds ? p.pipes.front().name : "latency";
  if (pass_ms > 0) p.pipes.push_back({"pass over A and B", pass_ms});
  p.why = fmt::format(
      "{}A stage takes {:.0f} cycles (products {:.0f}, shared memory {:.0f}, copies {:.0f}{}{}), "
      "{:.0f} stages per tile; {:.0f} more cycles pass before and after, with {} tiles on the "
      "busiest SM. "
      "The power cap is left out.",
      pass_ms > 0 ? fmt::format("Before the product A and B are split, {:.3g} of {:.3g} ms. ",
                                pass_ms, p.ms)
                  : "",
      step_cycles, step.products, step.shared, step.copies,
      turn > 0 ? fmt::format(", {:.0f} until all have met", turn) : "",
      t.promotes ? fmt::format(", promotion {:.0f}", step.promotion) : "", steps, first + last,
      t.evenly ? fmt::format("{:.2f}", rounds) : fmt::format("{:.0f}", rounds));
  return p;
}

}  // namespace ladder::analyse
