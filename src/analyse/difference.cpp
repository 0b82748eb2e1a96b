// SPDX-License-Identifier: Apache-2.0
#include "analyse/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ladder::analyse {
namespace {

constexpr double kNotable = 0.05;  // smaller relative changes explain nothing

double loads(const Explanation& e, bool shared) {
  if (!e.subject.tile) return -1;
  const Loads l = loads_per_result(*e.subject.tile, e.problem.k);
  return shared ? l.shared_loads : l.global_loads;
}

double counted(const Explanation& e, const char* metric) {
  for (const Compared& c : e.counters) {
    if (c.metric == metric) return c.predicted;
  }
  return -1;
}

// used if the loops have no kind of product in common
constexpr std::string_view kAny = "instructions";

std::string percent(double change) {
  return fmt::format("{:.0f}% {}", std::abs(100 * change), change < 0 ? "less" : "more");
}

}  // namespace

std::vector<Compare> compare(const Explanation& a, const Explanation& b) {
  std::vector<Compare> list;
  const auto add = [&](const std::string& name, double x, double y) {
    if (x >= 0 && y >= 0) list.push_back({name, x, y});
  };
  const Observation &sa = a.subject.seen, &sb = b.subject.seen;
  add("threads per block", sa.threads, sb.threads);
  add("registers per thread", sa.registers, sb.registers);
  add("shared memory per block, B", sa.shared_bytes, sb.shared_bytes);
  add("global loads per result", loads(a, false), loads(b, false));
  add("shared loads per result", loads(a, true), loads(b, true));
  for (const auto& [name, metric] :
       {std::pair{"global load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
        {"global load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
        {"global store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
        {"barriers", "vgpu__barriers_executed.sum"}}) {
    add(name, counted(a, metric), counted(b, metric));
  }
  if (a.prediction && b.prediction) {
    const Prediction &pa = *a.prediction, &pb = *b.prediction;
    add("resident warps", pa.occupancy.warps, pb.occupancy.warps);
    add("resident blocks", pa.occupancy.blocks, pb.occupancy.blocks);
    for (const Pipe& pipe : pa.pipes) add(pipe.name + ", ms busy", pipe.ms, pb.pipe_ms(pipe.name));
    add("predicted ms", pa.ms, pb.ms);
    add("predicted TFLOP/s", pa.tflops, pb.tflops);
  }
  if (a.measured && b.measured) {
    add("measured ms", a.measured->ms, b.measured->ms);
    add("measured TFLOP/s", a.measured->tflops, b.measured->tflops);
  }
  return list;
}

std::string_view mix_unit(const Explanation& a, const Explanation& b) {
  const auto ma = mix_of(a.subject.body()), mb = mix_of(b.subject.body());
  for (const std::string_view product : {"HGMMA", "HMMA", "FFMA"}) {
    const std::string name(product);
    if (ma.contains(name) || mb.contains(name))
      return ma.contains(name) && mb.contains(name) ? product : kAny;
  }
  return kAny;
}

std::vector<Compare> compare_mixes(const Explanation& a, const Explanation& b) {
  std::vector<Compare> list;
  if (a.subject.code.empty() || b.subject.code.empty()) return list;
  const auto ma = mix_of(a.subject.body()), mb = mix_of(b.subject.body());
  std::set<std::string> names;
  for (const auto& entry : ma) names.insert(entry.first);
  for (const auto& entry : mb) names.insert(entry.first);
  const std::string unit(mix_unit(a, b));
  const auto share = [&](const std::map<std::string, int>& mix, const std::string& name) {
    const auto at = mix.find(name), products = mix.find(unit);
    int all = 0;
    for (const auto& entry : mix) all += entry.second;
    return at == mix.end() ? 0.0
                           : 1000.0 * at->second / (products == mix.end() ? all : products->second);
  };
  for (const std::string& name : names) list.push_back({name, share(ma, name), share(mb, name)});
  std::ranges::stable_sort(list, [](const Compare& x, const Compare& y) {
    return std::max(x.a, x.b) > std::max(y.a, y.b);
  });
  return list;
}

std::vector<std::string> why(const Explanation& a, const Explanation& b) {
  std::vector<std::string> sentences;
  if (!a.prediction || !b.prediction) {
    sentences.push_back(
        fmt::format("Not compared: {}", a.prediction ? b.no_prediction : a.no_prediction));
    return sentences;
  }
  const Prediction &pa = *a.prediction, &pb = *b.prediction;
  const double change = pb.tflops / pa.tflops - 1;
  std::string first = fmt::format("{} is predicted to be {:.3g} times as fast as {}", b.id,
                                  pb.tflops / pa.tflops, a.id);
  if (a.measured && b.measured)
    first += fmt::format(", and was measured to be {:.3g} times as fast",
                         b.measured->tflops / a.measured->tflops);
  sentences.push_back(first + ".");

  // The pipe that limits the slower kernel, and how its time changes.
  const Prediction& slower = change >= 0 ? pa : pb;
  const Explanation& slow = change >= 0 ? a : b;
  const Pipe& top = slower.pipes.front();
  const double before = pa.pipe_ms(top.name), after = pb.pipe_ms(top.name);
  if (before > 0 && std::abs(after / before - 1) >= kNotable) {
    sentences.push_back(
        fmt::format("{} uses {} of the busiest pipe of {} ({}, busy {:.0f}% of the time).", b.id,
                    percent(after / before - 1), slow.id, top.name, 100 * top.ms / slower.ms));
  }
  // Other instructions per multiply-add.
  double other_a = 0, other_b = 0;
  const Compare* most = nullptr;
  const std::string_view unit = mix_unit(a, b);
  const std::vector<Compare> mixes = unit == kAny ? std::vector<Compare>{} : compare_mixes(a, b);
  for (const Compare& c : mixes) {
    if (c.name == unit) continue;
    other_a += c.a;
    other_b += c.b;
    if (most == nullptr || std::abs(c.b - c.a) > std::abs(most->b - most->a)) most = &c;
  }
  if (most != nullptr && std::abs(other_b - other_a) >= 1000 * kNotable) {
    sentences.push_back(fmt::format(
        "Per 1000 {} it issues {:.0f} other instructions instead of {:.0f}; the largest "
        "difference is {}, {:.3g} instead of {:.3g}.",
        unit, other_b, other_a, most->name, most->b, most->a));
  }
  // Stalls: the share of the time in which even the busiest pipe is idle.
  const double wait_a = 1 - pa.busiest, wait_b = 1 - pb.busiest;
  if (std::abs(wait_b - wait_a) >= kNotable) {
    const bool alike =
        pa.occupancy.warps == pb.occupancy.warps && pa.occupancy.blocks == pb.occupancy.blocks;
    sentences.push_back(fmt::format(
        "It waits {}: its busiest pipe ({}) is idle {:.0f}% of the time, that of {} {:.0f}%{}.",
        wait_b < wait_a ? "less" : "more", pb.pipes.front().name, 100 * wait_b, a.id, 100 * wait_a,
        alike ? ""
              : fmt::format("; {} warps in {} blocks are resident instead of {} in {}",
                            pb.occupancy.warps, pb.occupancy.blocks, pa.occupancy.warps,
                            pa.occupancy.blocks)));
  }
  if (sentences.size() == 1)
    sentences.emplace_back("Pipes, instruction mix and idle time differ by less than 5%.");
  return sentences;
}

}  // namespace ladder::analyse
