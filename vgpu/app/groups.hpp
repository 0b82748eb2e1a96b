// SPDX-License-Identifier: Apache-2.0
// Groups the launches of a counters file that are shown together: the same kernel and
// configuration.
#pragma once
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
  std::map<std::string, std::uint64_t> values;  // summed over all launches
  bool exact = true;
  nlohmann::ordered_json schedule;  // of machine code (docs/counters.schema.json)
};

struct Group {
  std::string kernel, device, grid, block, engine;
  std::uint64_t blocks = 0, sampled = 0;  // per launch; sampled = 0: all blocks were executed
  int launches = 0;
  std::map<std::string, Range> metrics;
  std::vector<SourceLine> lines;
  nlohmann::ordered_json hot_loop;  // of the first launch that has one
};

// The device of a launch; "" if the counters file names none.
std::string device_of(const nlohmann::ordered_json& file, const nlohmann::ordered_json& launch);

// In the order of first launches. Empty if `json` is not a counters file.
std::vector<Group> groups_of(const std::string& json);

}  // namespace vgpu::app
