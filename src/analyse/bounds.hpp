// SPDX-License-Identifier: Apache-2.0
// Lower bounds of a problem that do not depend on the kernel: operations, minimum traffic, and the
// compute and memory times that no kernel can beat on a machine.
#pragma once
#include <ladder/problem.hpp>

#include "analyse/machine.hpp"

namespace ladder::analyse {

struct Work {
  double flop = 0;                               // 2 m n k, plus m n if beta is not 0
  double a_bytes = 0, b_bytes = 0, c_bytes = 0;  // of the elements in use
  // Minimum traffic: each element once; C is read only if beta is not 0.
  double read_bytes = 0, write_bytes = 0;
  double least_bytes() const { return read_bytes + write_bytes; }
  double intensity() const { return least_bytes() > 0 ? flop / least_bytes() : 0; }  // FLOP/byte
};
Work work_of(const Problem& problem);

struct Bounds {
  double ridge = 0;      // intensity in FLOP/byte above which arithmetic is the limit
  double compute_s = 0;  // all operations at the peak rate
  double memory_s = 0;   // minimum traffic at the device memory's bandwidth
  bool compute_binds() const { return compute_s >= memory_s; }
};
// `peak` is in FLOP/s; 0 selects the peak of the FP32 pipe.
Bounds bounds_of(const Work& work, const Machine& machine, double peak = 0);

// Global memory traffic of a kernel if no cache has any hits.
struct Traffic {
  double loads_per_result = 0;  // elements
  double bytes = 0;
  double intensity = 0;   // FLOP/byte
  double over_least = 0;  // multiple of the minimum traffic
};
Traffic uncached_traffic(const Problem& problem, double loads_per_result);

}  // namespace ladder::analyse
