// SPDX-License-Identifier: Apache-2.0
// Finishes the counters files of a program's processes after it has ended
// (runtime/counters_file.hpp).
#pragma once
#include <string>
#include <vector>

namespace vgpu::app {

struct CountersFiles {
  std::vector<std::string> paths;  // one per process; the first process's file comes first
  // for missing or incomplete files; a process that failed to write has printed the reason itself
  std::vector<std::string> errors;
  bool failed = false;  // a process could not write its file
};

// Renames the part files of processes that were killed to their final names. `claims` is the folder
// that was passed to the processes.
CountersFiles finish_counters(const std::string& claims);

}  // namespace vgpu::app
