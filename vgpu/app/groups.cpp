// SPDX-License-Identifier: Apache-2.0
#include "app/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace vgpu::app {
namespace {

using Json = nlohmann::ordered_json;

std::string extent(const Json& d) {
  return fmt::format("{}x{}x{}", d.at(0).get<unsigned>(), d.at(1).get<unsigned>(),
                     d.at(2).get<unsigned>());
}

Group head_of(const Json& file, const Json& launch) {
  Group group;
  group.kernel = launch.at("kernel").get<std::string>();
  group.device = device_of(file, launch);
  group.grid = extent(launch.at("grid"));
  group.block = extent(launch.at("block"));
  group.engine = launch.at("engine").get<std::string>();
  group.blocks = 1;
  for (const Json& n : launch.at("grid")) group.blocks *= n.get<std::uint64_t>();
  if (launch.contains("sampled_blocks")) group.sampled = launch.at("sampled_blocks").size();
  return group;
}

bool same(const Group& a, const Group& b) {
  return std::tie(a.kernel, a.device, a.grid, a.block, a.engine, a.sampled) ==
         std::tie(b.kernel, b.device, b.grid, b.block, b.engine, b.sampled);
}

void add_line(Group& group, const Json& item) {
  const auto file = item.at("file").get<std::string>();
  const auto number = item.at("line").get<std::uint32_t>();
  auto line = std::ranges::find_if(
      group.lines, [&](const SourceLine& l) { return l.line == number && l.file == file; });
  if (line == group.lines.end()) line = group.lines.insert(line, {file, number, {}, true, {}});
  if (item.contains("schedule")) line->schedule = item.at("schedule");
  for (const char* kind : {"metrics", "estimates"}) {
    for (const auto& [name, value] : item.at(kind).items()) {
      line->values[name] += value.get<std::uint64_t>();
      line->exact &= name != "smsp__inst_executed.sum" || kind == std::string("metrics");
    }
  }
}

void add(Group& group, const Json& launch) {
  ++group.launches;
  for (const auto& [name, value] : launch.at("metrics").items()) {
    group.metrics[name].add(value.get<std::uint64_t>(), true);
  }
  for (const auto& [name, value] : launch.at("estimates").items()) {
    group.metrics[name].add(value.get<std::uint64_t>(), false);
  }
  if (group.hot_loop.is_null() && launch.contains("hot_loop"))
    group.hot_loop = launch.at("hot_loop");
  if (!launch.contains("source")) return;
  for (const Json& item : launch.at("source")) add_line(group, item);
}

}  // namespace

void Range::add(std::uint64_t value, bool is_exact) {
  least = std::min(least, value);
  most = std::max(most, value);
  exact &= is_exact;
}

std::string device_of(const Json& file, const Json& launch) {
  const auto ordinal = launch.value("device", std::size_t{0});
  if (!file.contains("devices") || ordinal >= file.at("devices").size())
    return file.value("device", std::string());
  return file.at("devices").at(ordinal).get<std::string>();
}

std::vector<Group> groups_of(const std::string& json) {
  std::vector<Group> groups;
  const Json file = Json::parse(json, nullptr, false);
  if (!file.is_object()) return groups;
  for (const Json& launch : file.at("launches")) {
    Group head = head_of(file, launch);
    auto at = std::ranges::find_if(groups, [&](const Group& g) { return same(g, head); });
    if (at == groups.end()) at = groups.insert(at, std::move(head));
    add(*at, launch);
  }
  return groups;
}

}  // namespace vgpu::app
