// SPDX-License-Identifier: Apache-2.0
// Everything that is known of a kernel on a problem and a machine, put together: for people as
// text, for programs as JSON.
#pragma once
#include <ladder/kernel.hpp>

#include <optional>
#include <string>
#include <vector>

#include "analyse/predict.hpp"

namespace ladder::analyse {

// What Nsight Compute read of this kernel, and what the virtual GPU says of the same launch.
struct Compared {
  std::string metric;
  double predicted = 0;  // from the counts of smaller problems
  std::optional<double>
      modelled;  // from the machine code's hot loop and the merged accesses, where PTX misleads
  std::optional<double> counted;   // the same launch on the virtual GPU
  std::optional<double> profiled;  // on hardware
  bool certain = false;            // the virtual GPU calls it exact
};

struct Measured {
  double ms = 0, tflops = 0;
  std::string where;                // device and file
  std::optional<double> clock_mhz;  // of the SMs meanwhile, where it was read
};

struct Explanation {
  std::string id, idea;
  Machine machine;
  Problem problem;
  Work work;
  double peak = 0;  // FLOP/s that no kernel of this precision exceeds
  std::string peak_name;
  Bounds bounds;
  Subject subject;
  std::optional<Prediction> prediction;
  std::string no_prediction;  // why there is none
  std::vector<Compared> counters;
  std::optional<Measured> measured;
};

struct ExplainOptions {
  std::string code_file = "/proc/self/exe";  // whose fat binaries hold the kernel
};

// `device` is the virtual GPU this process runs on. Errors: those of observe().
Result<Explanation> explain(const KernelInfo& kernel, const Problem& problem,
                            const Machine& machine, const Device& device,
                            const ExplainOptions& options);

// The predicted TFLOP/s at the clock that was measured, where it is known: heat and the power cap
// are not predicted.
double at_measured_clock(const Explanation& explanation);

// Of the accesses of a warp the first of each kind (memory, width, cost, matrix or source line),
// most frequent first.
std::vector<LoopAccess> kinds_of_access(const Explanation& explanation);

std::vector<std::string> to_text(const Explanation& explanation);
std::string to_json(const Explanation& explanation);

// A number as people read it: "137 GFLOP", "268 MB".
std::string with_unit(double value, const std::string& unit);

}  // namespace ladder::analyse
