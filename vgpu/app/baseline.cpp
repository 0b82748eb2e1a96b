// SPDX-License-Identifier: Apache-2.0
#include "app/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "app/groups.hpp"
#include "count/metrics.hpp"
#include "devices/devices.hpp"

namespace vgpu::app {
namespace {

using Json = nlohmann::ordered_json;
using Key = std::pair<std::string, std::size_t>;  // kernel and ordinal

constexpr const char *kMetrics = "metrics", *kEstimates = "estimates", *kLaunches = "launches",
                     *kDevices = "devices", *kDevice = "device";
// The fields of a launch that a comparison needs besides the metrics.
constexpr const char* kConfiguration[] = {"grid", "block", "engine", "sampled_blocks"};

struct Launch {
  Key key;
  Json json;
  std::string device;
};

std::vector<Launch> launches_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::size_t> count;
  std::vector<Launch> launches;
  for (const std::string& text : texts) {
    const Json file = Json::parse(text);
    for (const Json& launch : file.at(kLaunches)) {
      const auto kernel = launch.at("kernel").get<std::string>();
      launches.push_back({{kernel, count[kernel]++}, launch, device_of(file, launch)});
    }
  }
  return launches;
}

// Whether a larger value is better: true of occupancy only.
bool more_is_better(std::string_view metric) {
  const count::Metric* const known = count::find_metric(metric);
  return known != nullptr && known->section == count::Section::kOccupancy;
}

class Comparing {
 public:
  explicit Comparing(const Tolerance& tolerance) : tolerance_(tolerance) {}

  void add(const Launch& former, const Launch& now) {
    ++result.launches;
    differ(now, kDevice, former.device, now.device);
    for (const char* what : kConfiguration)
      differ(now, what, former.json.value(what, Json()).dump(),
             now.json.value(what, Json()).dump());
    if (former.device == now.device) add_metrics(former, now);
  }

  void add_missing(const Launch& former) {
    result.changes.push_back({former.key.first, former.key.second, "launch", "1", "missing", ""});
  }
  void add_new(const Launch& now) {
    result.changes.push_back({now.key.first, now.key.second, "launch", "none", "new", ""});
  }

  Comparison result;

 private:
  void differ(const Launch& at, const char* what, const std::string& former,
              const std::string& now) {
    if (former != now)
      result.changes.push_back({at.key.first, at.key.second, what, former, now, ""});
  }

  void add_metrics(const Launch& former, const Launch& now) {
    const Json &exact = now.json.at(kMetrics), &estimated = now.json.at(kEstimates);
    for (const auto& [name, value] : former.json.at(kMetrics).items()) {
      const auto before = value.get<std::uint64_t>();
      const bool is_estimate = !exact.contains(name) && estimated.contains(name);
      if (exact.contains(name))
        add_value(now, name, before, exact.at(name).get<std::uint64_t>());
      else if (is_estimate && tolerance_.estimates)
        add_value(now, name, before, estimated.at(name).get<std::uint64_t>());
      else
        differ(now, name.c_str(), std::to_string(before),
               is_estimate ? "~" + estimated.at(name).dump() : "unknown");
    }
    if (!tolerance_.estimates) return;
    for (const auto& [name, value] : former.json.at(kEstimates).items()) {
      for (const Json* kind : {&exact, &estimated}) {
        if (kind->contains(name))
          add_value(now, name, value.get<std::uint64_t>(), kind->at(name).get<std::uint64_t>());
      }
    }
  }

  void add_value(const Launch& at, const std::string& name, std::uint64_t former,
                 std::uint64_t now) {
    ++result.values;
    if (former == now) return;
    const bool worse = more_is_better(name) ? now < former : now > former;
    const double difference = static_cast<double>(now) - static_cast<double>(former);
    const double share = former == 0 ? 0 : 100 * difference / static_cast<double>(former);
    if (!worse) {
      ++result.better;
    } else if (former == 0 || std::abs(share) > tolerance_.percent) {
      result.changes.push_back({at.key.first, at.key.second, name, std::to_string(former),
                                std::to_string(now),
                                former == 0 ? "" : fmt::format("{:+.1f}%", share)});
    }
  }

