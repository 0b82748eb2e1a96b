// SPDX-License-Identifier: Apache-2.0
// Measures the peak rates of this machine's cores without other load: the roofs of the CPU rungs.
// Clocks, frequency limits of wide vectors and cache shares are not reported anywhere.
#pragma once

namespace ladder::host {

// Totals of `threads` threads; each rate is the best of several windows.
struct Rates {
  int threads = 0;
  const char* target = "";  // Highway's name of the instruction set, such as "AVX3"
  double clock_hz = 0;      // one core, from a chain of dependent additions, one per cycle
  double fma_flops = 0;  // FP32 operations per second, independent multiply-adds on whole vectors
  double fma_clock_hz = 0;  // one core, under that load
  // The same with operands read from L1 as a register tile reads them (two vectors, plus one
  // element per row): the rate that a product can reach. The instructions take no longer, but the
  // core may lower its clock under this load.
  double tile_flops = 0;
  double tile_clock_hz = 0;  // one core, under that load
  // Read bandwidth, bytes/s; 0 if out of memory.
  double l1_bandwidth = 0, l2_bandwidth = 0, memory_bandwidth = 0;
};

// Takes about 0.5 s; allocates and fills its own buffers.
Rates measure_rates(int threads);

}  // namespace ladder::host
