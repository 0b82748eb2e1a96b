// SPDX-License-Identifier: Apache-2.0
// The counters files of a program's processes, once it has ended (runtime/counters_file.hpp).
#pragma once
#include <string>
#include <vector>

namespace vgpu::app {

struct CountersFiles {
  std::vector<std::string> paths;  // one per process, the first process's first
  std::vector<std::string>
      errors;  // of those that are missing or incomplete; a process has told why it failed itself
  bool failed = false;  // some process could not write its file
};

// Puts the files of processes that were killed in their places. `claims`: the folder that the
// processes were given.
CountersFiles finish_counters(const std::string& claims);

}  // namespace vgpu::app
