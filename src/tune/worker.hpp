// SPDX-License-Identifier: Apache-2.0
// Runs candidates in a worker process, so that a crash or hang ends only the worker. Each request
// and each answer is one line of JSON.
#pragma once
#include <ladder/device.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/count.hpp"
#include "tune/process.hpp"

namespace ladder::tune {

// Parameters common to all requests.
struct Assignment {
  Problem problem;  // to be timed, or on the virtual GPU to be counted
  std::uint64_t seed = 1;
};

struct Answer {
  enum class Outcome {
    kPassed,    // verified, and timed or counted
    kRejected,  // by verification, or because the library cannot be used
    kCrashed,   // the worker died
    kHung,      // the worker was killed at the time limit
    kStopped    // interrupted, or no time left
  };
  Outcome outcome = Outcome::kRejected;
  std::string reason;                        // one line, if not passed
  std::vector<std::vector<double>> samples;  // milliseconds, one list per library
  bool bailed_out = false;                   // so slow that it was timed only once
  std::optional<Counters> counters;          // on the virtual GPU
  bool last = false;                         // the worker's device is lost and the worker exits
};

// Worker side: answers requests until `in` ends. Writes only to `out`. `device` runs the
// candidates.
int serve(int in, int out, const Device& device);

// Parent side: starts the worker process on demand, and again after it died.
class Worker {
 public:
  Worker(std::vector<std::string> command, Assignment assignment, Deadline deadline, Stop stop)
      : command_(std::move(command)),
        assignment_(assignment),
        deadline_(deadline),
        stop_(std::move(stop)) {}

  // Verifies a few small problems, then times `rounds` launches, or counts one. If the first launch
  // takes longer than `bail_ms` (0: no limit), it is the only one.
  Answer trial(const std::string& library, int rounds, double bail_ms, double limit_s);
  // Runs the quick battery, and the problem itself if kernels are timed.
  Answer verify(const std::string& library, double limit_s);
  // Launches all in alternation, round by round, for about `seconds`.
  Answer rivals(const std::vector<std::string>& libraries, double seconds, double limit_s);

  int starts() const { return starts_; }

 private:
  Answer ask(const std::string& request, double limit_s);

  std::vector<std::string> command_;
  Assignment assignment_;
  Deadline deadline_;
  Stop stop_;
  std::optional<Child> child_;
  int starts_ = 0;
};

}  // namespace ladder::tune
