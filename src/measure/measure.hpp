// SPDX-License-Identifier: Apache-2.0
// Times kernels side by side: after warm-up each round launches every kernel once, so that all see
// the same clocks. docs/measurement.md says why it is done so.
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
  double warmup_s =
      0.2;  // at least; it goes on until times stop falling and clock and power settle
  double budget_s = 1.5;   // a kernel's share of measured time, after which it ends
  double settled_s = 0.3;  // a kernel's share of measured time before `noise` may end it
  double noise = 0.005;    // MAD over median of every kernel at which it ends early
  int min_samples = 5;     // whatever they take
  int max_samples = 500;
  double throttle = 0.9;  // of the settled clock: samples taken below it are discarded
  double replay_below_ms =
      0;  // CUDA: a sample of a shorter launch is a graph of many, divided by their number
  bool cold = false;  // CUDA: rotate copies of the operands of at least twice the L2 cache in all
  double handicap =
      0;  // CUDA: rungs are followed by a spin of this part of their time, to test what compares
  std::uint64_t seed = 1;  // operands are uniform in [-1, 1)
  std::function<bool()>
      interrupted;  // asked between rounds; true ends the measurement with the samples it has
};

struct Measurement {
  std::vector<double> samples_ms;  // in the order they were taken; of one launch each
  Statistics ms;
  std::vector<Telemetry> telemetry;  // read now and then while measuring, of all kernels alike
  double warmup_s = 0;
  int copies = 1;               // of the operands
  int launches_per_sample = 1;  // more than one: replayed from a graph
  std::size_t throttled = 0;    // samples that were discarded
  std::vector<std::string>
      alarms;  // why the times cannot be believed; no rate is shown where there is one
};

// One Measurement a kernel. All kernels must stand in the same place and have the same types, into
// which the problem is put; they accept and have been verified on `problem`. Errors:
// kUnsupportedDevice on the virtual GPU, kOutOfMemory, kLaunchFailed.
Result<std::vector<Measurement>> measure(std::span<const KernelInfo* const> kernels,
                                         const Problem& problem, const Device& device,
                                         const MeasureOptions& options);

}  // namespace ladder
