// SPDX-License-Identifier: Apache-2.0
#include "tune/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "report/json_text.hpp"

namespace ladder::tune {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kShown = 8;

std::string real_name(std::string gpu) {
  if (const auto mark = gpu.find(" (virtual)"); mark != std::string::npos) gpu.resize(mark);
  return gpu;
}

// From the final comparison if it includes the candidate, else from the search.
double best_known_ms(const Tuning& outcome, std::size_t at) {
  if (outcome.final) {
    const auto& entrants = outcome.final->entrants;
    const auto found = std::ranges::find(entrants, at);
    if (found != entrants.end())
      return outcome.final->median_ms[static_cast<std::size_t>(found - entrants.begin())];
  }
  return outcome.candidates[at].ms;
}

// The finalists in their order, then the others by time.
std::vector<std::size_t> ranking(const Tuning& outcome) {
  std::vector<std::size_t> order;
  if (outcome.final) order = outcome.final->entrants;
  const std::size_t fixed = order.size();
  for (std::size_t i = 0; i < outcome.candidates.size(); ++i) {
    if (outcome.candidates[i].fate == Fate::kPassed && std::ranges::find(order, i) == order.end())
      order.push_back(i);
  }
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(fixed), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return outcome.candidates[a].ms < outcome.candidates[b].ms;
                   });
  return order;
}

std::string tile_cells(const Job& job, const Point* point) {
  std::string cells;
  for (std::size_t i = 0; i < job.space->parameters.size(); ++i) {
    const std::string_view name = job.space->parameters[i].name;
    const std::size_t width = std::max<std::size_t>(4, name.size());
    cells += point == nullptr ? fmt::format("{:>{}}  ", name, width)
                              : fmt::format("{:>{}}  ", (*point)[i], width);
  }
  return cells;
}

std::string row(const Job& job, const Tuning& outcome, std::size_t at) {
  const Candidate& c = outcome.candidates[at];
  const double ms = best_known_ms(outcome, at);
  std::string line = tile_cells(job, &c.point) +
                     fmt::format("{:>4}  {:>6}", c.compiled.registers, c.compiled.shared_bytes);
  if (c.prediction) {
    line +=
        fmt::format("  {:>6}  {:>6.0f}%  {:>8.1f}  {:>8.1f}  {:>8.4g}", c.prediction->blocks_per_sm,
                    100 * c.prediction->occupancy, c.prediction->shared_loads_per_kilo_fma,
                    c.prediction->wavefronts_per_kilo_fma, ms);
  } else {
    line += fmt::format("  {:>8.4g}  {:>8.0f}", ms, gflops(job.problem, ms));
  }
  if (outcome.winner == at) line += "  winner";
  if (outcome.by_hand == at) line += "  set by hand";
  return line;
}

std::string fates(const Tuning& outcome) {
  std::string text;
  for (const Fate fate : {Fate::kPassed, Fate::kSlow, Fate::kSpills, Fate::kNotBuilt, Fate::kWrong,
                          Fate::kCrashed, Fate::kHung}) {
    const auto n = std::ranges::count(outcome.candidates, fate, &Candidate::fate);
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, to_string(fate));
  }
  return text;
}

OrderedJson null_or(double value) { return value > 0 ? OrderedJson(value) : OrderedJson(nullptr); }

OrderedJson candidate_json(const Job& job, const Tuning& outcome, const Candidate& c,
                           std::size_t at) {
  OrderedJson json;
  for (std::size_t i = 0; i < c.point.size(); ++i)
    json["parameters"][std::string(job.space->parameters[i].name)] = c.point[i];
  json["status"] = to_string(c.fate);
  json["reason"] = c.reason;
  json["registers"] = c.compiled.registers;
  json["spill_bytes"] = c.compiled.spill_bytes;
  json["shared_bytes"] = c.compiled.shared_bytes;
  const double ms = c.ranked() ? best_known_ms(outcome, at) : 0;
  const bool timed = outcome.basis == Basis::kTimed;
  json["ms"] = timed ? null_or(ms) : OrderedJson(nullptr);
  json["gflops"] = timed ? null_or(gflops(job.problem, ms)) : OrderedJson(nullptr);
  json["samples_ms"] = c.samples_ms;
  json["model"] = nullptr;
  if (c.prediction)
    json["model"] = {{"ms", c.prediction->ms},
                     {"blocks_per_sm", c.prediction->blocks_per_sm},
                     {"occupancy", c.prediction->occupancy},
                     {"shared_loads_per_1000_fma", c.prediction->shared_loads_per_kilo_fma},
                     {"shared_wavefronts_per_1000_fma", c.prediction->wavefronts_per_kilo_fma}};
  return json;
}

