// SPDX-License-Identifier: Apache-2.0
// The options of the program vgpu.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace vgpu::app {

struct Options {
  std::map<std::string, std::string> settings;  // vgpu::text_settings(), by their variables
  std::string counters, blas;
  bool fail_fast = false, no_reuse = false, print = false, source = false, verbose = false;
  std::string junit, sarif, baseline, tolerance;  // tolerance: by parse_tolerance
  bool github = false, update_baseline = false, estimates = false;
  std::vector<std::string> command;

  std::string setting(const std::string& variable) const;  // "" if it is not given
};

// Returns "" or the invalid option and the rule that it breaks.
std::string check_options(const Options& options);

// The text of a file; "" if it cannot be read.
std::string text_of(const std::string& path);

}  // namespace vgpu::app
