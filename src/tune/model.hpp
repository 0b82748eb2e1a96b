// SPDX-License-Identifier: Apache-2.0
// How long a kernel might take, from what the virtual GPU counts and the compiler reports. A model
// for ranking tiles of one kernel where there is no GPU; it measures nothing. docs/tuning.md states
// it and how well it ranks.
#pragma once
#include <ladder/device.hpp>
#include <ladder/problem.hpp>

#include <optional>

#include "measure/count.hpp"

namespace ladder::tune {

// What an SM offers to blocks.
struct SmLimits {
  int warps = 64, blocks = 32, registers = 65536, shared_bytes = 233472;
};
SmLimits sm_limits(const Device& device);  // asks the CUDA runtime

// Blocks of an SM that fit at once.
int resident_blocks(const SmLimits& limits, int threads, int registers, int shared_bytes);

struct Prediction {
  double ms = 0;
  int blocks_per_sm = 0;
  double occupancy = 0;                  // resident warps over those an SM can hold
  double wavefronts_per_kilo_fma = 0;    // of shared memory, a thousand multiply-adds of a warp
  double shared_loads_per_kilo_fma = 0;  // requests of warps
};

// `counted` ran on `counted_problem`; the prediction is for `problem`. `step_k`: how much of K lies
// between two barriers that expose the latency of global loads.
std::optional<Prediction> predict(const Counters& counted, const Problem& counted_problem,
                                  const Problem& problem, const Device& device,
                                  const SmLimits& limits, int registers, int shared_bytes,
                                  int step_k);

}  // namespace ladder::tune