// Null if the text is not JSON.
OrderedJson parsed(const std::string& text) try {
  return parse_json<OrderedJson>(text);
} catch (const std::exception&) {
  return nullptr;
}

OrderedJson confidence(const Tuning& outcome) {
  if (!outcome.final) return nullptr;
  return {{"rounds", outcome.final->rounds},
          {"rounds_won", outcome.final->rounds_won},
          {"gap_over_mad", outcome.final->gap_over_mad}};
}

}  // namespace

double gflops(const Problem& problem, double ms) { return ms > 0 ? flops(problem) / ms * 1e-6 : 0; }

std::vector<std::string> table(const Job& job, const Tuning& outcome) {
  std::vector<std::string> lines;
  const bool timed = outcome.basis == Basis::kTimed;
  lines.push_back(
      fmt::format("{}, {}, {}", job.space->rung, job.device.name, to_string(job.problem)));
  if (!timed)
    lines.push_back(
        "ranked by a model of counters and resources: its times are not those of any GPU; LDS/kFMA "
        "and wav/kFMA are shared loads and wavefronts per 1000 multiply-adds");
  const auto order = ranking(outcome);
  if (!order.empty()) {
    lines.push_back(
        tile_cells(job, nullptr) + "regs    smem" +
        (timed ? "        ms   GFLOP/s" : "  blk/SM  occup'y  LDS/kFMA  wav/kFMA  model ms"));
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i)
      lines.push_back(row(job, outcome, order[i]));
    const auto hand = outcome.by_hand ? std::ranges::find(order, *outcome.by_hand) : order.end();
    if (hand != order.end() && static_cast<std::size_t>(hand - order.begin()) >= kShown)
      lines.push_back(row(job, outcome, *hand));
  }
  lines.push_back(fmt::format("{}: {}", outcome.strategy, fates(outcome)));
  lines.push_back(fmt::format("{:.1f} s, {} compiled, {} from the cache, {} worker{}",
                              outcome.seconds, outcome.compiled, outcome.from_cache,
                              outcome.worker_starts, outcome.worker_starts == 1 ? "" : "s"));
  if (!outcome.winner) {
    lines.emplace_back("no candidate passed");
  } else if (outcome.final) {
    lines.push_back(fmt::format(
        "winner: {}; won {:.0f}% of {} rounds against the next, median gap {:.1f} MAD",
        describe(*job.space, outcome.candidates[*outcome.winner].point),
        100 * outcome.final->rounds_won, outcome.final->rounds, outcome.final->gap_over_mad));
  } else {
    lines.push_back(fmt::format("{}: {}{}", timed ? "best so far" : "best by the model",
                                describe(*job.space, outcome.candidates[*outcome.winner].point),
                                timed ? "; not compared side by side" : ""));
  }
  return lines;
}

