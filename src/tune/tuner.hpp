// SPDX-License-Identifier: Apache-2.0
// `ladder tune`: searches a rung's search space for the best point on this device within a time
// budget.
#pragma once
#include <ladder/device.hpp>
#include <ladder/problem.hpp>
#include <ladder/search.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tune/compile.hpp"
#include "tune/model.hpp"
#include "tune/worker.hpp"

namespace ladder::tune {

struct Tuning;

enum class Strategy {
  kAuto,        // exhaustive up to kSmallSpace points, else halving
  kExhaustive,  // every point in a fixed order
  // times a sample briefly, its better part for longer, then the neighbours of the best
  kHalving
};
constexpr std::size_t kSmallSpace = 64;

enum class Basis { kTimed, kModelled };  // what candidates are ranked by

// Outcome of a point.
enum class Fate {
  kPassed,    // verified, and timed or modelled
  kSlow,      // verified; its only launch took more than three times the best candidate's time
  kSpills,    // rejected because of the compiler's report; not run
  kNotBuilt,  // the compiler refused it or took too long
  kWrong,     // rejected by verification
  kCrashed,   // its process died
  kHung       // its process was killed at the time limit
};
const char* to_string(Fate fate);

struct Candidate {
  Point point;
  Fate fate = Fate::kNotBuilt;
  std::string reason;  // one line, if not passed
  Compiled compiled;
  std::vector<double> samples_ms;  // from the search
  double ms = 0;                   // median of the samples, or the model's estimate; 0: none
  std::optional<Prediction> prediction;

  bool ranked() const { return fate == Fate::kPassed || fate == Fate::kSlow; }
};

// The final comparison: the best few, launched in alternation.
struct Final {
  std::vector<std::size_t> entrants;  // candidates' indices, the winner first
  std::vector<double> median_ms;      // per entrant
  double rounds_won = 0;              // fraction of rounds in which the winner beat the second
  double gap_over_mad = 0;            // median / MAD of their differences per round
  std::size_t rounds = 0;
};

struct Options {
  double budget_s = 60;
  Strategy strategy = Strategy::kAuto;
  int jobs = 1;               // parallel compilations
  std::size_t finalists = 4;  // in addition to the hand-set tile
  double trial_limit_s = 20;  // per candidate in the worker, including loading and verification
  double compile_limit_s = 60;
  std::uint64_t seed = 1;
  std::vector<Point> first;  // tried directly after the hand-set tile, e.g. an earlier winner
  std::vector<Point> only;   // if not empty, only these are tried, whatever the strategy
  Stop interrupted;
  // receives a line that replaces the previous one
  std::function<void(const std::string&)> progress;
  std::function<void(const Tuning&)> keep;  // called periodically with the results so far
};

struct Job {
  const SearchSpace* space = nullptr;
  CompilerOptions compiler;
  std::vector<std::string> worker;  // command of a process that calls serve()
  Device device;
  Problem problem;  // to be timed
  Problem counted;  // counted on the virtual GPU; the model extrapolates from it to `problem`
};

struct Tuning {
  Basis basis = Basis::kTimed;
  std::string strategy;  // description, including the share of the space that was covered
  std::size_t space_size = 0;
  std::vector<Candidate> candidates;   // in the order they were tried
  std::optional<std::size_t> by_hand;  // the hand-set candidate, if it was tried
  // of the final comparison, else the best so far; empty if nothing passed
  std::optional<std::size_t> winner;
  std::optional<Final> final;
  bool interrupted = true;  // false once the search has ended by itself
  double seconds = 0;
  std::size_t compiled = 0, from_cache = 0;
  int worker_starts = 0;
};

// Errors: kInvalidArgument (no nvcc, no source, no allowed point, or a point of `first` or `only`
// is not allowed), kIo.
Result<Tuning> tune(const Job& job, const Options& options);

}  // namespace ladder::tune
