// SPDX-License-Identifier: Apache-2.0
// What a process found: faults in launches that went on, and launches that failed unnoticed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"
#include "runtime/check_report.hpp"

namespace vgpu {

// What checks found in launches that went on: each once, however often it recurs.
class FoundList {
 public:
  static constexpr std::size_t kMostPrinted = 100;

  enum class Seen { kBefore, kNew, kNewNotPrinted };  // not printed: there were too many before
  Seen note(const Fault& fault, std::uint64_t times);
  void clear() { *this = {}; }
  // How often each was found, and how many were not printed. "" if all were printed and were found
  // once.
  std::string summary() const;

 private:
  struct Entry {
    std::string text;
    std::uint64_t times = 0;
  };
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_identity_;
};

// Errors of launches that the program has not asked for. The stub of a kernel, which <<<>>> calls,
// drops what cudaLaunchKernel returns: without cudaGetLastError the program does not learn that its
// kernel did not run.
class LaunchErrors {
 public:
  void note(const Finding& error);  // of the calling thread, which keeps the first one
  void asked();                     // by the calling thread
  void clear();
  std::vector<Finding> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::thread::id, Finding> first_;
};

}  // namespace vgpu