std::string to_json(const Job& job, const Tuning& outcome, const Provenance& provenance,
                    const std::optional<Agreement>& with) {
  OrderedJson json{{"schema", "ladder-tuning"},
                   {"version", 1},
                   {"rung", job.space->rung},
                   {"gpu", job.device.name},
                   {"basis", outcome.basis == Basis::kTimed ? "timed" : "model"},
                   {"problem", {{"m", job.problem.m}, {"n", job.problem.n}, {"k", job.problem.k}}},
                   {"date", provenance.date},
                   {"ladder", provenance.version},
                   {"commit", provenance.commit},
                   {"driver", provenance.driver},
                   {"compiler", provenance.compiler},
                   {"strategy", outcome.strategy},
                   {"space_size", outcome.space_size},
                   {"seconds", outcome.seconds},
                   {"interrupted", outcome.interrupted},
                   {"compiled", outcome.compiled},
                   {"from_cache", outcome.from_cache},
                   {"worker_starts", outcome.worker_starts}};
  json["winner"] = outcome.winner ? OrderedJson(*outcome.winner) : OrderedJson(nullptr);
  json["by_hand"] = outcome.by_hand ? OrderedJson(*outcome.by_hand) : OrderedJson(nullptr);
  json["confidence"] = confidence(outcome);
  json["agreement"] = nullptr;
  if (with)
    json["agreement"] = {{"candidates", with->candidates},
                         {"rank_correlation", with->rank_correlation},
                         {"first_choice", with->first_choice},
                         {"best_of_ten", with->best_of_ten}};
  json["candidates"] = OrderedJson::array();
  for (std::size_t i = 0; i < outcome.candidates.size(); ++i)
    json["candidates"].push_back(candidate_json(job, outcome, outcome.candidates[i], i));
  return json_text(json, 1) + "\n";
}

std::string tuned_file_name(const std::string& gpu) {
  std::string name = real_name(gpu);
  if (name.starts_with("NVIDIA ")) name.erase(0, std::string("NVIDIA ").size());
  for (char& ch : name) {
    const auto byte = static_cast<unsigned char>(ch);
    ch = std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return name + ".json";
}

Status check_tuned_file(const std::string& before, const Job& job) {
  if (before.empty()) return Status::ok();
  const std::string gpu = real_name(job.device.name);
  const OrderedJson json = parsed(before);
  if (!json.is_object() || !json.contains("gpu") || !json.contains("rungs") ||
      !json["rungs"].is_object())
    return {Code::kIo, "is no tuned file"};
  if (json["gpu"] != gpu)
    return {Code::kIo, fmt::format("is of another GPU, {}, not {}", json_text(json["gpu"]), gpu)};
  return Status::ok();
}

Result<std::string> tuned_file(const std::string& before, const Job& job, const Tuning& outcome,
                               const Provenance& provenance) {
  if (!outcome.winner)
    return Status(Code::kInvalidArgument, "no candidate passed: nothing to save");
  const std::string gpu = real_name(job.device.name);
  OrderedJson json{{"gpu", gpu}, {"rungs", OrderedJson::object()}};
  if (Status status = check_tuned_file(before, job); !status) return status;
  if (!before.empty()) json = parsed(before);
  const double ms = best_known_ms(outcome, *outcome.winner);
  const bool timed = outcome.basis == Basis::kTimed;
  OrderedJson entry;
  for (const Parameter& parameter : job.space->parameters)
    entry["parameters"].push_back(parameter.name);
  entry["values"] = outcome.candidates[*outcome.winner].point;
  entry["problem"] = to_string(job.problem);
  entry["basis"] = timed ? "timed" : "model";
  entry["gflops"] = timed ? null_or(gflops(job.problem, ms)) : OrderedJson(nullptr);
  entry["by_hand_gflops"] =
      timed && outcome.by_hand
          ? null_or(gflops(job.problem, best_known_ms(outcome, *outcome.by_hand)))
          : OrderedJson(nullptr);
  entry["confidence"] = confidence(outcome);
  entry["strategy"] = outcome.strategy;
  entry["seconds"] = outcome.seconds;
  entry["interrupted"] = outcome.interrupted;
  entry["date"] = provenance.date;
  entry["ladder"] = provenance.version;
  entry["commit"] = provenance.commit;
  entry["driver"] = provenance.driver;
  entry["compiler"] = provenance.compiler;
  json["rungs"][std::string(job.space->rung)] = std::move(entry);
  return json_text(json, 1) + "\n";
}

}  // namespace ladder::tune
