// SPDX-License-Identifier: Apache-2.0
// Everything known about a kernel on a problem and a machine: as text for people and as JSON for
// programs.
#pragma once
#include <ladder/kernel.hpp>

#include <optional>
#include <string>
#include <vector>

#include "analyse/predict.hpp"
#include "analyse/schedule.hpp"

namespace ladder::analyse {

// One metric: as predicted, as counted on the virtual GPU, and as measured by Nsight Compute.
struct Compared {
  std::string metric;
  double predicted = 0;  // extrapolated from the counts of smaller problems
  // From the machine code's hot loop and the merged accesses, where counting PTX is misleading.
  std::optional<double> modelled;
  std::optional<double> counted;   // the same launch on the virtual GPU
  std::optional<double> profiled;  // on hardware
  bool certain = false;            // the virtual GPU guarantees that this metric is exact
};

struct Measured {
  double ms = 0, tflops = 0;
  std::string where;                // device and file name
  std::optional<double> clock_mhz;  // SM clock during the measurement, if it was recorded
};

// What is known of a kernel that is explained from its machine code, without a launch.
struct CodeOnly {
  int local_bytes = 0;         // per thread: spilled registers, local arrays
  int local_accesses = 0;      // instructions
  bool block_assumed = false;  // the block is kAssumedThreads
  std::string loop;            // what the explained loop is
};

struct Explanation {
  std::string id, idea;
  std::optional<CodeOnly> code_only;  // then there is no problem, no access, no prediction
  Machine machine;
  Problem problem;
  Work work;
  double peak = 0;  // FLOP/s; upper bound for every kernel of this precision
  std::string peak_name;
  Bounds bounds;
  Subject subject;
  Schedule schedule;  // of the hot loop; empty without machine code
  std::optional<Prediction> prediction;
  std::string no_prediction;  // reason if `prediction` is empty
  std::vector<Compared> counters;
  std::optional<Measured> measured;
};

struct ExplainOptions {
  std::string code_file = "/proc/self/exe";  // file whose fat binaries contain the kernel
};

// `device` is the virtual GPU of this process. Errors: see observe().
Result<Explanation> explain(const KernelInfo& kernel, const Problem& problem,
                            const Machine& machine, const Device& device,
                            const ExplainOptions& options);

// Explains machine code that is not launched: resources, occupancy and the schedule of its hot
// loop. Accesses are taken to be coalesced and without bank conflicts. `threads` per block; 0:
// those of __launch_bounds__, or kAssumedThreads.
inline constexpr int kAssumedThreads = 256;
Explanation explain_code(const FileKernel& kernel, const Machine& machine, int threads);

// The predicted TFLOP/s scaled to the measured clock, where one was recorded. The model predicts
// neither temperature nor the power cap.
double at_measured_clock(const Explanation& explanation);

// One representative access of each kind (memory, width, cost, matrix or source line), most
// frequent kind first.
std::vector<LoopAccess> kinds_of_access(const Explanation& explanation);

std::vector<std::string> to_text(const Explanation& explanation);
std::string to_json(const Explanation& explanation);

// Formats a number with a decimal prefix: "137 GFLOP", "268 MB".
std::string with_unit(double value, const std::string& unit);

}  // namespace ladder::analyse
