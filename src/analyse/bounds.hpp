// SPDX-License-Identifier: Apache-2.0
// What a problem asks for whatever the kernel: operations, least traffic, and the two times that no
// kernel can beat on a machine.
#pragma once
#include <ladder/problem.hpp>

#include "analyse/machine.hpp"

namespace ladder::analyse {

struct Work {
  double flop = 0;                               // 2 m n k, and m n where C is added
  double a_bytes = 0, b_bytes = 0, c_bytes = 0;  // of the elements in use
  double read_bytes = 0,
         write_bytes = 0;  // least: each element once; C is read where beta is not 0
  double least_bytes() const { return read_bytes + write_bytes; }
  double intensity() const { return least_bytes() > 0 ? flop / least_bytes() : 0; }  // FLOP a byte
};
Work work_of(const Problem& problem);

struct Bounds {
  double ridge = 0;      // FLOP a byte from which on arithmetic binds
  double compute_s = 0;  // all operations at the peak
  double memory_s = 0;   // least traffic at the memory's bandwidth
  bool compute_binds() const { return compute_s >= memory_s; }
  double floor_s() const { return compute_s > memory_s ? compute_s : memory_s; }
};
// `peak` in FLOP/s; 0: the FP32 pipe's.
Bounds bounds_of(const Work& work, const Machine& machine, double peak = 0);

// What a kernel asks of global memory if no cache keeps anything.
struct Traffic {
  double loads_per_result = 0;  // elements
  double bytes = 0;
  double intensity = 0;   // FLOP a byte
  double over_least = 0;  // times the least traffic
};
Traffic uncached_traffic(const Problem& problem, double loads_per_result);

}  // namespace ladder::analyse
