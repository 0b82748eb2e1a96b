// SPDX-License-Identifier: Apache-2.0
// The record of what was launched: kept for vgpuCountersJson, and written to the counters file
// launch by launch.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "runtime/counters_file.hpp"

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
  std::string open(const std::vector<Device>& devices, const std::string& file,
                   const std::string& claims = "");
  bool wanted() const {
    return file_ != nullptr || kept_;
  }  // whether anybody will read what is added
  // Both return what is to be said about the file.
  CountersFile::Said add(const LaunchRecord& record);
  CountersFile::Said close();  // the program ends
  void reset();
  std::string json() const;        // since the last reset; nothing is kept before the first
  std::string trace_json() const;  // of those that were traced

 private:
  std::string head_;
  std::unique_ptr<CountersFile> file_;
  bool kept_ = false;  // in launches_
  std::vector<std::string> launches_, traces_;
};

}  // namespace vgpu
