// SPDX-License-Identifier: Apache-2.0
// ladder explain --accuracy: tables of predictions against measurements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analyse/explanation.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "measure/statistics.hpp"
#include "report/table.hpp"

namespace ladder::app {
namespace {

// relative difference below which rates are equal, as in `bench --compare`
constexpr double kTolerance = 0.02;

// The median error of the predictions; "-" if nothing was measured.
std::string median_error(const std::vector<analyse::Explanation>& all, bool tensor) {
  std::vector<double> errors;
  for (const analyse::Explanation& e : all) {
    if (!e.prediction || !e.measured || (e.peak != e.machine.peak_flops()) != tensor) continue;
    errors.push_back(100 * std::abs(analyse::at_measured_clock(e) / e.measured->tflops - 1));
  }
  if (errors.empty()) return "-";
  return fmt::format("{:.1f}% (at most {:.1f}%)", describe(errors).median,
                     *std::ranges::max_element(errors));
}

// The bound by the hot loop's busiest pipe, against measurements.
std::string schedule_table(const std::vector<analyse::Explanation>& all) {
  constexpr double kExplained = 0.1;
  std::string table =
      "| kernel | binding pipe | slots | bound TFLOP/s | measured | measured / bound | left out |\n"
      "|---|---|---:|---:|---:|---:|---|\n";
  for (const analyse::Explanation& e : all) {
    if (!e.prediction || !e.measured) continue;
    const auto &own = e.subject.tile, &seen = e.subject.seen_tile;
    if (own && seen && own->parameters != seen->parameters) continue;  // other machine code
    const analyse::Prediction& p = *e.prediction;
    const int warps = analyse::looping_warps(e.subject);
    const analyse::PipeSlots* const pipe = e.schedule.binding(warps, e.machine);
    if (pipe == nullptr) continue;
    const double cycles =
        pipe->bound(warps, e.machine) * p.waves.blocks * p.rounds / e.machine.sm_count;
    const double simulated = analyse::at_measured_clock(e);
    const double bound = e.work.flop / cycles * e.machine.clock_hz / 1e12 * (simulated / p.tflops);
    const double ratio = e.measured->tflops / bound;
    std::string left_out;
    if (std::abs(ratio - 1) > kExplained && e.peak != e.machine.peak_flops()) {
      left_out = fmt::format(
          "waits between products: for copies, for the first stage of a tile, for other launches; "
          "modelled in part, with them {}",
          figure(simulated));
    } else if (std::abs(ratio - 1) > kExplained) {
      const bool waits = std::abs(simulated / e.measured->tflops - 1) <= kExplained;
      left_out = fmt::format(
          "{}: {} warps per SM; barriers {}, scoreboard waits in sequence {} per iteration; "
          "{:.0f}% of the block slots of all waves used; simulated with them {}",
          waits ? "latency that the warps do not hide" : "not explained by the simulated latencies",
          p.occupancy.warps, e.schedule.barriers, e.schedule.chain.size(), 100 * p.waves.used,
          figure(simulated));
    }
    table += fmt::format("| {} | {} | {} | {} | {} | {:.2f} | {} |\n", e.id, pipe->name,
                         pipe->slots, figure(bound), figure(e.measured->tflops), ratio, left_out);
  }
  return table;
}

}  // namespace

int print_accuracy(const std::vector<analyse::Explanation>& all, const analyse::Machine& machine,
                   const std::string& into) {
  std::string table =
      "| kernel | predicted TFLOP/s | at the measured clock | measured | error | limited by |\n"
      "|---|---:|---:|---:|---:|---|\n";
  std::vector<std::pair<double, double>> pairs;
  for (const analyse::Explanation& e : all) {
    if (!e.prediction) {
      table += fmt::format("| {} | - | - | {} | - | {} |\n", e.id,
                           e.measured ? figure(e.measured->tflops) : "-", e.no_prediction);
      continue;
    }
    const analyse::Prediction& p = *e.prediction;
    const double at_clock = analyse::at_measured_clock(e);
    table += fmt::format(
        "| {} | {} | {} | {} | {} | {} |\n", e.id, figure(p.tflops), figure(at_clock),
        e.measured ? figure(e.measured->tflops) : "-",
        e.measured ? fmt::format("{:+.1f}%", 100 * (at_clock / e.measured->tflops - 1)) : "-",
        p.limiter);
    if (e.measured) pairs.emplace_back(at_clock, e.measured->tflops);
  }
  int swapped = 0, ordered = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.size(); ++j) {
      if (std::abs(pairs[i].second / pairs[j].second - 1) <= kTolerance) continue;
      ((pairs[i].first < pairs[j].first) == (pairs[i].second < pairs[j].second) ? ordered
                                                                                : swapped) += 1;
    }
  }
  table += fmt::format(
      "\n{}, 4096: of {} pairs of kernels whose rates differ by more than 2% {} are in the "
      "measured order.\n"
      "Median of the errors, without their signs: CUDA cores {}, tensor cores {}.\n",
      machine.name, ordered + swapped, ordered, median_error(all, false), median_error(all, true));
  const std::string schedules = schedule_table(all);
  if (into.empty()) {
    fmt::print("{}\n{}", table, schedules);
    return kOk;
  }
  const auto first =
      required(splice(required(read_file(into), "--into"), "accuracy", table), "--into");
  const auto both = required(splice(first, "schedule", schedules), "--into");
  write_file(into, both, "--into");
  return kOk;
}

}  // namespace ladder::app
