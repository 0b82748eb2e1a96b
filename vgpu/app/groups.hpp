// SPDX-License-Identifier: Apache-2.0
// Launches of a counters file that are shown together: one kernel, one configuration.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace vgpu::app {

struct Range {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  bool exact = true;
  void add(std::uint64_t value, bool is_exact);
};

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
  std::map<std::string, std::uint64_t> values;  // of all launches together
  bool exact = true;
};

struct Group {
  std::string kernel, device, grid, block, engine;
  std::uint64_t blocks = 0, sampled = 0;  // of a launch; 0: all were executed
  int launches = 0;
  std::map<std::string, Range> metrics;
  std::vector<SourceLine> lines;
};

// In order of first launch. What is no counters file has no groups.
std::vector<Group> groups_of(const std::string& json);

}  // namespace vgpu::app
