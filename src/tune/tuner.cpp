// SPDX-License-Identifier: Apache-2.0
#include "tune/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "problem/names.hpp"

#include "measure/statistics.hpp"

namespace ladder::tune {
namespace {

// of the budget, reserved for verifying and comparing the best
constexpr double kFinalShare = 0.2;
constexpr double kSampleShare = 0.5;  // of the search time, for the initial broad sample
// a candidate whose first launch is slower than the best by this factor is not launched again
constexpr double kSlowFactor = 3;
// Additional limit for a worker's first trial: starts the driver and the reference library.
constexpr double kWorkerStartS = 30;
constexpr double kKeepEveryS = 1;
// launches per candidate in the broad sample; each halving multiplies them
constexpr int kFirstRounds = 3;
constexpr int kHalvings = 2;
constexpr int kKeptOf = 4;  // a halving keeps one of this many
constexpr int kMoreRounds = 4;
constexpr std::size_t kCentres = 3;  // points whose neighbours are tried

double seconds_since(Deadline start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How certainly the first of two is faster, from the differences per round.
void compare_rounds(const std::vector<double>& winner, const std::vector<double>& second,
                    Final& final) {
  const std::size_t rounds = std::min(winner.size(), second.size());
  std::vector<double> gaps;
  double won = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    gaps.push_back(second[i] - winner[i]);
    won += gaps.back() > 0 ? 1 : (gaps.back() == 0 ? 0.5 : 0);
  }
  const Statistics gap = ladder::describe(gaps);
  final.rounds = rounds;
  final.rounds_won = rounds == 0 ? 0 : won / static_cast<double>(rounds);
  // If the differences do not vary, kMost stands for infinity, which JSON cannot represent.
  constexpr double kMost = 1e6;
  final.gap_over_mad =
      gap.mad > 0 ? std::min(gap.median / gap.mad, kMost) : (gap.median > 0 ? kMost : 0);
}

class Tuner {
 public:
  Tuner(const Job& job, const Options& options, const Compiler& compiler, Deadline start)
      : job_(job),
        options_(options),
        start_(start),
        end_(in_seconds(options.budget_s, start)),
        search_end_(in_seconds(options.budget_s * (1 - kFinalShare), start)),
        stop_([this] { return options_.interrupted && options_.interrupted(); }),
        pool_(compiler, options.jobs, options.compile_limit_s, search_end_, stop_),
        worker_(job.worker, {job.device.is_virtual ? job.counted : job.problem, options.seed}, end_,
                stop_),
        limits_(sm_limits(job.device)) {
    tuning_.basis = job.device.is_virtual ? Basis::kModelled : Basis::kTimed;
  }

  Tuning run() {
    const std::vector<Point> order = order_of_points();
    const bool exhaustive = !options_.only.empty() || options_.strategy == Strategy::kExhaustive ||
                            (options_.strategy == Strategy::kAuto && order.size() <= kSmallSpace);
    strategy_ = !options_.only.empty() ? "given points"
                : exhaustive           ? "exhaustive"
                                       : "successive halving and local search";
    points_ = order.size();
    if (exhaustive) {
      try_points(order, kFirstRounds * kMoreRounds, search_end_);
    } else {
      halve(order);
      climb();
    }
    describe_strategy();
    tuning_.winner = best(1).empty() ? std::nullopt : std::optional(best(1).front());
    if (!stop_() && tuning_.winner) compete();
    tuning_.interrupted = stop_();
    tuning_.seconds = seconds_since(start_);
    tuning_.worker_starts = worker_.starts();
    return std::move(tuning_);
  }

 private:
  void describe_strategy() {
    tuning_.strategy =
        fmt::format("{}, {} of {} points tried", strategy_, tuning_.candidates.size(), points_);
  }

