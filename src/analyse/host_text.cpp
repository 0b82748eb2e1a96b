// SPDX-License-Identifier: Apache-2.0
// Writes a CPU rung's explanation and comparisons as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analyse/explanation.hpp"
#include "analyse/host_explanation.hpp"
#include "report/table.hpp"

namespace ladder::analyse {
namespace {

constexpr double kNotable = 0.05;

double per_flop(double bytes, const HostExplanation& e) {
  return e.work.flop > 0 ? bytes / e.work.flop : 0;
}

}  // namespace

std::vector<std::string> to_text(const HostExplanation& e) {
  std::vector<std::string> lines;
  const auto say = [&]<class... Args>(fmt::format_string<Args...> text, Args&&... args) {
    lines.push_back(fmt::format(text, std::forward<Args>(args)...));
  };
  const HostMachine& m = e.machine;
  say("{}, {} on {}, {} thread{}", e.id, to_string(e.problem), m.cpu, m.threads,
      m.threads == 1 ? "" : "s");
  say("{}", e.idea);
  say("");
  say("THE PROBLEM");
  say("  work           {}", with_unit(e.work.flop, "FLOP"));
  say("  least traffic  {}, {:.0f} FLOP/B", with_unit(e.work.least_bytes(), "B"),
      e.work.intensity());
  say("");
  say("THE MACHINE, measured just now");
  say("  clock          {:.2f} GHz{}", m.clock_hz * 1e-9,
      m.fma_clock_hz > 0 && m.tile_clock_hz > 0
          ? fmt::format("; {:.2f} under multiply-adds, {:.2f} under those with operands from L1",
                        m.fma_clock_hz * 1e-9, m.tile_clock_hz * 1e-9)
          : "");
  say("  peak           {:.0f} GFLOP/s of multiply-adds ({}, {} floats a vector: {:.2f} of them "
      "start in a cycle of a core)",
      m.fma_flops * 1e-9, m.target, m.vector_bytes / 4, m.multiply_adds_per_cycle());
  say("  from L1        {:.0f} GFLOP/s with operands that a register tile reads ({:.2f} a cycle)",
      m.tile_flops * 1e-9, m.fed_per_cycle());
  say("  reads          {:.0f} GB/s from L1 ({:.2f} vectors a cycle), {:.0f} from L2, {:.0f} from "
      "L3, {:.1f} from memory",
      m.l1_bandwidth * 1e-9, m.loads_per_cycle(), m.l2_bandwidth * 1e-9, m.l3_bandwidth * 1e-9,
      m.memory_bandwidth * 1e-9);
  say("  addition       {:.1f} cycles until the next one may use it", m.add_cycles);
  say("  caches         {}, {}, {}", with_unit(m.l1_bytes, "B"), with_unit(m.l2_bytes, "B"),
      with_unit(m.l3_bytes, "B"));
  say("  ridge          {:.1f} FLOP/B against memory, {:.1f} against L2: {} binds at the least "
      "traffic",
      m.ridge(), m.fma_flops / m.l2_bandwidth,
      e.work.intensity() >= m.ridge() ? "arithmetic" : "memory");
  say("");
  say("TRAFFIC, by the rung's blocks and the sizes of the caches");
  for (const auto& [level, bytes, rate] : {std::tuple{"L2", e.traffic.l2, m.l2_bandwidth},
                                           {"L3", e.traffic.l3, m.l3_bandwidth},
                                           {"memory", e.traffic.memory, m.memory_bandwidth}})
    say("  from {:<9} {:>10}, {:.4f} B/FLOP{}", level, with_unit(bytes, "B"), per_flop(bytes, e),
        bytes > 0 ? fmt::format(": no more than {:.0f} GFLOP/s",
                                std::min(m.fma_flops, rate / per_flop(bytes, e)) * 1e-9)
                  : "");
  if (e.loop) {
    const HostMix& mix = e.loop->mix;
    say("");
    say("THE HOT LOOP of {}, {} instructions per round", e.function->name, mix.instructions);
    say("  products       {:.0f}, by {} arithmetic instructions of {} bits{}", mix.multiplies,
        mix.arithmetic, mix.vector_bytes * 8, mix.fused ? ", fused" : "");
    say("  loads, stores  {}, {}: {:.2f} a product instruction", mix.loads, mix.stores,
        static_cast<double>(mix.loads + mix.stores) / std::max(1, mix.arithmetic));
    say("  chain          {}", mix.chained == 0
                                   ? "no sum goes on from round to round"
                                   : fmt::format("{} addition{} a round wait for one another",
                                                 mix.chained, mix.chained == 1 ? "" : "s"));
    std::vector<std::pair<int, std::string>> names;
    for (const auto& [name, count] : mix.names) names.emplace_back(count, name);
    std::ranges::stable_sort(names, [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr std::size_t kMost = 8;
    for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i)
      say("  {:<14} {:>4}", names[i].second, names[i].first);
  }
  say("");
  say("PREDICTION");
  if (const auto& p = e.prediction) {
    for (const Pipe& pipe : p->pipes)
      say("  {:<38}{:>10} ms {:>6.1f}%", pipe.name, figure(pipe.ms), 100 * pipe.ms / p->ms);
    say("  predicted      {} ms, {:.1f} GFLOP/s, {:.1f}% of the peak; limited by {}", figure(p->ms),
        p->tflops * 1e3, 100 * p->tflops * 1e12 / m.fma_flops, p->limiter);
    say("  {}", p->why);
  } else {
    say("  none: {}", e.no_prediction);
  }
  if (e.measured_ms) {
    say("  measured       {} ms, {:.1f} GFLOP/s, {:.1f}% of the peak{}", figure(*e.measured_ms),
        e.measured_gflops(), 100 * e.measured_gflops() * 1e9 / m.fma_flops,
        e.prediction ? fmt::format("; predicted {:+.1f}%",
                                   100 * (e.prediction->tflops * 1e3 / e.measured_gflops() - 1))
                     : "");
  }
  return lines;
}

std::vector<Compare> compare(const HostExplanation& a, const HostExplanation& b) {
  std::vector<Compare> rows;
  const auto row = [&](const char* name, double x, double y) {
    if (x != 0 || y != 0) rows.push_back({name, x, y});
  };
  row("threads", a.machine.threads, b.machine.threads);
  row("bytes from L2 per FLOP", per_flop(a.traffic.l2, a), per_flop(b.traffic.l2, b));
  row("bytes from L3 per FLOP", per_flop(a.traffic.l3, a), per_flop(b.traffic.l3, b));
  row("bytes from memory per FLOP", per_flop(a.traffic.memory, a), per_flop(b.traffic.memory, b));
  if (a.loop && b.loop) {
    const HostMix &x = a.loop->mix, &y = b.loop->mix;
    row("bits of a vector", 8 * x.vector_bytes, 8 * y.vector_bytes);
    row("instructions per round", x.instructions, y.instructions);
    row("products per round", x.multiplies, y.multiplies);
    row("instructions per product", x.instructions / x.multiplies, y.instructions / y.multiplies);
    row("loads and stores per product", (x.loads + x.stores) / x.multiplies,
        (y.loads + y.stores) / y.multiplies);
    row("additions that wait, per round", x.chained, y.chained);
  }
  const Prediction pa = a.prediction.value_or(Prediction{}),
                   pb = b.prediction.value_or(Prediction{});
  for (const Pipe& p : pa.pipes) row((p.name + ", ms").c_str(), p.ms, pb.pipe_ms(p.name));
  row("predicted GFLOP/s", pa.tflops * 1e3, pb.tflops * 1e3);
  if (a.measured_ms && b.measured_ms)
    row("measured GFLOP/s", a.measured_gflops(), b.measured_gflops());
  return rows;
}

std::vector<std::string> why(const HostExplanation& a, const HostExplanation& b) {
  std::vector<std::string> sentences;
  if (a.measured_ms && b.measured_ms)
    sentences.push_back(fmt::format("{} was measured to be {:.3g} times as fast as {}.", b.id,
                                    *a.measured_ms / *b.measured_ms, a.id));
  if (!a.prediction || !b.prediction) {
    sentences.push_back(
        fmt::format("No sentence on why: {}", a.prediction ? b.no_prediction : a.no_prediction));
    return sentences;
  }
  const Prediction &pa = *a.prediction, &pb = *b.prediction;
  sentences.push_back(
      fmt::format("{} is predicted to be {:.3g} times as fast: {} is limited by {}, {} by {}.",
                  b.id, pa.ms / pb.ms, a.id, pa.limiter, b.id, pb.limiter));
  const Prediction& slow = pa.ms >= pb.ms ? pa : pb;
  const double before = pa.pipe_ms(slow.limiter), after = pb.pipe_ms(slow.limiter);
  if (std::abs(after - before) > kNotable * before)
    sentences.push_back(after > 0 ? fmt::format("{} takes {:.3g} ms of {} where {} takes {:.3g}.",
                                                b.id, after, slow.limiter, a.id, before)
                                  : fmt::format("{} takes nothing of {}, {} {:.3g} ms.", b.id,
                                                slow.limiter, a.id, before));
  return sentences;
}

}  // namespace ladder::analyse
