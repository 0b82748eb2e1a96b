// SPDX-License-Identifier: Apache-2.0
#include "bench_run.hpp"

#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>

#include "operands/buffer.hpp"

namespace ladder::app {
namespace {

constexpr double kGroupSpread = 4;      // ratio of the slowest to the fastest kernel of a round
constexpr double kBothProofs = 0x1p38;  // FLOP up to which a shape is also verified with integers

// Verification of the shape itself: integers detect any wrong index, uniform values give the errors
// of the row.
std::vector<Case> proof_of(const Problem& problem, std::uint64_t seed) {
  std::vector<Case> cases = cases_of(problem, seed);
  std::erase_if(cases, [&](const Case& which) {
    return which.input.values == Values::kScaled ||
           (which.input.values == Values::kIntegers && flops(problem) > kBothProofs);
  });
  return cases;
}

void refuse(Row& row, const std::string& why) {
  row.verdict.outcome = Outcome::kRefused;
  row.verdict.reason = why;
  row.note = "not run: " + why;
}

bool is_done(const std::vector<Row>& done, const Row& row, bool cold) {
  return std::ranges::any_of(done, [&](const Row& other) {
    return other.kernel == row.kernel && other.problem == row.problem &&
           (!other.timing || (other.timing->copies > 1) == cold);
  });
}

}  // namespace

bool Bench::run(const std::vector<Row>& done) {
  for (const Problem& problem : plan_.problems) {
    for (const KernelInfo* kernel : plan_.kernels) {
      printer_.expect(
          make_row(*kernel, in_types_of(*kernel, problem), device_of(*kernel, target_)));
    }
  }
  for (const Problem& problem : plan_.problems) {
    verdicts_.clear();
    for (const bool cold : plan_.cold) {
      if (!run_problem(problem, cold, done)) return false;
      if (lost_) device_lost_();
    }
  }
  return true;
}

bool Bench::run_problem(const Problem& problem, bool cold, const std::vector<Row>& done) {
  std::vector<Entry> entries;
  for (const KernelInfo* kernel : plan_.kernels) {
    Entry entry{kernel,
                make_row(*kernel, in_types_of(*kernel, problem), device_of(*kernel, target_)), 0};
    if (!is_done(done, entry.row, cold)) entries.push_back(std::move(entry));
  }
  // Kernels in the same place with the same types share operands.
  while (!entries.empty()) {
    const Place place = entries.front().kernel->place;
    const Problem typed = entries.front().row.problem;
    std::vector<Entry> here;
    std::vector<Entry> others;
    for (Entry& entry : entries) {
      const bool together = entry.kernel->place == place && entry.row.problem == typed;
      (together ? here : others).push_back(std::move(entry));
    }
    entries = std::move(others);
    auto session = Session::open(place, typed, device_of(*here.front().kernel, target_), cold,
                                 plan_.measure.seed);
    for (Entry& entry : here) {
      if (interrupted()) break;
      if (lost_) break;
      if (!session) {
        entry.waiting = false;
        refuse(entry.row, session.status().message());
      } else {
        prepare(entry, session.value());
      }
    }
    if (session && !interrupted()) time_groups(here, session.value());
    for (Entry& entry : here) {
      const bool finished =
          entry.row.timing || !entry.row.note.empty() || !entry.row.verdict.cases.empty();
      if (interrupted() && !finished) continue;
      if (lost_ && entry.waiting) continue;  // left to the process that takes over
      printer_.row(entry.row);
      recorder_.add(std::move(entry.row));
    }
    if (interrupted()) return false;
  }
  return true;
}

// True if a launch would take too long even at the best rate so far. The rate on the previous shape
// says little: that may have had one column.
bool Bench::too_slow(Entry& entry) {
  const auto rate = rates_.find(entry.kernel->id);
  if (rate == rates_.end()) return false;
  const double seconds = flops(entry.row.problem) / rate->second.flops_per_s;
  if (!(seconds > plan_.max_launch_s)) return false;
  refuse(
      entry.row,
      fmt::format("a launch would take about {} s by the rate at {}, over the {} s of --max-launch",
                  figure(seconds), rate->second.shape, figure(plan_.max_launch_s)));
  return true;
}

// Everything before timing: checks accepts() and the estimated time, verifies, and probes the
// launch time.
void Bench::prepare(Entry& entry, Session& session) {
  Row& row = entry.row;
  const KernelInfo& kernel = *entry.kernel;
  entry.waiting = false;
  if (Status status = accepts(kernel, row.problem, row.device); !status)
    return refuse(row, status.message());
  if (too_slow(entry)) return;
  printer_.progress(fmt::format("{}: verifying {}", kernel.id, to_string(row.problem)));
  row.verdict = verdict_of(kernel, row.problem);
  for (const CaseResult& result : row.verdict.cases) {
    if (result.problem == row.problem && result.input.values == Values::kUniform)
      row.errors = result.errors;
  }
  if (row.verdict.outcome == Outcome::kRefused) row.note = "not run: " + row.verdict.reason;
  if (kernel.place == Place::kCuda && !synchronize()) lost_ = true;
  if (!row.verdict.ok() || lost_ || interrupted()) return;
  const auto probe = session.probe_ms(kernel);
  if (!probe) return not_timed(entry, probe.status());
  if (probe.value() * 1e-3 > plan_.max_launch_s) {
    row.note = fmt::format("not timed: a launch takes {} s, over the {} s of --max-launch",
                           figure(probe.value() * 1e-3), figure(plan_.max_launch_s));
    return;
  }
  entry.probe_ms = probe.value();
  entry.waiting = true;
}

Verdict Bench::verdict_of(const KernelInfo& kernel, const Problem& problem) {
  if (const auto known = verdicts_.find(kernel.id); known != verdicts_.end()) return known->second;
  VerifyOptions options;
  options.interrupted = interrupted;
  const Device& device = device_of(kernel, target_);
  std::vector<CaseResult> results =
      verify(kernel, proof_of(problem, plan_.measure.seed), device, options, store_).cases;
  if (!plan_.battery.empty()) {
    std::vector<CaseResult>& battery = battery_results_[kernel.id];
    if (battery.empty()) battery = verify(kernel, plan_.battery, device, options, store_).cases;
    results.insert(results.end(), battery.begin(), battery.end());
  }
  return verdicts_[kernel.id] = summarize(std::move(results));
}

const KernelInfo* Bench::baseline_of(const KernelInfo& kernel) const {
  if (!plan_.own_baseline || plan_.baseline != nullptr)
    return plan_.baseline != nullptr && plan_.baseline->place == kernel.place ? plan_.baseline
                                                                              : nullptr;
  return ladder::baseline_of(kernel);
}

// Groups kernels of similar speed with the same baseline and the same units (CUDA cores or tensor
// cores) into shared rounds. A slow kernel would cost the others samples, and a kernel that reaches
// the power cap would lower their clock.
void Bench::time_groups(std::vector<Entry>& entries, Session& session) {
  std::vector<Entry*> waiting;
  for (Entry& entry : entries) {
    if (entry.probe_ms > 0) waiting.push_back(&entry);
  }
  std::ranges::stable_sort(
      waiting, [](const Entry* a, const Entry* b) { return a->probe_ms < b->probe_ms; });
  while (!waiting.empty() && !interrupted() && !lost_) {
    const Entry& first = *waiting.front();
    std::vector<Entry*> group;
    for (Entry* entry : waiting) {
      if (group.size() < plan_.group_size && entry->probe_ms <= kGroupSpread * first.probe_ms &&
          baseline_of(*entry->kernel) == baseline_of(*first.kernel) &&
          (entry->kernel->precision == Precision::kIeee) ==
              (first.kernel->precision == Precision::kIeee))
        group.push_back(entry);
    }
    std::erase_if(waiting,
                  [&](Entry* entry) { return std::ranges::find(group, entry) != group.end(); });
    time_group(group, session);
  }
}

void Bench::time_group(const std::vector<Entry*>& group, Session& session) {
  const Problem& problem = group.front()->row.problem;
  const KernelInfo* baseline = baseline_of(*group.front()->kernel);
  bool usable = baseline != nullptr && accepts(*baseline, problem, device_of(*baseline, target_));
  std::string why_not;  // a baseline that accepts the problem but fails on it is reported
  if (usable) {
    const Verdict verdict = verdict_of(*baseline, problem);
    usable = verdict.ok();
    if (!usable)
      why_not = fmt::format("compared with nothing: {} is {}: {}", baseline->id,
                            to_string(verdict.outcome), verdict.reason);
  }
  std::vector<const KernelInfo*> kernels;
  std::string names;
  for (const Entry* entry : group) {
    kernels.push_back(entry->kernel);
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         entry->kernel->rung.substr(0, entry->kernel->rung.find('_')));
  }
  std::size_t baseline_at = kernels.size();
  if (usable) {
    baseline_at = static_cast<std::size_t>(std::ranges::find(kernels, baseline) - kernels.begin());
    if (baseline_at == kernels.size()) kernels.push_back(baseline);
  }
  printer_.progress(fmt::format("timing {}: {}", to_string(problem), names));
  auto results = session.measure(kernels, plan_.measure);
  if (!results) {
    if (kernels.front()->place == Place::kCuda && !synchronize()) lost_ = true;
    if (group.size() == 1) {
      not_timed(*group.front(), results.status());
    } else if (!lost_) {
      // the others must not fail because of one
      for (Entry* entry : group) time_group({entry}, session);
    }
    return;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Row& row = group[i]->row;
    group[i]->waiting = false;
    row.timing = results.value()[i];
    row.device = rated_device_of(*group[i]->kernel, target_);
    if (usable)
      row.baseline = BaselineTiming{std::string(baseline->id), results.value()[baseline_at]};
    if (!row.timing->alarms.empty()) row.note = "not believed: " + row.timing->alarms.front();
    if (row.note.empty()) row.note = why_not;
    if (row.note.empty() && plan_.measure.handicap > 0 && group[i]->kernel->role != Role::kBaseline)
      row.note =
          fmt::format("slowed by {:g}% on purpose (--handicap)", 100 * plan_.measure.handicap);
    if (!(flops(problem) > 0)) continue;
    Rate& best = rates_[group[i]->kernel->id];
    const double rate = flops(problem) / (row.timing->ms.median * 1e-3);
    if (rate > best.flops_per_s) best = {rate, to_string(problem)};
  }
}

void Bench::not_timed(Entry& entry, const Status& status) {
  entry.waiting = false;
  entry.row.note = "not timed: " + status.message();
  if (entry.kernel->place == Place::kCuda && !synchronize()) lost_ = true;
}

}  // namespace ladder::app