  std::vector<Point> order_of_points() {
    std::vector<Point> order = shuffled_points(*job_.space, options_.seed);
    tuning_.space_size = order.size();
    if (!options_.only.empty()) return options_.only;
    std::size_t at = std::min<std::size_t>(1, order.size());  // the hand-set tile stays first
    for (const Point& point : options_.first) {
      const auto found = std::ranges::find(order, point);
      if (static_cast<std::size_t>(found - order.begin()) < at) continue;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(at++), found, found + 1);
    }
    return order;
  }

  bool over(Deadline end) const { return Clock::now() >= end || stop_(); }

  // Compiles and tries the points that are new, until `end`. The compilers stay a few points ahead.
  void try_points(const std::vector<Point>& points, int rounds, Deadline end) {
    std::size_t next = 0;
    const std::size_t ahead = 2 * pool_.threads();
    while (true) {
      while (next < points.size() && pool_.under_way() < ahead && !over(end)) {
        const Point& point = points[next++];
        if (index_.try_emplace(point, kUnderWay).second) pool_.submit(point);
      }
      auto done = pool_.next();
      if (!done) break;
      take(std::move(done->first), std::move(done->second), rounds);
      tell("searching");
    }
  }

  void take(Point point, Compiled compiled, int rounds) {
    using Built = Compiled::Outcome;
    const bool in_time = compiled.outcome != Built::kStopped &&
                         !(compiled.outcome == Built::kTimedOut && Clock::now() >= search_end_);
    // Points still queued at the end of the search would only take time from the final comparison.
    const bool too_late = Clock::now() >= search_end_ && !best(1).empty();
    if (!in_time || too_late) {
      index_.erase(point);
      return;
    }
    (compiled.cached ? tuning_.from_cache : tuning_.compiled) += 1;
    Candidate candidate;
    candidate.point = std::move(point);
    candidate.reason = compiled.reason;
    candidate.fate = compiled.outcome == Built::kSpills ? Fate::kSpills : Fate::kNotBuilt;
    candidate.compiled = std::move(compiled);
    if (candidate.compiled.outcome == Built::kOk && !run_trial(candidate, rounds)) {
      index_.erase(candidate.point);  // stopped before its result was known
      return;
    }
    const std::size_t at = tuning_.candidates.size();
    index_[candidate.point] = at;
    const auto& by_hand = job_.space->by_hand;
    if (std::ranges::equal(by_hand, candidate.point)) tuning_.by_hand = at;
    tuning_.candidates.push_back(std::move(candidate));
    keep();
  }

  // False if time ran out or the user interrupted.
  bool run_trial(Candidate& candidate, int rounds) {
    const double bail = best_ms() * kSlowFactor;
    const double limit = options_.trial_limit_s + (worker_.starts() == 0 ? kWorkerStartS : 0);
    const Answer answer = worker_.trial(candidate.compiled.library.string(), rounds, bail, limit);
    candidate.reason = answer.reason;
    switch (answer.outcome) {
      case Answer::Outcome::kStopped: return false;
      case Answer::Outcome::kRejected: candidate.fate = Fate::kWrong; return true;
      case Answer::Outcome::kCrashed: candidate.fate = Fate::kCrashed; return true;
      case Answer::Outcome::kHung: candidate.fate = Fate::kHung; return true;
      case Answer::Outcome::kPassed: break;
    }
    candidate.fate = answer.bailed_out ? Fate::kSlow : Fate::kPassed;
    if (tuning_.basis == Basis::kModelled) {
      model(candidate, answer);
    } else if (!answer.samples.empty()) {
      candidate.samples_ms.insert(candidate.samples_ms.end(), answer.samples.front().begin(),
                                  answer.samples.front().end());
      candidate.ms = ladder::describe(candidate.samples_ms).median;
    }
    return true;
  }

