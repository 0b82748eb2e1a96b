// SPDX-License-Identifier: Apache-2.0
// ladder tune: which point of a rung's search space is best on this device, found within a budget
// of time.
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
  kHalving      // a sample timed briefly, its better part longer; then the neighbours of the best
};
constexpr std::size_t kSmallSpace = 64;

enum class Basis { kTimed, kModelled };  // what candidates are ranked by

// What became of a point.
enum class Fate {
  kPassed,    // verified, and timed or modelled
  kSlow,      // verified; its first launch took over three times the best's, and was the only one
  kSpills,    // rejected by the compiler's report, never run
  kNotBuilt,  // the compiler refused it or took too long
  kWrong,     // rejected by verification
  kCrashed,   // its process died
  kHung       // its process was ended for taking too long
};
const char* to_string(Fate fate);

struct Candidate {
  Point point;
  Fate fate = Fate::kNotBuilt;
  std::string reason;  // one line where not passed
  Compiled compiled;
  std::vector<double> samples_ms;  // from the search
  double ms = 0;                   // their median, or the model's; 0 where there is none
  std::optional<Prediction> prediction;

  bool ranked() const { return fate == Fate::kPassed || fate == Fate::kSlow; }
};

// The last comparison: the best few, launched in turn.
struct Final {
  std::vector<std::size_t> entrants;  // candidates' indices, the winner first
  std::vector<double> median_ms;      // of each entrant
  double rounds_won = 0;              // fraction in which the winner beat the second
  double gap_over_mad = 0;            // median of the differences over their MAD
  std::size_t rounds = 0;
};

struct Options {
  double budget_s = 60;
  Strategy strategy = Strategy::kAuto;
  int jobs = 1;               // compilers at once
  std::size_t finalists = 4;  // besides the tile set by hand
  double trial_limit_s = 20;  // of a candidate in the worker, loading and verification included
  double compile_limit_s = 60;
  std::uint64_t seed = 1;
  std::vector<Point>
      first;  // tried right after the tile set by hand, e.g. the one that was tuned before
  std::vector<Point> only;  // where there are any: these and no others, whatever the strategy
  Stop interrupted;
  std::function<void(const std::string&)> progress;  // a line that replaces the one before
  std::function<void(const Tuning&)> keep;           // now and then, what is known so far
};

struct Job {
  const SearchSpace* space = nullptr;
  CompilerOptions compiler;
  std::vector<std::string> worker;  // the command of a process that calls serve()
  Device device;
  Problem problem;  // timed
  Problem counted;  // counted, on the virtual GPU, where the model then speaks of `problem`
};

struct Tuning {
  Basis basis = Basis::kTimed;
  std::string strategy;  // in words, with what was covered
  std::size_t space_size = 0;
  std::vector<Candidate> candidates;   // in the order they were tried
  std::optional<std::size_t> by_hand;  // the candidate set by hand, if it was tried
  std::optional<std::size_t> winner;   // of the final, else the best so far; none if nothing passed
  std::optional<Final> final;
  bool interrupted = true;  // until the search has ended by itself
  double seconds = 0;
  std::size_t compiled = 0, from_cache = 0;
  int worker_starts = 0;
};

// Errors: kInvalidArgument (no nvcc, no source, no point is allowed, or one of `first` or `only` is
// not), kIo.
Result<Tuning> tune(const Job& job, const Options& options);

}  // namespace ladder::tune
