// SPDX-License-Identifier: Apache-2.0
// The options of the program vgpu.
#pragma once
#include <string>
#include <vector>

namespace vgpu::app {

struct Options {
  std::string device, check, counters, threads, schedule, numerics, engine, blas;
  std::string kernel, launch_skip, launch_count, sample_blocks,
      timeout;  // validated by the parsers of settings.hpp
  bool fail_fast = false, no_reuse = false, print = false, source = false, verbose = false;
  std::string junit, sarif, baseline, tolerance;  // tolerance: by parse_tolerance
  bool github = false, update_baseline = false, estimates = false;
  std::vector<std::string> command;
};

// Returns "" or the invalid option and the rule that it breaks.
std::string check_options(const Options& options);

// The text of a file; "" if it cannot be read.
std::string text_of(const std::string& path);

}  // namespace vgpu::app
