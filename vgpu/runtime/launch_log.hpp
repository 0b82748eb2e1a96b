// SPDX-License-Identifier: Apache-2.0
// The log of launches: kept in memory for vgpuCountersJson, and appended to the counters file after
// every launch.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "runtime/counters_file.hpp"

namespace vgpu {

struct LaunchRecord {
  std::string kernel;  // demangled
  Dim3 grid, block;
  LaunchReport report;
  int device = 0;                             // its place
  std::vector<std::uint64_t> sampled_blocks;  // the blocks that were executed; empty: all
  std::string fallback;  // why PTX was executed although there is machine code; "" otherwise
};

std::string to_json(const LaunchRecord& record);  // one object, on one line

class LaunchLog {
 public:
  // Opens the counters file; "" for none. Returns "" or the reason why the file cannot be written.
  std::string open(const std::vector<Device>& devices, const std::string& file,
                   const std::string& claims = "");
  // Whether records added now are written or kept.
  bool wanted() const { return file_ != nullptr || kept_; }
  // Both return messages about the file for the user.
  CountersFile::Said add(const LaunchRecord& record);
  CountersFile::Said close();  // called when the program ends
  void reset();
  // The launches since the last reset; none are kept before the first reset.
  std::string json() const;
  std::string trace_json() const;  // the traced launches since the last reset

 private:
  std::string head_;
  std::unique_ptr<CountersFile> file_;
  bool kept_ = false;  // launches are kept in launches_ and traces_
  std::vector<std::string> launches_, traces_;
};

}  // namespace vgpu
