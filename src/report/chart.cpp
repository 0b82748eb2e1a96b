// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;

const std::map<std::string_view, std::string_view> kTemplates{
#include "charts.inc"
};

Json parse(const std::string& file) { return Json::parse(kTemplates.at(file)); }

}  // namespace

Chart make_chart(const std::string& name, const std::string& title, const std::string& subtitle,
                 const std::string& description, std::span<const ChartData> data) {
  Json spec = parse(name.substr(0, name.find('-')) + ".vl.json");
  Json whole;
  whole["$schema"] = spec["$schema"];
  whole["description"] = description;
  whole["title"] = {{"text", title}, {"subtitle", subtitle}};
  for (auto& [key, value] : spec.items()) whole[key] = value;
  for (const ChartData& table : data) whole["datasets"][table.name] = Json::parse(table.rows);
  whole["config"] = parse("config.vl.json");
  return {name, title, description, whole.dump(1)};
}

std::span<const std::pair<const char*, const char*>> dark_colors() {
  static constexpr std::array<std::pair<const char*, const char*>, 8> kColors{{
      {"#1b1f24", "#e6edf3"},  // ink
      {"#57606a", "#aab3bd"},  // quieter
      {"#8c959f", "#6e7681"},  // lines
      {"#d8dee4", "#30363d"},  // grid
      {"#0072b2",
       "#56b4e9"},  // Okabe and Ito's blue, vermilion, green and purple, distinct to the colour-blind
      {"#d55e00", "#ff8f3e"},
      {"#009e73", "#2fc79d"},
      {"#cc79a7", "#e29bc2"},
  }};
  return kColors;
}

}  // namespace ladder