  const Tolerance& tolerance_;
};

bool is_launch(const Json& launch) {
  const auto numbers = [&](const char* kind) {
    if (!launch.contains(kind) || !launch.at(kind).is_object()) return false;
    const Json& all = launch.at(kind);
    return std::ranges::all_of(all, [](const Json& value) { return value.is_number_unsigned(); });
  };
  return launch.is_object() && launch.contains("kernel") && launch.at("kernel").is_string() &&
         (!launch.contains(kDevice) || launch.at(kDevice).is_number_unsigned()) &&
         numbers(kMetrics) && numbers(kEstimates);
}

}  // namespace

std::string check_baseline(const std::string& json, bool estimates) {
  Json file;
  try {
    file = Json::parse(json);
  } catch (const Json::parse_error& error) {
    return no_json(error.what());
  }
  const bool whole = file.is_object() && file.contains(kLaunches) &&
                     file.at(kLaunches).is_array() && file.contains(kDevices) &&
                     file.at(kDevices).is_array();
  if (!whole) return "no counters file: 'devices' or 'launches' is missing";
  const Json &devices = file.at(kDevices), &launches = file.at(kLaunches);
  if (!std::ranges::all_of(devices, [](const Json& d) { return d.is_string(); }))
    return "no counters file: 'devices' is no list of texts";
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (!is_launch(launches.at(i)))
      return fmt::format("no counters file: launch {} has no kernel, metrics or estimates", i);
  }
  if (estimates && std::ranges::all_of(
                       launches, [](const Json& launch) { return launch.at(kEstimates).empty(); }))
    return "has no estimates; --update-baseline --estimates writes them";
  return "";
}

Comparison compare(const std::string& baseline, const std::vector<std::string>& runs,
                   const Tolerance& tolerance) {
  const std::vector<Launch> former = launches_of({baseline}), now = launches_of(runs);
  std::map<Key, const Launch*> known;
  for (const Launch& launch : former) known[launch.key] = &launch;
  Comparing comparing(tolerance);
  std::set<Key> met;
  for (const Launch& launch : now) {
    const auto found = known.find(launch.key);
    if (found == known.end()) {
      comparing.add_new(launch);
    } else {
      met.insert(launch.key);
      comparing.add(*found->second, launch);
    }
  }
  for (const Launch& launch : former) {
    if (!met.contains(launch.key)) comparing.add_missing(launch);
  }
  return std::move(comparing.result);
}

std::string table(const Comparison& comparison, const Tolerance& tolerance) {
  std::string text;
  const Change* previous = nullptr;
  for (const Change& change : comparison.changes) {
    const bool same = previous != nullptr && previous->kernel == change.kernel &&
                      previous->ordinal == change.ordinal;
    if (!same) text += fmt::format("{} (launch {})\n", change.kernel, change.ordinal);
    text += fmt::format("  {:<72} {:>16} {:>16} {:>9}\n", change.what, change.former, change.now,
                        change.growth);
    previous = &change;
  }
  const std::string allowed =
      tolerance.percent > 0 ? fmt::format(" (tolerance {}%)", tolerance.percent) : "";
  return text + fmt::format(
                    "{} launches and {} values compared with the baseline: {} worse{}, {} "
                    "better\n",
                    comparison.launches, comparison.values, comparison.changes.size(), allowed,
                    comparison.better);
}

std::string baseline_of(const std::vector<std::string>& runs, bool estimates) {
  Json all, methods = Json::object();
  for (const std::string& text : runs) {
    const Json file = Json::parse(text);
    if (all.is_null()) {
      all = {{kDevice, file.at(kDevice)}, {kDevices, file.at(kDevices)}};
      all[kLaunches] = Json::array();
      if (estimates) methods = file.at("methods");
    }
    for (Json launch : file.at(kLaunches)) {
      for (const char* detail : {"source", "hot_loop"}) launch.erase(detail);
      if (!estimates) launch.at(kEstimates).clear();
      all[kLaunches].push_back(std::move(launch));
    }
  }
  all["methods"] = std::move(methods);
  return all.dump(1) + "\n";  // one metric per line keeps version-control diffs short
}

bool has_launches(const std::vector<std::string>& runs) {
  return std::ranges::any_of(
      runs, [](const std::string& text) { return !Json::parse(text).at(kLaunches).empty(); });
}

std::string parse_tolerance(std::string_view text, double& percent) {
  constexpr double kMost = 1000;
  percent = 0;
  if (text.empty()) return "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error == std::errc() && end == text.data() + text.size() && percent >= 0 && percent <= kMost)
    return "";
  return fmt::format("'{}': percent, a number from 0 to {}", text, kMost);
}

}  // namespace vgpu::app
