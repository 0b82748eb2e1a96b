// SPDX-License-Identifier: Apache-2.0
// Estimates a kernel's time from the virtual GPU's counts and the compiler's report. The model
// ranks tiles of one kernel if there is no GPU; it measures nothing. docs/tuning.md describes the
// model and how well it ranks.
#pragma once
#include <ladder/device.hpp>
#include <ladder/problem.hpp>

#include <optional>

#include "measure/count.hpp"

namespace ladder::tune {

// Resources of one SM.
struct SmLimits {
  int warps = 64, blocks = 32, registers = 65536, shared_bytes = 233472;
};
SmLimits sm_limits(const Device& device);  // queries the CUDA runtime

// Resident blocks per SM.
int resident_blocks(const SmLimits& limits, int threads, int registers, int shared_bytes);

struct Prediction {
  double ms = 0;
  int blocks_per_sm = 0;
  double occupancy = 0;  // resident warps / maximum warps per SM
  // shared memory wavefronts per 1000 warp-level multiply-adds
  double wavefronts_per_kilo_fma = 0;
  double shared_loads_per_kilo_fma = 0;  // warp-level requests, likewise
};

// `counted` is from a run on `counted_problem`; the prediction is for `problem`. `step_k`: the
// extent of K between two barriers, where the latency of global loads is exposed.
std::optional<Prediction> predict(const Counters& counted, const Problem& counted_problem,
                                  const Problem& problem, const Device& device,
                                  const SmLimits& limits, int registers, int shared_bytes,
                                  int step_k);

}  // namespace ladder::tune
