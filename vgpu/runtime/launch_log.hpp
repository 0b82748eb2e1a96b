// SPDX-License-Identifier: Apache-2.0
// The record of what was launched: kept for vgpuCountersJson, and written to the counters file launch by
// launch, so that the file is whole whichever way the program ends.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"

namespace vgpu {

struct LaunchRecord {
  std::string kernel;  // demangled
  Dim3 grid, block;
  LaunchReport report;
  int device = 0;                             // ordinal
  std::vector<std::uint64_t> sampled_blocks;  // that were executed; empty: all
  std::string fallback;  // why the engine is "ptx" where there is machine code; "" if it is not so
};

std::string to_json(const LaunchRecord& record);  // one object, on one line

class LaunchLog {
 public:
  // Where the log goes from now on; "" for nowhere. Returns "" or what is wrong with the file.
  std::string open(const std::vector<Device>& devices, const std::string& file);
  bool wanted() const { return file_ != nullptr || kept_; }  // whether anybody will read what is added
  void add(const LaunchRecord& record);
  void reset();
  std::string json() const;        // since the last reset; nothing is kept before the first
  std::string trace_json() const;  // of those that were traced

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const std::string& text);

  std::string head_;
  std::unique_ptr<std::FILE, Close> file_;
  long end_ = 0;  // of the last launch in the file; what closes the JSON follows
  bool any_in_file_ = false;
  bool kept_ = false;  // in launches_
  std::vector<std::string> launches_, traces_;
};

}  // namespace vgpu
