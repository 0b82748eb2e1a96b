// SPDX-License-Identifier: Apache-2.0
// What a run of a program found, in the forms that CI systems and code hosts show.
#pragma once
#include <string>
#include <vector>

#include "app/baseline.hpp"
#include "runtime/check_report.hpp"

namespace vgpu::app {

struct Outcome {
  std::string version;  // of vgpu
  std::vector<std::string> command;
  int status = 0;  // the program's
  double seconds = 0;
  std::vector<std::string> checks;  // the names of those that were on
  std::vector<Finding> findings;
  std::vector<std::string> errors;  // of files that could not be written
  bool compared = false;
  Comparison comparison;
  std::string baseline;  // its path
  std::string root;      // folder to which the paths of sources are relative
};

std::string junit(const Outcome& outcome);
std::string sarif(const Outcome& outcome);
// Lines for the log of a GitHub Action.
std::string github_annotations(const Outcome& outcome);

}  // namespace vgpu::app