  void model(Candidate& candidate, const Answer& answer) {
    int step_k = static_cast<int>(job_.problem.k);
    for (std::size_t i = 0; i < candidate.point.size(); ++i) {
      if (job_.space->parameters[i].name == "BK") step_k = candidate.point[i];
    }
    if (answer.counters)
      candidate.prediction =
          predict(*answer.counters, job_.counted, job_.problem, job_.device, limits_,
                  candidate.compiled.registers, candidate.compiled.shared_bytes, step_k);
    if (candidate.prediction) {
      candidate.ms = candidate.prediction->ms;
    } else {
      candidate.fate = Fate::kWrong;
      candidate.reason = "does not fit an SM, or its launches cannot be modelled";
    }
  }

  // Indices of the best `count` passed candidates, best first.
  std::vector<std::size_t> best(std::size_t count) const {
    std::vector<std::size_t> passed;
    for (std::size_t i = 0; i < tuning_.candidates.size(); ++i) {
      if (tuning_.candidates[i].fate == Fate::kPassed) passed.push_back(i);
    }
    std::ranges::stable_sort(passed, [this](std::size_t a, std::size_t b) {
      return tuning_.candidates[a].ms < tuning_.candidates[b].ms;
    });
    passed.resize(std::min(count, passed.size()));
    return passed;
  }

  double best_ms() const {
    const auto first = best(1);
    return first.empty() ? 0 : tuning_.candidates[first.front()].ms;
  }

  // Successive halving: times a sample briefly, then repeatedly a smaller part of it for longer.
  void halve(const std::vector<Point>& order) {
    const double share = (1 - kFinalShare) * kSampleShare;
    try_points(order, kFirstRounds, in_seconds(options_.budget_s * share, start_));
    if (tuning_.basis == Basis::kModelled) return;  // a model gives the same result again
    std::size_t count = tuning_.candidates.size();
    int rounds = kFirstRounds;
    for (int i = 0; i < kHalvings; ++i) {
      count = std::max<std::size_t>(options_.finalists, count / kKeptOf);
      rounds *= kMoreRounds;
      for (const std::size_t at : best(count)) {
        if (over(search_end_)) return;
        (void)run_trial(tuning_.candidates[at], rounds);
        tell("timing the better ones again");
        keep();
      }
    }
  }

  // Tries the neighbours of the best few until none is new.
  void climb() {
    while (!over(search_end_)) {
      std::vector<Point> around;
      for (const std::size_t at : best(kCentres)) {
        for (Point& point : neighbours(*job_.space, tuning_.candidates[at].point)) {
          if (index_.count(point) == 0) around.push_back(std::move(point));
        }
      }
      if (around.empty()) return;
      const std::size_t before = tuning_.candidates.size();
      try_points(around, kFirstRounds * kMoreRounds, search_end_);
      if (tuning_.candidates.size() == before) return;
    }
  }

  // Final comparison: verifies the best few and the hand-set tile in full, then times them
  // together.
  void compete() {
    std::vector<std::size_t> entrants;
    std::vector<std::size_t> wanted = best(options_.finalists);
    if (tuning_.by_hand && tuning_.candidates[*tuning_.by_hand].fate == Fate::kPassed &&
        std::ranges::find(wanted, *tuning_.by_hand) == wanted.end())
      wanted.push_back(*tuning_.by_hand);
    for (const std::size_t at : wanted) {
      if (over(end_)) break;
      tell("verifying the best");
      Candidate& candidate = tuning_.candidates[at];
      const Answer answer = worker_.verify(candidate.compiled.library.string(),
                                           options_.trial_limit_s + kWorkerStartS);
      if (answer.outcome == Answer::Outcome::kStopped) break;
      if (answer.outcome == Answer::Outcome::kPassed) {
        entrants.push_back(at);
        continue;
      }
      candidate.fate = answer.outcome == Answer::Outcome::kRejected ? Fate::kWrong
                       : answer.outcome == Answer::Outcome::kHung   ? Fate::kHung
                                                                    : Fate::kCrashed;
      candidate.reason = answer.reason;
    }
    const auto now_best = best(1);
    tuning_.winner = now_best.empty() ? std::nullopt : std::optional(now_best.front());
    if (tuning_.basis == Basis::kTimed && entrants.size() > 1) side_by_side(entrants);
  }

