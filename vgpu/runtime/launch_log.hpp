// SPDX-License-Identifier: Apache-2.0
// The record of what was launched: kept for vgpuCountersJson, and written to the counters file launch by
// launch, so that the file is whole whichever way the program ends.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"

namespace vgpu {

struct LaunchRecord {
  std::string kernel;  // demangled
  Dim3 grid, block;
  LaunchReport report;
};

std::string to_json(const LaunchRecord& record);  // one object, on one line

class LaunchLog {
 public:
  // Where the log goes from now on; "" for nowhere. Returns "" or what is wrong with the file.
  std::string open(std::string_view device, const std::string& file);
  void add(const LaunchRecord& record);
  void reset() { launches_.clear(), traces_.clear(); }
  std::string json() const;        // since the last reset
  std::string trace_json() const;  // of those that were traced

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string device_;
  std::unique_ptr<std::FILE, Close> file_;
  long end_ = 0;  // of the last launch in the file; what closes the JSON follows
  bool any_in_file_ = false;
  std::vector<std::string> launches_, traces_;
};

}  // namespace vgpu
