// SPDX-License-Identifier: Apache-2.0
// Times kernels side by side. After warm-up, each round launches every kernel once, so that all run
// at the same clocks. docs/measurement.md explains the method.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "measure/telemetry.hpp"

namespace ladder {

struct MeasureOptions {
  // Minimum; warm-up continues until times stop falling and clock and power settle.
  double warmup_s = 0.2;
  double budget_s = 1.5;   // measured time per kernel after which the measurement ends
  double settled_s = 0.3;  // measured time per kernel before `noise` may end the measurement
  double noise = 0.005;    // ends early if every kernel's MAD / median is at most this
  int min_samples = 5;     // taken regardless of the budget
  int max_samples = 500;
  double throttle = 0.9;  // samples at less than this share of the settled clock are discarded
  // CUDA: shorter launches are timed as a graph of many, and the time is divided by their number.
  double replay_below_ms = 0;
  bool cold = false;  // CUDA: rotate operand copies whose total size is at least twice the L2 cache
  // CUDA: a spin of this fraction of its time follows each rung, to test comparisons.
  double handicap = 0;
  std::uint64_t seed = 1;  // seed of the operands, which are uniform in [-1, 1)
  // Polled between rounds; true ends the measurement with the samples taken so far.
  std::function<bool()> interrupted;
};

struct Measurement {
  // per launch, in the order taken; empty if the measurement was read from a file
  std::vector<double> samples_ms;
  Statistics ms;
  TelemetrySummary telemetry;  // of the same period for all kernels
  double warmup_s = 0;
  int copies = 1;               // number of operand copies
  int launches_per_sample = 1;  // more than 1: launched as a graph
  std::size_t throttled = 0;    // number of discarded samples
  // Reasons not to trust the times; if there are any, no rate is shown.
  std::vector<std::string> alarms;
};

// Returns one Measurement per kernel. All kernels must run in the same place and have the same
// types, to which the problem is converted. They must accept `problem` and have been verified on
// it. Errors: kUnsupportedDevice on the virtual GPU, kOutOfMemory, kLaunchFailed.
Result<std::vector<Measurement>> measure(std::span<const KernelInfo* const> kernels,
                                         const Problem& problem, const Device& device,
                                         const MeasureOptions& options);

}  // namespace ladder
