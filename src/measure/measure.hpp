// SPDX-License-Identifier: Apache-2.0
// Times kernels side by side: after warm-up each round launches every kernel once, so that all see the same
// clocks.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "measure/statistics.hpp"
#include "measure/telemetry.hpp"

namespace ladder {

struct MeasureOptions {
  double warmup_s = 0.2;   // at least; it goes on until times stop falling
  double budget_s = 1.5;   // a kernel's share of measured time, after which it ends
  double settled_s = 0.3;  // a kernel's share of measured time before `noise` may end it
  double noise = 0.005;    // MAD over median of every kernel at which it ends early
  int min_samples = 5;     // whatever they take
  int max_samples = 500;
  bool cold = false;       // CUDA: rotate copies of the operands of at least twice the L2 cache in all
  std::uint64_t seed = 1;  // operands are uniform in [-1, 1)
  std::function<bool()>
      interrupted;  // asked between rounds; true ends the measurement with the samples it has
};

struct Measurement {
  std::vector<double> samples_ms;  // in the order they were taken
  Statistics ms;
  std::vector<Telemetry> telemetry;  // read now and then while measuring, of all kernels alike
  double warmup_s = 0;
  int copies = 1;  // of the operands
};

// One Measurement a kernel. All kernels must stand in the same place and have the same types, into which the problem is
// put; they accept and have been verified on
// `problem`. Errors: kUnsupportedDevice on the virtual GPU, kOutOfMemory, kLaunchFailed.
Result<std::vector<Measurement>> measure(std::span<const KernelInfo* const> kernels, const Problem& problem,
                                         const Device& device, const MeasureOptions& options);

// When warm-up ends: `windows` holds the median of each successive stretch of it.
bool times_stopped_falling(std::span<const double> windows);

}  // namespace ladder
