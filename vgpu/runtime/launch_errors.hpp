// SPDX-License-Identifier: Apache-2.0
// Errors of launches that the program has not asked for. The stub of a kernel, which <<<>>> calls,
// drops what cudaLaunchKernel returns: without cudaGetLastError the program does not learn that its
// kernel did not run.
#pragma once
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/check_report.hpp"

namespace vgpu {

class LaunchErrors {
 public:
  void note(const Finding& error);  // of the calling thread, which keeps the first one
  void asked();              // by the calling thread
  void clear();
  std::vector<Finding> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, Finding> first_;
};

}  // namespace vgpu