  void side_by_side(const std::vector<std::size_t>& entrants) {
    tell("the best, launched in turn");
    const double left = std::chrono::duration<double>(end_ - Clock::now()).count();
    std::vector<std::string> libraries;
    libraries.reserve(entrants.size());
    for (const std::size_t at : entrants)
      libraries.push_back(tuning_.candidates[at].compiled.library.string());
    // Half of the remaining time is for setup before the first round.
    const Answer answer = worker_.rivals(libraries, left / 2, left);
    if (answer.outcome != Answer::Outcome::kPassed || answer.samples.size() != entrants.size())
      return;
    std::vector<std::pair<double, std::size_t>> ranking;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      ranking.emplace_back(ladder::describe(answer.samples[i]).median, i);
    }
    std::ranges::sort(ranking);
    Final final;
    for (const auto& [ms, i] : ranking) {
      final.entrants.push_back(entrants[i]);
      final.median_ms.push_back(ms);
    }
    compare_rounds(answer.samples[ranking[0].second], answer.samples[ranking[1].second], final);
    tuning_.winner = final.entrants.front();
    tuning_.final = std::move(final);
  }

  void tell(const char* doing) {
    if (!options_.progress) return;
    std::string line = fmt::format("{:.0f} of {:.0f} s, {}: {} tried", seconds_since(start_),
                                   options_.budget_s, doing, tuning_.candidates.size());
    if (const auto first = best(1); !first.empty()) {
      const Candidate& leader = tuning_.candidates[first.front()];
      line += fmt::format(", best {:.3f} ms{}: {}", leader.ms,
                          tuning_.basis == Basis::kModelled ? " (model)" : "",
                          describe(*job_.space, leader.point));
    }
    options_.progress(line);
  }

  void keep() {
    if (!options_.keep || seconds_since(kept_) < kKeepEveryS) return;
    kept_ = Clock::now();
    tuning_.winner = best(1).empty() ? std::nullopt : std::optional(best(1).front());
    tuning_.seconds = seconds_since(start_);
    describe_strategy();
    options_.keep(tuning_);
  }

  static constexpr std::size_t kUnderWay = static_cast<std::size_t>(-1);
  const Job& job_;
  const Options& options_;
  Deadline start_, end_, search_end_;
  Deadline kept_{};
  Stop stop_;
  CompilePool pool_;
  Worker worker_;
  SmLimits limits_;
  Tuning tuning_;
  const char* strategy_ = "";
  std::size_t points_ = 0;              // points that the strategy may try
  std::map<Point, std::size_t> index_;  // index of each candidate by its point
};

}  // namespace

const char* to_string(Fate fate) {
  return name_of<Fate::kHung>(
      fate, {"passed", "slow", "spills", "not_built", "wrong", "crashed", "hung"});
}

Result<Tuning> tune(const Job& job, const Options& options) {
  const Deadline start = Clock::now();
  if (all_points(*job.space).empty())
    return Status(Code::kInvalidArgument,
                  std::string(job.space->rung) + ": its search space has no allowed point");
  for (const std::vector<Point>* points : {&options.first, &options.only}) {
    for (const Point& point : *points) {
      if (!job.space->allowed(point))
        return Status(Code::kInvalidArgument,
                      fmt::format("{}: the tile {} is not in its search space", job.space->rung,
                                  values_text(point)));
    }
  }
  auto compiler = Compiler::open(*job.space, job.compiler, in_seconds(options.budget_s, start),
                                 options.interrupted);
  if (!compiler) return compiler.status();
  return Tuner(job, options, compiler.value(), start).run();
}

}  // namespace ladder::tune
