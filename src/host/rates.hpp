// SPDX-License-Identifier: Apache-2.0
// What this machine's cores deliver when nothing else is asked of them: the roofs of the CPU rungs.
// Measured, since clocks, licences of wide vectors and shares of caches are nowhere to be read.
#pragma once

namespace ladder::host {

// Of `threads` threads together; rates are the best of several windows.
struct Rates {
  int threads = 0;
  const char* target = "";  // Highway's name of the instruction set: "AVX3"
  double clock_hz = 0;      // of one core: a chain of dependent additions, one a cycle
  double fma_flops = 0;  // FP32 operations a second of independent multiply-adds on whole vectors
  double fma_clock_hz = 0;  // of one core, under that load
  // The same with operands that a register tile reads from L1, two vectors and an element a row:
  // what a product can reach. Its instructions take no longer, but the core may lower its clock
  // under the load.
  double tile_flops = 0;
  double tile_clock_hz = 0;  // of one core, under that load
  double l1_bandwidth = 0, l2_bandwidth = 0,
         memory_bandwidth = 0;  // bytes read a second; 0 if out of memory
};

// Takes about half a second, with caches and memory of its own filled anew.
Rates measure_rates(int threads);

}  // namespace ladder::host
