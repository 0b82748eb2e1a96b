// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "report/json_text.hpp"

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;

Json parse(const std::string& file) {
  static const std::map<std::string_view, std::string_view> kTemplates{
#include "charts.inc"
  };
  return Json::parse(kTemplates.at(file));
}

// Rounds numbers to the visible precision.
void shorten(Json& value) {
  constexpr double kDigits = 5;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == 0 || !std::isfinite(number)) return;
    const double scale = std::pow(10, kDigits - 1 - std::floor(std::log10(std::abs(number))));
    value = std::round(number * scale) / scale;
  } else if (value.is_structured()) {
    for (Json& part : value) shorten(part);
  }
}

// True if a row of any table has the value.
bool occurs(const Json& tables, const Json& field, const Json& value) {
  for (const Json& rows : tables) {
    for (const Json& row : rows) {
      if (const auto found = row.find(field); found != row.end() && *found == value) return true;
    }
  }
  return false;
}

// A template's scales list all possible values, so that each has the same colour in every chart. A
// legend lists only the values that occur.
void shorten_legends(Json& part, const Json& tables) {
  if (!part.is_structured()) return;
  for (Json& inner : part) shorten_legends(inner, tables);
  if (!part.is_object() || !part.contains("field") || !part.contains("scale") ||
      !part["scale"].contains("domain"))
    return;
  if (part.contains("legend") && part["legend"].is_null()) return;
  Json present = Json::array();
  for (const Json& value : part["scale"]["domain"]) {
    if (occurs(tables, part["field"], value)) present.push_back(value);
  }
  part["legend"]["values"] = present;
}

}  // namespace

Chart make_chart(const std::string& name, const std::string& title, const std::string& subtitle,
                 const std::string& description, std::span<const ChartData> data) {
  Json spec = parse(name.substr(0, name.find('-')) + ".vl.json");
  Json whole;
  whole["$schema"] = spec["$schema"];
  whole["description"] = description;
  whole["title"] = {{"text", title}, {"subtitle", subtitle}};
  for (auto& [key, value] : spec.items()) whole[key] = value;
  for (const ChartData& table : data) {
    Json& rows = whole["datasets"][table.name];
    rows = Json::parse(table.rows);
    shorten(rows);
  }
  if (whole.contains("layer")) shorten_legends(whole["layer"], whole["datasets"]);
  if (whole.contains("encoding")) shorten_legends(whole["encoding"], whole["datasets"]);
  whole["config"] = parse("config.vl.json");
  return {name, title, description, json_text(whole, 1)};
}

std::span<const std::pair<const char*, const char*>> dark_colors() {
  static constexpr std::array<std::pair<const char*, const char*>, 9> kColors{{
      {"#ffffff", "#0d1117"},  // background, also around text over lines
      {"#1b1f24", "#e6edf3"},  // text
      {"#57606a", "#aab3bd"},  // secondary text
      {"#8c959f", "#6e7681"},  // lines
      {"#d8dee4", "#30363d"},  // grid
      {"#0072b2",
       // Okabe and Ito's blue, vermilion, green and purple, which are distinct for colour-blind
       // readers
       "#56b4e9"},
      {"#d55e00", "#ff8f3e"},
      {"#009e73", "#2fc79d"},
      {"#cc79a7", "#e29bc2"},
  }};
  return kColors;
}

}  // namespace ladder
