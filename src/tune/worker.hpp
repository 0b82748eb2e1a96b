// SPDX-License-Identifier: Apache-2.0
// Candidates run in a worker, a process of its own: one that crashes or hangs takes only itself
// along. The parent asks a line of JSON, the worker answers one.
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

// What all answers are about.
struct Assignment {
  Problem problem;  // to be timed; on the virtual GPU to be counted
  std::uint64_t seed = 1;
};

struct Answer {
  enum class Outcome {
    kPassed,    // verified, and timed or counted
    kRejected,  // by verification, or the library cannot be used
    kCrashed,   // the worker died
    kHung,      // the worker was killed for taking too long
    kStopped    // interrupted, or no time is left
  };
  Outcome outcome = Outcome::kRejected;
  std::string reason;                        // one line where not passed
  std::vector<std::vector<double>> samples;  // milliseconds, a list a library
  bool bailed_out = false;                   // so slow that it was timed once only
  std::optional<Counters> counters;          // on the virtual GPU
  bool last = false;                         // the worker's device is lost, and the worker with it
};

// The worker's side: answers until `in` ends. Never prints elsewhere than to `out`. `device` is
// where candidates run.
int serve(int in, int out, const Device& device);

// The parent's side; starts the worker's process when it is needed, and again after it died.
class Worker {
 public:
  Worker(std::vector<std::string> command, Assignment assignment, Deadline deadline, Stop stop)
      : command_(std::move(command)),
        assignment_(assignment),
        deadline_(deadline),
        stop_(std::move(stop)) {}

  // A few small problems verified, then `rounds` launches timed (or one counted). A first launch
  // that takes longer than `bail_ms` (0: any) stays the only one.
  Answer trial(const std::string& library, int rounds, double bail_ms, double limit_s);
  // The quick battery; where kernels are timed, the problem itself too.
  Answer verify(const std::string& library, double limit_s);
  // All launched in turn, round by round, for about `seconds`.
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
